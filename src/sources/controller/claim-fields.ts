/**
 * Extracts the fields of a claim from a record of another service, without those that have the default of the API. A default
 * means that the other service does not know the value; claiming it would hide the value of another source.
 */
import { isRecord } from "../../lib/is-record.ts";
import { CLAIM_SCHEMAS } from "../../model/claim.ts";
import { forKinds, type Kind } from "../../model/ids.ts";

export type RawRecord = Readonly<Record<string, unknown>>;

const CLAIM_FIELDS = forKinds((kind) => Object.keys(CLAIM_SCHEMAS[kind].properties));

const UNKNOWN: Readonly<Record<string, readonly unknown[]>> = {
  mfr: ["unknown", ""],
  hw: ["unknown", ""],
  sw: ["unknown", ""],
  serial: ["unknown", ""],
  driver: ["default", ""],
  chassisId: ["0", ""],
  lastUpdate: ["0", ""],
};
/** Annotations that every device has. They are empty where they are not known. */
const DEFAULT_ANNOTATIONS = ["managementAddress", "channelId", "protocol"];

/**
 * The fields of a claim. A field with the value null counts as missing. The annotations are without the empty ones that every
 * device has, and without `dropped`.
 */
export function claimFields(kind: Kind, record: RawRecord, dropped?: string): Record<string, unknown> {
  const fields = Object.fromEntries(
    CLAIM_FIELDS[kind]
      .filter((field) => Object.hasOwn(record, field) && record[field] !== null)
      .filter((field) => kind !== "devices" || !UNKNOWN[field]?.includes(record[field]))
      .map((field) => [field, record[field]] as const),
  );
  if (!isRecord(fields.annotations)) return fields;
  const { annotations, ...others } = fields;
  const kept = Object.entries(annotations).filter(
    ([name, value]) => name !== dropped && !(value === "" && DEFAULT_ANNOTATIONS.includes(name)),
  );
  return kept.length > 0 ? { ...others, annotations: Object.fromEntries(kept) } : others;
}
