/**
 * Converts the content of a network file to claims. Records have the fields of the API, but fewer are required.
 *
 * Fields that the service adds itself (first seen, revision, …) are accepted and ignored, so that a saved API response is
 * a valid file; the list of these fields follows from the schemas. Any other unknown field is a fault. The first fault
 * rejects the whole file, because half a network looks like an outage.
 */
import { isRecord } from "../../lib/is-record.ts";
import {
  CLAIM_SCHEMAS,
  type Claims,
  type ClaimTypes,
  canonicalClaim,
  PORT_RULE,
  VLAN_RULE,
} from "../../model/claim.ts";
import { ENTITY_SCHEMAS, TRACKING_FIELDS } from "../../model/entity.ts";
import { deviceKey, idKey, KINDS, type Kind, linkId } from "../../model/ids.ts";
import { suggestion } from "../option-fault.ts";
import type { FieldPath } from "./json-location.ts";

export interface RecordFault {
  readonly path: FieldPath;
  readonly message: string;
  /** The first of two records with the same id. */
  readonly firstPath?: FieldPath;
}

export type Records =
  | { readonly ok: true; readonly claims: Claims; readonly count: number }
  | { readonly ok: false; readonly fault: RecordFault };

/** A small YAML file with aliases can expand to very many records. */
const MAX_RECORDS = 5_000_000;

const fieldsOf = (kind: Kind) => {
  const claimFields = Object.keys(CLAIM_SCHEMAS[kind].properties);
  const entityFields = Object.keys(ENTITY_SCHEMAS[kind].properties);
  const serviceFields = entityFields.filter((field) => !claimFields.includes(field));
  const nested = kind === "devices" ? ["ports"] : [];
  const known = [...entityFields.filter((field) => !TRACKING_FIELDS.includes(field)), ...nested];
  return { known, serviceFields: new Set(serviceFields) };
};
const FIELDS_BY_KIND = {
  devices: fieldsOf("devices"),
  ports: fieldsOf("ports"),
  links: fieldsOf("links"),
  hosts: fieldsOf("hosts"),
} as const;
/** Fields of the objects inside records, by the name of the field that holds them. */
const INNER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  src: ["device", "port"],
  dst: ["device", "port"],
  location: ["elementId", "port"],
  locations: ["elementId", "port"],
  auxLocations: ["elementId", "port"],
};

const ID = "must be a name of 1 to 255 characters without spaces";
/** Messages for fields whose schema error would only be that a pattern does not match. */
const FIELD_RULES: Readonly<Record<string, string>> = {
  id: ID,
  device: ID,
  element: ID,
  elementId: ID,
  port: PORT_RULE,
  vlan: VLAN_RULE,
  innerVlan: VLAN_RULE,
  outerTpid: "must be 0x and four hex digits, in quotes",
  lastUpdate: "must be epoch milliseconds as a string of digits",
  aliases: ID,
};

type RawRecord = Record<string, unknown>;

export function readRecords(document: unknown): Records {
  const reader = new RecordReader();
  const fault = reader.read(document);
  return fault ? { ok: false, fault } : { ok: true, claims: reader.claims, count: reader.count };
}

class RecordReader {
  readonly claims: { readonly [K in Kind]: ClaimTypes[K][] } = {
    devices: [],
    ports: [],
    links: [],
    hosts: [],
  };
  count = 0;
  readonly #firstPaths: Readonly<Record<Kind, Map<string, FieldPath>>> = {
    devices: new Map(),
    ports: new Map(),
    links: new Map(),
    hosts: new Map(),
  };
  /** Links with `bidirectional: true`. */
  readonly #bidirectional: ClaimTypes["links"][] = [];

  read(document: unknown): RecordFault | undefined {
    if (!isRecord(document)) return { path: [], message: `must be an object with ${KINDS.join(", ")}` };
    // The response of /devices/{id}/ports is one device.
    if ("id" in document) return this.#device(document, []);
    const unknown = Object.keys(document).find((key) => !KINDS.some((kind) => kind === key));
    if (unknown !== undefined)
      return { path: [unknown], message: `is not known here${suggestion(unknown, KINDS)}` };
    for (const kind of KINDS) {
      const fault = this.#list(kind, document[kind]);
      if (fault) return fault;
    }
    this.#addReverseLinks();
    return undefined;
  }

  #list(kind: Kind, list: unknown): RecordFault | undefined {
    // In YAML, `hosts:` without a value is null.
    if (list === undefined || list === null) return undefined;
    if (!Array.isArray(list)) return { path: [kind], message: "must be a list" };
    for (const [index, record] of list.entries()) {
      const fault = this.#record(kind, record, [kind, index]);
      if (fault) return fault;
    }
    return undefined;
  }

  #record(kind: Kind, record: unknown, path: FieldPath): RecordFault | undefined {
    if (!isRecord(record)) return { path, message: "must be an object" };
    switch (kind) {
      case "devices":
        return this.#device(record, path);
      case "ports":
        return this.#add("ports", record, path);
      case "links":
        return this.#link(record, path);
      case "hosts":
        return this.#host(record, path);
    }
  }

  #device({ ports, ...record }: RawRecord, path: FieldPath): RecordFault | undefined {
    const fault = this.#add("devices", record, path);
    if (fault || ports === undefined || ports === null) return fault;
    if (!Array.isArray(ports)) return { path: [...path, "ports"], message: "must be a list" };
    for (const [index, port] of ports.entries()) {
      const at = [...path, "ports", index];
      if (!isRecord(port)) return { path: at, message: "must be an object" };
      if (port.element !== undefined && deviceKey(String(port.element)) !== deviceKey(String(record.id))) {
        return { path: [...at, "element"], message: "is not the device that the port is listed in" };
      }
      const inner = this.#add("ports", { ...port, element: record.id }, at);
      if (inner) return inner;
    }
    return undefined;
  }

  #link(record: RawRecord, path: FieldPath): RecordFault | undefined {
    const { bidirectional = false } = record;
    if (typeof bidirectional !== "boolean") {
      return { path: [...path, "bidirectional"], message: "must be true or false" };
    }
    const fault = this.#add("links", record, path);
    const link = this.claims.links.at(-1);
    if (!fault && bidirectional && link) this.#bidirectional.push(link);
    return fault;
  }

  #host(record: RawRecord, path: FieldPath): RecordFault | undefined {
    if (record.locations !== undefined || record.location === undefined)
      return this.#add("hosts", record, path);
    const fault = this.#add("hosts", { ...record, locations: [record.location] }, path);
    if (fault?.path[path.length] !== "locations") return fault;
    // The message names the field that the file has.
    return { ...fault, path: [...path, "location", ...fault.path.slice(path.length + 2)] };
  }

  #add<K extends Kind>(kind: K, record: RawRecord, path: FieldPath): RecordFault | undefined {
    if (++this.count > MAX_RECORDS) return { path, message: `is one of more than ${MAX_RECORDS} records` };
    const result = canonicalClaim(kind, withoutServiceFields(kind, record));
    if (!result.ok) return describeFault(kind, path, result.fault);
    const key = idKey(kind, result.id);
    const firstPath = this.#firstPaths[kind].get(key);
    if (firstPath) return { path, message: `is a second record of ${result.id}`, firstPath };
    this.#firstPaths[kind].set(key, path);
    this.claims[kind].push(result.claim);
    return undefined;
  }

  /** Adds the reverse direction of bidirectional links, except where the file has a record of its own for it. */
  #addReverseLinks(): void {
    for (const { src, dst, ...rest } of this.#bidirectional) {
      const id = linkId({ ...dst, port: String(dst.port) }, { ...src, port: String(src.port) });
      if (!this.#firstPaths.links.has(idKey("links", id)))
        this.claims.links.push({ ...rest, src: dst, dst: src });
    }
  }
}

function withoutServiceFields(kind: Kind, record: RawRecord): RawRecord {
  const { serviceFields } = FIELDS_BY_KIND[kind];
  // Not by assignment: the field __proto__ would set the prototype, and be lost.
  return Object.fromEntries(Object.entries(record).filter(([field]) => !serviceFields.has(field)));
}

function describeFault(kind: Kind, path: FieldPath, fault: { field: string; message: string }): RecordFault {
  const steps = fault.field
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const at = [...path, ...steps];
  const name = String(steps.at(-1) ?? "");
  const known = steps.length === 1 ? FIELDS_BY_KIND[kind].known : (INNER_FIELDS[String(steps[0])] ?? []);
  if (known.length > 0 && steps.length > 0 && typeof steps.at(-1) === "string" && !known.includes(name)) {
    return { path: at, message: `is not a field of this record${suggestion(name, known)}` };
  }
  // A record in a list is named by the list: `aliases[1]` must follow the rule of `aliases`.
  const rule = FIELD_RULES[typeof steps.at(-1) === "number" ? String(steps.at(-2)) : name];
  if (rule !== undefined && !fault.message.startsWith("is ")) return { path: at, message: rule };
  // A frequent mistake in YAML, where 10 and true are not strings.
  if (fault.message === "must be string") return { path: at, message: "must be a string: put it in quotes" };
  return { path: at, message: fault.message };
}

/** `devices[2].annotations.name` */
export const formatPath = (path: FieldPath): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
