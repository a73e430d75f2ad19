/**
 * NDJSON: one JSON text a line, each line ended by a line feed. The view keeps the encoded text of every entity, so
 * nothing is encoded here. JSON escapes line feeds inside strings, so no text contains one.
 */
import { joinIntoChunks } from "./chunks.ts";

export function renderNdjson(jsonTexts: Iterable<string>): Iterable<string> {
  return joinIntoChunks(renderLines(jsonTexts));
}

function* renderLines(jsonTexts: Iterable<string>): Generator<string> {
  for (const text of jsonTexts) yield `${text}\n`;
}
