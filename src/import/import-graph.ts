/**
 * The common model of the formats that are graphs: nodes, edges, and their properties by name. The parsers produce it, and
 * `graph-claims.ts` converts it to claims, so that no parser has to derive port numbers, ids or links.
 */

import { CLAIM_LIMITS, CLAIM_SCHEMAS, canonicalClaim } from "../model/claim.ts";
import { ENTITY_SCHEMAS } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import type { FieldPath } from "../sources/file/text-location.ts";

/** A position in the file: a line, or a path in a JSON or YAML document, whose line is determined when it is shown. */
export type ImportPosition = number | FieldPath;

/** A note about an item that the result lacks or has in another form, or the reason why the file cannot be imported. */
export interface Note {
  readonly at?: ImportPosition;
  readonly message: string;
}

/** Properties by name. Those with the name of a field of the API become that field, all others become annotations. */
export type Properties = Readonly<Record<string, unknown>>;

export interface GraphNode {
  readonly at: ImportPosition;
  readonly id: string;
  readonly properties: Properties;
  /** Annotations, which are kept even if they have the name of a field. */
  readonly annotations?: Properties;
  readonly aliases?: readonly string[];
  /** Ports that the file declares. Ports that edges name need no declaration. */
  readonly ports?: readonly string[];
}

export interface GraphEdge {
  readonly at: ImportPosition;
  readonly source: string;
  readonly target: string;
  /** The port: a number, a name, or both as ONOS writes them. If absent, the port is named after the node at the other end. */
  readonly sourcePort?: string | undefined;
  readonly targetPort?: string | undefined;
  /**
   * `both`: an undirected edge; two between the same nodes are two cables. `each`: the file may list both directions; an
   * edge and one in the opposite direction are one cable. `forward`: like `each`, but the opposite direction is not implied.
   */
  readonly direction: "both" | "each" | "forward";
  readonly speedMbps?: number | undefined;
  readonly properties: Properties;
  readonly annotations?: Properties;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly notes: readonly Note[];
  /** Whether this service exported the file. Then the fields that an export adds are not kept as annotations. */
  readonly ownExport: boolean;
}

export type GraphResult =
  | { readonly ok: true; readonly graph: Graph }
  | { readonly ok: false; readonly fault: Note };

export type JsonObject = Readonly<Record<string, unknown>>;

/** The text of a scalar; undefined for other values. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;

// `splitProperties` splits the properties of a node or an edge into fields of the record and annotations. A property with the
// name of a field and a value that the field accepts becomes that field. All others become annotations, so that no content of
// the file is lost. Properties that do not fit into an annotation are reported.

export interface SplitProperties {
  readonly fields: Record<string, unknown>;
  readonly annotations: Record<string, string>;
  /** Names of properties that cannot be an annotation, with the reasons. */
  readonly unfit: readonly { readonly name: string; readonly reason: string }[];
}

type RecordKind = Exclude<Kind, "ports">;

/** Fields that identify a record or that the parsers set. */
const RESERVED = ["id", "src", "dst", "mac", "vlan", "locations", "auxLocations", "annotations", "aliases"];

/** The smallest valid record of each kind, used to check the value of one field. */
const LEAST: Readonly<Record<RecordKind, object>> = {
  devices: { id: "a" },
  links: { src: { device: "a", port: 1 }, dst: { device: "b", port: 1 } },
  hosts: { mac: "00:00:00:00:00:01", locations: [{ elementId: "a", port: 1 }] },
};

const fieldsOf = (kind: RecordKind): ReadonlySet<string> =>
  new Set(Object.keys(CLAIM_SCHEMAS[kind].properties).filter((field) => !RESERVED.includes(field)));
const FIELDS = { devices: fieldsOf("devices"), links: fieldsOf("links"), hosts: fieldsOf("hosts") } as const;

/** Other spellings of the annotations that the map and the tables use. */
const ANNOTATION_NAMES: ReadonlyMap<string, string> = new Map([
  ["label", "name"],
  ["Label", "name"],
  ["Name", "name"],
  ["Latitude", "latitude"],
  ["lat", "latitude"],
  ["Longitude", "longitude"],
  ["lon", "longitude"],
  ["lng", "longitude"],
]);

/** Properties that this service adds to its exports. An import drops them, because the next export adds them again. */
const EXPORT_ONLY = ["kind", "label", "conflict", "ids", "source_port", "target_port", "srcPort", "dstPort"];
const addedFields = (kind: RecordKind): ReadonlySet<string> =>
  new Set([...EXPORT_ONLY, ...Object.keys(ENTITY_SCHEMAS[kind].properties)]);
const ADDED = {
  devices: addedFields("devices"),
  links: addedFields("links"),
  hosts: addedFields("hosts"),
} as const;
const DEFAULT_TEXTS: ReadonlyMap<string, string> = new Map([
  ["mfr", "unknown"],
  ["hw", "unknown"],
  ["sw", "unknown"],
  ["serial", "unknown"],
  ["driver", "default"],
  ["chassisId", "0"],
]);

export function splitProperties(
  kind: RecordKind,
  properties: Properties,
  given: Properties,
  ownExport: boolean,
): SplitProperties {
  const fields: Record<string, unknown> = {};
  const annotations = new Map<string, string>();
  const unfit: { name: string; reason: string }[] = [];
  const annotate = (name: string, value: unknown) => {
    const text = textOf(value) ?? jsonText(value);
    if (text === "") return;
    const reason = text === undefined ? "it is nested too deeply" : annotationFault(name, text, annotations);
    if (reason !== undefined) unfit.push({ name, reason });
    else if (text !== undefined) annotations.set(name, text);
  };
  for (const [name, value] of Object.entries(given)) {
    if (!(ownExport && name === "conflict")) annotate(name, value);
  }
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    const isField = FIELDS[kind].has(name) && canonicalClaim(kind, { ...LEAST[kind], [name]: value }).ok;
    if (isField) {
      if (!(ownExport && value === DEFAULT_TEXTS.get(name))) fields[name] = value;
    } else if (!ownExport || !ADDED[kind].has(name)) {
      annotate(ANNOTATION_NAMES.get(name) ?? name, value);
    }
  }
  return { fields, annotations: Object.fromEntries(annotations), unfit };
}

/** The JSON text of a value; undefined for a value that is nested too deeply. */
function jsonText(value: unknown): string | undefined {
  if (value === null || value === undefined) return "";
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function annotationFault(name: string, text: string, known: ReadonlyMap<string, string>): string | undefined {
  if (name === "" || name.length > CLAIM_LIMITS.id) return `a name has 1 to ${CLAIM_LIMITS.id} characters`;
  if (text.length > CLAIM_LIMITS.text) return `its text has more than ${CLAIM_LIMITS.text} characters`;
  if (!known.has(name) && known.size >= CLAIM_LIMITS.annotations)
    return `there are more than ${CLAIM_LIMITS.annotations}`;
  return undefined;
}
