/**
 * Renders a network file as text, in chunks. This file writes the YAML itself, because the library needs minutes for a
 * large network. All texts but plain words are double-quoted with JSON's escapes, which YAML reads in the same way.
 * Control characters and characters that change the text direction are escaped, as in `yaml-text.ts`.
 */
import type { NetworkDocument } from "../import/import-file.ts";
import { KINDS } from "../model/ids.ts";
import { escapeControlCharacters } from "./table.ts";

const RECORDS_PER_CHUNK = 1024;

export function* renderNetwork(document: NetworkDocument, asJson: boolean): Generator<string> {
  if (asJson) yield "{";
  let separator = "";
  for (const kind of KINDS) {
    const records = document[kind] ?? [];
    if (records.length === 0) continue;
    yield asJson ? `${separator}\n"${kind}":[` : `${kind}:\n`;
    yield* renderRecords(records, asJson);
    if (asJson) yield "\n]";
    separator = ",";
  }
  if (asJson) yield "\n}\n";
  else if (separator === "") yield "devices: []\n";
}

function* renderRecords(records: readonly object[], asJson: boolean): Generator<string> {
  let text = "";
  for (const [index, record] of records.entries()) {
    text += asJson ? `${index === 0 ? "" : ","}\n${JSON.stringify(record)}` : renderItem(record, "  ");
    if (index % RECORDS_PER_CHUNK < RECORDS_PER_CHUNK - 1) continue;
    yield text;
    text = "";
  }
  yield text;
}

/** Renders one item of a list at the given indentation. */
function renderItem(value: unknown, indent: string): string {
  if (!isObject(value)) return `${indent}- ${renderScalar(value)}\n`;
  return `${indent}- ${renderFields(value, `${indent}  `).slice(indent.length + 2)}`;
}

function renderFields(record: object, indent: string): string {
  let text = "";
  for (const [name, value] of Object.entries(record)) {
    const field = `${indent}${renderText(name)}:`;
    if (isObject(value) && Object.keys(value).length === 0) {
      text += `${field} ${Array.isArray(value) ? "[]" : "{}"}\n`;
    } else if (Array.isArray(value)) {
      text += `${field}\n${value.map((item) => renderItem(item, `${indent}  `)).join("")}`;
    } else if (!isObject(value)) text += `${field} ${renderScalar(value)}\n`;
    else if (name === "src" || name === "dst") text += `${field} ${renderFlow(value)}\n`;
    else text += `${field}\n${renderFields(value, `${indent}  `)}`;
  }
  return text;
}

/** Renders an end of a link on one line. */
const renderFlow = (record: object): string =>
  `{ ${Object.entries(record)
    .map(([name, value]) => `${renderText(name)}: ${renderScalar(value)}`)
    .join(", ")} }`;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const renderScalar = (value: unknown): string =>
  typeof value === "string" ? renderText(value) : JSON.stringify(value);

const PLAIN = /^[A-Za-z][\w./-]*(?: [A-Za-z][\w./-]*)*$/;
/** Words that YAML 1.1 or 1.2 reads as another type. */
const RESERVED = /^(?:y|n|yes|no|true|false|on|off|null)$/i;

const renderText = (text: string): string =>
  PLAIN.test(text) && !RESERVED.test(text) ? text : escapeControlCharacters(JSON.stringify(text));
