/**
 * Parses and validates a network document, which is what the sources `file`, `http` and `exec` read. A document with one
 * fault is refused as a whole. The fault is one line of text: `name:line: field: message`. A large document takes seconds,
 * in one piece: these sources run in threads.
 */
import { type Language, languageOf, lineOf, parse } from "./document.ts";
import { formatPath, type Records, readRecords } from "./records.ts";

export type Network = Extract<Records, { ok: true }> | { readonly ok: false; readonly message: string };

/** `name` begins the message of a fault, and its extension is the language unless `language` is given. */
export function parseNetwork(name: string, bytes: Uint8Array, language?: Language): Network {
  const fail = (line: number | undefined, message: string) =>
    ({ ok: false, message: `${name}${line === undefined ? "" : `:${line}`}: ${message}` }) as const;

  const text = decodeText(bytes);
  if (text === undefined) return fail(undefined, "is not UTF-8 text");
  const written = language ?? languageOf(name, text);
  const parsed = parse(text, written);
  if (!parsed.ok) return fail(parsed.line, parsed.message);
  const records = readRecords(parsed.value);
  if (records.ok) return records;
  const { path, message, firstPath } = records.fault;
  const first = firstPath && ` (the first is in line ${lineOf(text, written, firstPath) ?? "?"})`;
  const field = path.length > 0 ? `${formatPath(path)}: ` : "";
  return fail(lineOf(text, written, path), `${field}${message}${first ?? ""}`);
}

/** Undefined for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
