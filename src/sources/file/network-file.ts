/**
 * Parses and validates a network document, the input of the sources `file`, `http` and `exec`. A document with one fault is
 * refused as a whole. A fault is one line of text: `name:line: field: message`. Parsing a large document blocks its thread for
 * seconds, so these sources run in threads of their own.
 */

import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { formatPath, type Records, readRecords } from "./records.ts";
import {
  type FieldPath,
  findJsonFault,
  findJsonLines,
  findYamlFault,
  findYamlLines,
  lineAt,
} from "./text-location.ts";

export type ParsedNetwork = Extract<Records, { ok: true }> | FaultyNetwork;

interface FaultyNetwork {
  readonly ok: false;
  /** The first fault, and the number of others. */
  readonly message: string;
  /** The faults. For a text that cannot be parsed, only the first is known. */
  readonly faults: readonly string[];
}

/** Parses a document. Messages begin with `name`, whose extension decides the language unless `language` is given. */
export function parseNetwork(name: string, bytes: Uint8Array, language?: Language): ParsedNetwork {
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

function faulty(faults: readonly string[], count = faults.length): FaultyNetwork {
  const [first = ""] = faults;
  const others = count === 1 ? "" : ` (and ${count - 1} more ${count === 2 ? "fault" : "faults"})`;
  return { ok: false, message: `${first}${others}`, faults };
}

/** Decodes text; undefined for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// JSON and YAML texts are read by fast parsers without positions. Slower parsers, which find the lines of values, run only
// if the text has a fault.

export type Language = "JSON" | "YAML";

type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line?: number; readonly message: string };

/** The language, by the extension of the file name. Without a known extension, a text that begins with a bracket is JSON. */
export function languageOf(name: string, text: string): Language {
  if (/\.json$/i.test(name)) return "JSON";
  if (/\.ya?ml$/i.test(name)) return "YAML";
  return /^\s*[{[]/.test(text) ? "JSON" : "YAML";
}

export function parse(text: string, language: Language): ParseResult {
  if (text.trim() === "") return { ok: false, message: "is empty" };
  return language === "JSON" ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): ParseResult {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    const fault = findJsonFault(text);
    return {
      ok: false,
      ...(fault && { line: fault.line }),
      message: `is not JSON: ${fault?.message ?? "cannot be parsed"}`,
    };
  }
}

function parseYaml(text: string): ParseResult {
  const repeated = findRepeatedKey(text);
  if (repeated) return { ok: false, line: repeated.line, message: `${repeated.key}: is given twice` };
  try {
    return { ok: true, value: Bun.YAML.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, "") : String(error);
    const found = findYamlFault(text);
    return {
      ok: false,
      ...(found && { line: found.line }),
      message: `is not YAML: ${found?.message ?? reason}`,
    };
  }
}

/**
 * Finds a repeated key at the top level. The fast parser silently uses the last of two equal keys, which would drop a whole
 * section, for example after two files were concatenated. Repeated keys at deeper levels are not reported.
 */
function findRepeatedKey(text: string): { key: string; line: number } | undefined {
  const seen = new Set<string>();
  for (const match of text.matchAll(/^(["']?)(\w+)\1[ \t]*:(?=\s|$)/gm)) {
    const key = match[2] ?? "";
    if (seen.has(key)) return { key, line: lineAt(text, match.index) };
    seen.add(key);
  }
  return undefined;
}

/**
 * Finds for each path the line of its value, or of its nearest ancestor; undefined when it cannot be found. Reads the text
 * once for all paths.
 */
export function linesOf(
  text: string,
  language: Language,
  paths: readonly FieldPath[],
): readonly (number | undefined)[] {
  return language === "JSON" ? findJsonLines(text, paths) : findYamlLines(text, paths);
}

// The rest of this file reads a network file from disk.

export const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Reads a network file. Messages have the file name without its folder, because they are visible to users of the API. */
export async function readNetwork(path: string): Promise<ParsedNetwork> {
  const file = basename(path);
  const content = await readBytes(path);
  return content.ok ? parseNetwork(file, content.bytes) : faulty([`${file}: ${content.message}`]);
}

type BytesResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly message: string };

/** Reads a regular file of limited size, or returns the reason why it cannot be read. */
export async function readBytes(path: string): Promise<BytesResult> {
  try {
    // The type is checked before opening, because opening a named pipe would wait for its writer.
    if (!(await stat(path)).isFile()) return { ok: false, message: "is not a regular file" };
    await using handle = await open(path);
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES)
      return { ok: false, message: `is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` };
    return { ok: true, bytes: await handle.readFile() };
  } catch (error) {
    return { ok: false, message: describeReadError(error) };
  }
}

function describeReadError(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be read";
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied";
  return code === "" ? "cannot be read" : `cannot be read (${code})`;
}
