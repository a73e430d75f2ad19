/**
 * What the formats that are graphs have in common: nodes, edges, and what is known about them by name. The parsers
 * produce it, `graph-claims.ts` makes claims of it. No parser has to know ports, ids or links.
 */
import type { FieldPath } from "../sources/file/text-location.ts";

/** Where something is in the file: a line, or a path in a JSON or YAML document, whose line is found when it is shown. */
export type Position = number | FieldPath;

/** Something that the result does not have, or has in another form. */
export interface Note {
  readonly at?: Position;
  readonly message: string;
}

/** Why the file cannot be imported. */
export interface ImportFault {
  readonly at?: Position;
  readonly message: string;
}

/** Facts by name: the fields of a record have the names of the interface, all others become annotations. */
export type Properties = Readonly<Record<string, unknown>>;

export interface GraphNode {
  readonly at: Position;
  readonly id: string;
  readonly properties: Properties;
  /** Stand as they are, whatever their names. */
  readonly annotations?: Properties;
  readonly aliases?: readonly string[];
  /** Ports that the file declares; those that edges name need no declaration. */
  readonly ports?: readonly string[];
}

export interface GraphEdge {
  readonly at: Position;
  readonly source: string;
  readonly target: string;
  /** A number, a name, or both as ONOS writes them. Without one, the port is named after the node at the other end. */
  readonly sourcePort?: string | undefined;
  readonly targetPort?: string | undefined;
  /**
   * `both`: an undirected edge; two between the same nodes are two cables. `each`: the file lists directions, or may; an
   * edge and one in the opposite direction are one cable. `forward`: the same, and the opposite is not implied.
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
  /** Whether this service made the file: then fields that it adds itself are not kept as annotations. */
  readonly ownExport: boolean;
}

export type GraphResult =
  | { readonly ok: true; readonly graph: Graph }
  | { readonly ok: false; readonly fault: ImportFault };

export type JsonObject = Readonly<Record<string, unknown>>;

/** Text of a scalar; undefined for everything else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;
