/**
 * Parses and validates a network document, which is what the sources `file`, `http` and `exec` read. A document with one
 * fault is refused as a whole. A fault is one line of text: `name:line: field: message`. A large document takes seconds,
 * in one piece: these sources run in threads.
 */
import { type Language, languageOf, linesOf, parse } from "./document.ts";
import { formatPath, type Records, readRecords } from "./records.ts";

export type Network = Extract<Records, { ok: true }> | FaultyNetwork;

export interface FaultyNetwork {
  readonly ok: false;
  /** The first fault, and how many others there are. */
  readonly message: string;
  /** Each fault. A text that cannot be parsed has only the first. */
  readonly faults: readonly string[];
}

/** `name` begins the message of a fault, and its extension is the language unless `language` is given. */
export function parseNetwork(name: string, bytes: Uint8Array, language?: Language): Network {
  const faultText = (line: number | undefined, message: string) =>
    `${name}${line === undefined ? "" : `:${line}`}: ${message}`;

  const text = decodeText(bytes);
  if (text === undefined) return faulty([faultText(undefined, "is not UTF-8 text")]);
  const written = language ?? languageOf(name, text);
  const parsed = parse(text, written);
  if (!parsed.ok) return faulty([faultText(parsed.line, parsed.message)]);
  const records = readRecords(parsed.value);
  if (records.ok) return records;
  const paths = records.faults.flatMap(({ path, firstPath }) => [path, firstPath ?? path]);
  const lines = linesOf(text, written, paths);
  const faults = records.faults.map(({ path, message, firstPath }, i) => {
    const first = firstPath ? ` (the first is in line ${lines[2 * i + 1] ?? "?"})` : "";
    const field = path.length > 0 ? `${formatPath(path)}: ` : "";
    return faultText(lines[2 * i], `${field}${message}${first}`);
  });
  const unlisted = records.faultCount - faults.length;
  return faulty(
    unlisted === 0 ? faults : [...faults, faultText(undefined, `${unlisted} more faults are not listed`)],
    records.faultCount,
  );
}

export function faulty(faults: readonly string[], count = faults.length): FaultyNetwork {
  const [first = ""] = faults;
  const others = count === 1 ? "" : ` (and ${count - 1} more ${count === 2 ? "fault" : "faults"})`;
  return { ok: false, message: `${first}${others}`, faults };
}

/** Undefined for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
