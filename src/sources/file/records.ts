/**
 * Converts the content of a network file to claims. Records have the fields of the API, but fewer are required.
 *
 * Fields that the service adds itself (such as `revision`) are accepted and ignored, so that a saved API response is
 * a valid file; the list of these fields is derived from the schemas. Any other unknown field is a fault. One fault rejects
 * the whole file, because half a network looks like an outage. All faults are listed, so that they can be corrected at once.
 */
import { isRecord } from "../../lib/is-record.ts";
import { suggestName } from "../../lib/schema-faults.ts";
import {
  CLAIM_SCHEMAS,
  type Claims,
  type ClaimTypes,
  canonicalClaim,
  emptyClaims,
  PORT_RULE,
  VLAN_RULE,
} from "../../model/claim.ts";
import { ENTITY_SCHEMAS, TRACKING_FIELDS } from "../../model/entity.ts";
import { deviceKey, forKinds, idKey, KINDS, type Kind, linkId } from "../../model/ids.ts";
import type { FieldPath } from "./text-location.ts";

export interface RecordFault {
  readonly path: FieldPath;
  readonly message: string;
  /** The path of the first of two records with the same id. */
  readonly firstPath?: FieldPath;
}

export type Records =
  | { readonly ok: true; readonly claims: Claims; readonly count: number }
  | {
      readonly ok: false;
      /** The faults, in the order of the kinds and of their lists. */
      readonly faults: readonly RecordFault[];
      /** The number of all faults, including those that are not listed. */
      readonly faultCount: number;
    };

/** Maximum number of listed faults. Further ones are only counted. */
const MAX_FAULTS = 1000;
/** Maximum number of records, because a small YAML file with aliases can expand to very many. */
const MAX_RECORDS = 5_000_000;

const fieldsOf = (kind: Kind) => {
  const claimFields = Object.keys(CLAIM_SCHEMAS[kind].properties);
  const entityFields = Object.keys(ENTITY_SCHEMAS[kind].properties);
  const serviceFields = entityFields.filter((field) => !claimFields.includes(field));
  const nested = kind === "devices" ? ["ports"] : [];
  const known = [...entityFields.filter((field) => !TRACKING_FIELDS.includes(field)), ...nested];
  return { known, serviceFields: new Set(serviceFields) };
};
const FIELDS_BY_KIND = forKinds(fieldsOf);
/** Fields of the objects inside records, by the name of the field that holds them. */
const INNER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  src: ["device", "port"],
  dst: ["device", "port"],
  location: ["elementId", "port"],
  locations: ["elementId", "port"],
  auxLocations: ["elementId", "port"],
};

const ID =
  "must be a name of 1 to 255 characters without spaces, control characters and marks of the text direction";
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
  reader.read(document);
  const { claims, count, faults, faultCount } = reader;
  if (faultCount > 0) return { ok: false, faults, faultCount };
  return { ok: true, claims: { ...claims, isCanonical: true }, count };
}

class RecordReader {
  readonly claims = emptyClaims();
  count = 0;
  readonly faults: RecordFault[] = [];
  faultCount = 0;
  readonly #firstPaths = forKinds(() => new Map<string, FieldPath>());
  /** Links with `bidirectional: true`. */
  readonly #bidirectional: ClaimTypes["links"][] = [];

  read(document: unknown): void {
    if (!isRecord(document)) {
      this.#fail([], `must be an object with ${KINDS.join(", ")}`);
      return;
    }
    // The response of /devices/{id}/ports is one device.
    if ("id" in document) {
      this.#device(document, []);
      return;
    }
    for (const key of Object.keys(document))
      if (!KINDS.some((kind) => kind === key))
        this.#fail([key], `is not known here; ${suggestName(key, KINDS)}`);
    for (const kind of KINDS) this.#list(kind, document[kind]);
    this.#addReverseLinks();
  }

  #fail(path: FieldPath, message: string, firstPath?: FieldPath): void {
    if (++this.faultCount <= MAX_FAULTS) this.faults.push({ path, message, ...(firstPath && { firstPath }) });
  }

  #list(kind: Kind, list: unknown): void {
    // In YAML, `hosts:` without a value is null.
    if (list === undefined || list === null) return;
    if (!Array.isArray(list)) this.#fail([kind], "must be a list");
    else
      for (const [index, record] of list.entries()) {
        this.#record(kind, record, [kind, index]);
        if (this.count > MAX_RECORDS) return;
      }
  }

  #record(kind: Kind, record: unknown, path: FieldPath): void {
    if (!isRecord(record)) this.#fail(path, "must be an object");
    else if (kind === "devices") this.#device(record, path);
    else if (kind === "links") this.#link(record, path);
    else if (kind === "hosts") this.#host(record, path);
    else this.#add(kind, record, path);
  }

  #device({ ports, ...record }: RawRecord, path: FieldPath): void {
    const isValid = this.#add("devices", record, path);
    if (ports === undefined || ports === null) return;
    if (!Array.isArray(ports)) {
      this.#fail([...path, "ports"], "must be a list");
      return;
    }
    // The ports of a faulty device are checked too, under a device id that no other record uses.
    const element = isValid ? record.id : `${formatPath(path)}.id`;
    for (const [index, port] of ports.entries()) {
      const at = [...path, "ports", index];
      if (!isRecord(port)) this.#fail(at, "must be an object");
      else if (isValid && port.element !== undefined && !isSameDevice(port.element, record.id))
        this.#fail([...at, "element"], "is not the device that the port is listed in");
      else this.#add("ports", { ...port, element }, at);
      if (this.count > MAX_RECORDS) return;
    }
  }

  #link(record: RawRecord, path: FieldPath): void {
    const { bidirectional = false } = record;
    if (typeof bidirectional !== "boolean") this.#fail([...path, "bidirectional"], "must be true or false");
    const isValid = this.#add("links", record, path);
    const link = this.claims.links.at(-1);
    if (isValid && bidirectional && link) this.#bidirectional.push(link);
  }

  #host(record: RawRecord, path: FieldPath): void {
    if (record.locations !== undefined || record.location === undefined) {
      this.#add("hosts", record, path);
      return;
    }
    const { location, ...rest } = record;
    this.#add("hosts", { ...rest, locations: [location] }, path, asLocation);
  }

  /** Adds a record. Returns whether it is valid. `asWritten` converts the path of a fault in the record to that in the file. */
  #add<K extends Kind>(
    kind: K,
    record: RawRecord,
    path: FieldPath,
    asWritten: (steps: FieldPath) => FieldPath = (steps) => steps,
  ): boolean {
    if (++this.count > MAX_RECORDS) {
      this.#fail(path, `is one of more than ${MAX_RECORDS} records`);
      return false;
    }
    const result = canonicalClaim(kind, withoutServiceFields(kind, record));
    if (!result.ok) {
      for (const fault of [result.fault, ...(result.more ?? [])]) {
        const { steps, message } = describeFault(kind, fault);
        this.#fail([...path, ...asWritten(steps)], message);
      }
      return false;
    }
    const key = idKey(kind, result.id);
    const firstPath = this.#firstPaths[kind].get(key);
    if (firstPath) {
      this.#fail(path, `is a second record of ${result.id}`, firstPath);
      return false;
    }
    this.#firstPaths[kind].set(key, path);
    this.claims[kind].push(result.claim);
    return true;
  }

  /** Adds the reverse direction of bidirectional links, except where the file has a record of its own for it. */
  #addReverseLinks(): void {
    for (const { src, dst, ...rest } of this.#bidirectional) {
      if (!this.#firstPaths.links.has(idKey("links", linkId(dst, src))))
        this.claims.links.push({ ...rest, src: dst, dst: src });
    }
  }
}

function withoutServiceFields(kind: Kind, record: RawRecord): RawRecord {
  const { serviceFields } = FIELDS_BY_KIND[kind];
  if (!Object.keys(record).some((field) => serviceFields.has(field))) return record;
  // `Object.fromEntries` is used, because assigning a field named __proto__ would set the prototype and lose the field.
  return Object.fromEntries(Object.entries(record).filter(([field]) => !serviceFields.has(field)));
}

const isSameDevice = (a: unknown, b: unknown): boolean => deviceKey(String(a)) === deviceKey(String(b));

/** Converts the path of a fault to the field in the file: `location` for `locations[0]`. */
const asLocation = (steps: FieldPath): FieldPath =>
  steps[0] === "locations" ? ["location", ...steps.slice(2)] : steps;

/** Converts a fault to its path in the record and a message in terms of the file. */
function describeFault(kind: Kind, fault: { field: string; message: string }) {
  const steps = fault.field
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const name = String(steps.at(-1) ?? "");
  const known = steps.length === 1 ? FIELDS_BY_KIND[kind].known : (INNER_FIELDS[String(steps[0])] ?? []);
  if (known.length > 0 && steps.length > 0 && typeof steps.at(-1) === "string" && !known.includes(name)) {
    return { steps, message: `is not a field of this record; ${suggestName(name, known)}` };
  }
  // An item of a list has the rule of the list: `aliases[1]` must follow the rule of `aliases`.
  const rule = FIELD_RULES[typeof steps.at(-1) === "number" ? String(steps.at(-2)) : name];
  if (rule !== undefined && !fault.message.startsWith("is ")) return { steps, message: rule };
  // This mistake is frequent in YAML, where 10 and true are not strings.
  if (fault.message === "must be string") return { steps, message: "must be a string: put it in quotes" };
  return { steps, message: fault.message };
}

/** Formats a path, such as `devices[2].annotations.name`. */
export const formatPath = (path: FieldPath): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
