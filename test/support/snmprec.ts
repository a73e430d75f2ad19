/** Reads recordings of SNMP agents in the format of snmpsim: one `OID|tag|value` a line, tag `4x` for hex digits. */
import { readFileSync } from "node:fs";
import { type AgentData, type SnmpValue, WALKED } from "../../src/sources/snmp/tables/mib.ts";

const COLUMNS = new Set(WALKED.map(({ oid }) => oid));
const TAG = { octets: 4, oid: 6, ipAddress: 64, opaque: 68 } as const;

export function readRecording(path: string, target = "192.0.2.1:161"): AgentData {
  // Latin-1 keeps every byte of the file.
  return parseRecording(readFileSync(path, "latin1"), target);
}

/** Of an OID that occurs twice the first counts, as for an agent that is walked. */
export function parseRecording(text: string, target = "192.0.2.1:161"): AgentData {
  const columns = new Map<string, Map<string, SnmpValue>>();
  for (const line of text.split("\n")) {
    const [oid = "", tag = "", ...rest] = line.split("|");
    const column = columnOf(oid);
    if (column === undefined) continue;
    const rows = columns.get(column) ?? new Map<string, SnmpValue>();
    columns.set(column, rows);
    const index = oid.slice(column.length + 1);
    const value = parseValue(tag, rest.join("|"));
    if (!rows.has(index) && value !== undefined) rows.set(index, value);
  }
  return { target, address: target.slice(0, target.lastIndexOf(":")), columns };
}

function columnOf(oid: string): string | undefined {
  for (let end = oid.lastIndexOf("."); end > 0; end = oid.lastIndexOf(".", end - 1))
    if (COLUMNS.has(oid.slice(0, end))) return oid.slice(0, end);
  return undefined;
}

function parseValue(tag: string, text: string): SnmpValue | undefined {
  const type = Number.parseInt(tag, 10);
  if (type === TAG.oid) return text;
  if (type === TAG.ipAddress) return Uint8Array.from(text.split(".").map(Number));
  if (type !== TAG.octets && type !== TAG.opaque) {
    const number = Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  return tag.endsWith("x")
    ? Uint8Array.from(Buffer.from(text, "hex"))
    : Uint8Array.from(Buffer.from(text, "latin1"));
}
