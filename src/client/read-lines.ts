/**
 * Parses NDJSON while it arrives, some lines at a time: a list of tens of megabytes as one JSON text blocks a page for a
 * second, and is in memory twice.
 */
import { createLocalError } from "./client-error.ts";

/** Parsing as many takes a few milliseconds. */
const LINES_PER_BATCH = 200;

/** `T` is what the interface promises of each line; it is not checked. */
export async function* readLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T[], void, void> {
  const decoder = new TextDecoder();
  /** The line whose end has not arrived. */
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (let at = 0; at < lines.length; at += LINES_PER_BATCH)
      yield lines.slice(at, at + LINES_PER_BATCH).map(parseLine<T>);
  }
  if (rest !== "") yield [parseLine<T>(rest)];
}

function parseLine<T>(line: string): T {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw createLocalError("protocol", "a line of the response is not JSON", error);
  }
}
