/**
 * Encodes the entries of a batch: one line of tab-separated fields each, compressed with zstd. JSON text contains neither
 * tabs nor newlines, and ids contain no white space, so nothing is escaped, and no JSON is parsed to store or read it.
 * The values before and after are nearly the same text, so that storing both compresses to little more than one.
 */
import { type LogEntry, STORE_KINDS } from "./log.ts";

const kindByLetter = new Map(STORE_KINDS.map((kind) => [kind.charAt(0), kind]));

export function encodeEntries(entries: Iterable<LogEntry>): Uint8Array {
  const lines: string[] = [];
  for (const { kind, id, before, after, changed } of entries) {
    lines.push(`${kind.charAt(0)}\t${id}\t${before ?? ""}\t${after ?? ""}\t${changed.join(",")}`);
  }
  return compress(Buffer.from(lines.join("\n")));
}

export function decodeEntries(data: Uint8Array): LogEntry[] {
  const text = decompress(data).toString();
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [letter = "", id = "", before = "", after = "", changed = ""] = line.split("\t");
    const kind = kindByLetter.get(letter);
    if (kind === undefined)
      throw new Error(`a batch in the log has an unknown kind: ${JSON.stringify(letter)}`);
    return {
      kind,
      id,
      before: before === "" ? null : before,
      after: after === "" ? null : after,
      changed: changed === "" ? [] : changed.split(","),
    };
  });
}

export const compress = (bytes: Uint8Array): Uint8Array => Bun.zstdCompressSync(bytes, { level: 1 });

export const decompress = (data: Uint8Array): Buffer => Bun.zstdDecompressSync(data);
