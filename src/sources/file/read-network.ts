/**
 * Reads and validates one network file. A fault is one line of text: `file:line: field: message`. A large file takes
 * seconds, in one piece: the service calls it in a worker thread (`file-reader.ts`).
 */
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { languageOf, lineOf, parse } from "./document.ts";
import { formatPath, type Records, readRecords } from "./records.ts";

export const MAX_FILE_BYTES = 256 * 1024 * 1024;

export type NetworkFile = Extract<Records, { ok: true }> | { readonly ok: false; readonly message: string };

/** The message has the file name without its folder, because it is visible to users of the API. */
export async function readNetwork(path: string): Promise<NetworkFile> {
  const file = basename(path);
  const fail = (line: number | undefined, message: string) =>
    ({ ok: false, message: `${file}${line === undefined ? "" : `:${line}`}: ${message}` }) as const;

  const content = await readText(path);
  if (!content.ok) return fail(undefined, content.message);
  const { text } = content;
  const language = languageOf(file, text);
  const parsed = parse(text, language);
  if (!parsed.ok) return fail(parsed.line, parsed.message);
  const records = readRecords(parsed.value);
  if (records.ok) return records;
  const { path: fieldPath, message, firstPath } = records.fault;
  const first = firstPath && ` (the first is in line ${lineOf(text, language, firstPath) ?? "?"})`;
  const field = fieldPath.length > 0 ? `${formatPath(fieldPath)}: ` : "";
  return fail(lineOf(text, language, fieldPath), `${field}${message}${first ?? ""}`);
}

type TextResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** The text of a file, or why it cannot be read. */
export async function readText(path: string): Promise<TextResult> {
  try {
    // Checked before opening: opening a pipe would wait for its writer.
    if (!(await stat(path)).isFile()) return { ok: false, message: "is not a regular file" };
    await using handle = await open(path);
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES)
      return { ok: false, message: `is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` };
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(await handle.readFile()) };
  } catch (error) {
    return { ok: false, message: describeReadError(error) };
  }
}

function describeReadError(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be read";
  const code = "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "is not UTF-8 text";
  return code === "" ? "cannot be read" : `cannot be read (${code})`;
}
