/**
 * From what a file holds to claims: the interface's own shapes, with less required and more forgiven.
 *
 * What the service itself adds to a record (when it was first seen, its revision, …) may stand there and is left
 * aside, so that a body saved from the interface can be served again; which fields those are follows from the
 * schemas. Anything else that is not known is refused, and the first fault refuses the whole file: half a network
 * would look like an outage.
 */
import { CLAIM_SCHEMAS, type Claims, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import { ENTITY_SCHEMAS, TRACKING_FIELDS } from "../../model/entity.ts";
import { KINDS, type Kind, linkId } from "../../model/ids.ts";
import { suggestion } from "../option-fault.ts";
import type { Path } from "./json-location.ts";

export interface RecordFault {
  readonly path: Path;
  readonly message: string;
  /** The other place, when two places are at fault. */
  readonly earlier?: Path;
}

export type Records =
  | { readonly ok: true; readonly claims: Claims; readonly count: number }
  | { readonly ok: false; readonly fault: RecordFault };

/** YAML's aliases make much out of little. */
const MAX_RECORDS = 5_000_000;
const RECORDS_PER_SLICE = 1000;

const fieldsOf = (kind: Kind) => {
  const claimFields = Object.keys(CLAIM_SCHEMAS[kind].properties);
  const entityFields = Object.keys(ENTITY_SCHEMAS[kind].properties);
  const serviceFields = entityFields.filter((field) => !claimFields.includes(field));
  const nested = kind === "devices" ? ["ports"] : [];
  const known = [...entityFields.filter((field) => !TRACKING_FIELDS.includes(field)), ...nested];
  return { known, ours: new Set(serviceFields) };
};
const FIELDS = {
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
};

/** What a field must be, for those of which the schema can only say that a pattern does not match. */
const ID = "must be a name of 1 to 255 characters without spaces";
const FIELD_RULES: Readonly<Record<string, string>> = {
  id: ID,
  device: ID,
  element: ID,
  elementId: ID,
  port: "must be a decimal number or local",
  vlan: "must be None or a tag from 1 to 4094",
  innerVlan: "must be None or a tag from 1 to 4094",
  outerTpid: "must be 0x and four hex digits, in quotes",
  lastUpdate: "must be epoch milliseconds as a string of digits",
};

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Takes its time in small pieces: a large file must not keep the service from answering. */
export async function readRecords(document: unknown): Promise<Records> {
  const reader = new RecordReader();
  const fault = await reader.read(document);
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
  readonly #firstPaths: Readonly<Record<Kind, Map<string, Path>>> = {
    devices: new Map(),
    ports: new Map(),
    links: new Map(),
    hosts: new Map(),
  };
  /** Links of which the file says that the other direction exists too. */
  readonly #bidirectional: ClaimTypes["links"][] = [];

  async read(document: unknown): Promise<RecordFault | undefined> {
    if (!isFields(document)) return { path: [], message: `must be an object with ${KINDS.join(", ")}` };
    // The answer of /devices/{id}/ports is the device itself.
    if ("id" in document) return this.#device(document, []);
    const unknown = Object.keys(document).find((key) => !KINDS.some((kind) => kind === key));
    if (unknown !== undefined)
      return { path: [unknown], message: `is not known here${suggestion(unknown, KINDS)}` };
    for (const kind of KINDS) {
      const fault = await this.#list(kind, document[kind]);
      if (fault) return fault;
    }
    this.#addReverseLinks();
    return undefined;
  }

  async #list(kind: Kind, list: unknown): Promise<RecordFault | undefined> {
    // `hosts:` with nothing below it is an empty list to whoever wrote it.
    if (list === undefined || list === null) return undefined;
    if (!Array.isArray(list)) return { path: [kind], message: "must be a list" };
    for (const [index, record] of list.entries()) {
      const fault = this.#record(kind, record, [kind, index]);
      if (fault) return fault;
      if (index % RECORDS_PER_SLICE === RECORDS_PER_SLICE - 1) await new Promise(setImmediate);
    }
    return undefined;
  }

  #record(kind: Kind, record: unknown, path: Path): RecordFault | undefined {
    if (!isFields(record)) return { path, message: "must be an object" };
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

  #device({ ports, ...record }: Fields, path: Path): RecordFault | undefined {
    const fault = this.#add("devices", record, path);
    if (fault || ports === undefined || ports === null) return fault;
    if (!Array.isArray(ports)) return { path: [...path, "ports"], message: "must be a list" };
    for (const [index, port] of ports.entries()) {
      const at = [...path, "ports", index];
      if (!isFields(port)) return { path: at, message: "must be an object" };
      if (port.element !== undefined && port.element !== record.id) {
        return { path: [...at, "element"], message: "is not the device that the port is listed in" };
      }
      const inner = this.#add("ports", { ...port, element: record.id }, at);
      if (inner) return inner;
    }
    return undefined;
  }

  #link(record: Fields, path: Path): RecordFault | undefined {
    const { bidirectional = false } = record;
    if (typeof bidirectional !== "boolean") {
      return { path: [...path, "bidirectional"], message: "must be true or false" };
    }
    const fault = this.#add("links", record, path);
    const added = this.claims.links.at(-1);
    if (!fault && bidirectional && added) this.#bidirectional.push(added);
    return fault;
  }

  #host(record: Fields, path: Path): RecordFault | undefined {
    if (record.locations !== undefined || record.location === undefined)
      return this.#add("hosts", record, path);
    const fault = this.#add("hosts", { ...record, locations: [record.location] }, path);
    if (fault?.path[path.length] !== "locations") return fault;
    // Name the field as the file does.
    return { ...fault, path: [...path, "location", ...fault.path.slice(path.length + 2)] };
  }

  #add<K extends Kind>(kind: K, record: Fields, path: Path): RecordFault | undefined {
    if (++this.count > MAX_RECORDS) return { path, message: `is one of more than ${MAX_RECORDS} records` };
    const result = canonicalClaim(kind, withoutServiceFields(kind, record));
    if (!result.ok) return describeFault(kind, path, result.fault);
    const earlier = this.#firstPaths[kind].get(result.id);
    if (earlier) return { path, message: `is a second record of ${result.id}`, earlier };
    this.#firstPaths[kind].set(result.id, path);
    this.claims[kind].push(result.claim);
    return undefined;
  }

  /** A person writes one record for a cable. Where the file has a record of the other direction, that one counts. */
  #addReverseLinks(): void {
    for (const { src, dst, ...rest } of this.#bidirectional) {
      const id = linkId({ ...dst, port: String(dst.port) }, { ...src, port: String(src.port) });
      if (!this.#firstPaths.links.has(id)) this.claims.links.push({ ...rest, src: dst, dst: src });
    }
  }
}

function withoutServiceFields(kind: Kind, record: Fields): Fields {
  const { ours } = FIELDS[kind];
  const claim: Fields = {};
  for (const field in record) if (!ours.has(field)) claim[field] = record[field];
  return claim;
}

function describeFault(kind: Kind, path: Path, fault: { field: string; message: string }): RecordFault {
  const steps = fault.field
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const at = [...path, ...steps];
  const name = String(steps.at(-1) ?? "");
  const known = steps.length === 1 ? FIELDS[kind].known : (INNER_FIELDS[String(steps[0])] ?? []);
  if (known.length > 0 && steps.length > 0 && typeof steps.at(-1) === "string" && !known.includes(name)) {
    return { path: at, message: `is not a field of this record${suggestion(name, known)}` };
  }
  const plain = FIELD_RULES[name];
  if (plain !== undefined && !fault.message.startsWith("is ")) return { path: at, message: plain };
  // The commonest slip in YAML: 10 and true are no strings there.
  if (fault.message === "must be string") return { path: at, message: "must be a string: put it in quotes" };
  return { path: at, message: fault.message };
}

/** `devices[2].annotations.name` */
export const formatPath = (path: Path): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
