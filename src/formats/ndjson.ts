/**
 * NDJSON: one JSON text a line, each line ended by a line feed. The view keeps the encoded text of every entity,
 * so the usual door is `renderNdjsonLines`, which encodes nothing.
 */
import { inChunks } from "./chunks.ts";

/** From JSON texts that are ready. They hold no line feed: JSON escapes it inside strings. */
export function renderNdjsonLines(jsonTexts: Iterable<string>): Iterable<string> {
  return inChunks(lines(jsonTexts));
}

/** From values, whole or cut down to some fields. */
export function renderNdjson(entities: Iterable<object>): Iterable<string> {
  return inChunks(lines(encoded(entities)));
}

function* lines(jsonTexts: Iterable<string>): Generator<string> {
  for (const text of jsonTexts) yield `${text}\n`;
}

function* encoded(entities: Iterable<object>): Generator<string> {
  for (const entity of entities) yield JSON.stringify(entity);
}
