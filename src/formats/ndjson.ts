/**
 * NDJSON: one JSON text a line, each line ended by a line feed. The view keeps the encoded text of every entity, so
 * nothing is encoded here. JSON escapes line feeds inside strings, so no text contains one.
 */
import { mapPaced, type Paced } from "../lib/steps.ts";
import { joinIntoChunks } from "./chunks.ts";

export const renderNdjson = (jsonTexts: Paced<string>): Paced<string> =>
  joinIntoChunks(mapPaced(jsonTexts, (text) => `${text}\n`));
