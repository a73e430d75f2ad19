/** Names a record of a source that may be malformed, so that an operator finds it: for the log, never a key. */
import type { Kind } from "./ids.ts";

const MAX_LENGTH = 120;

/** The fields that identify a record, in the order in which ids have them. */
const IDENTIFYING: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["id"],
  ports: ["element", "port"],
  links: ["src", "dst"],
  hosts: ["mac", "vlan"],
};

/** Undefined when the record has none of the fields that identify one of its kind. */
export function recordName(kind: Kind, record: unknown): string | undefined {
  if (typeof record !== "object" || record === null) return undefined;
  const values = Object.entries(record).filter(([field]) => IDENTIFYING[kind].includes(field));
  const names = IDENTIFYING[kind].flatMap((field) => values.find(([name]) => name === field)?.[1] ?? []);
  return names.length === 0 ? undefined : names.map(textOf).join(" ").slice(0, MAX_LENGTH);
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");
