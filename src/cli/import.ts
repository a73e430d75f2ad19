/**
 * `gazetteer import`: turns a topology file of another tool into a network file for the source `file`. The result is
 * complete before anything is written. Standard error lists what could not be imported, one item on each line.
 */

import { createWriteStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { NetworkDocument } from "../import/import-file.ts";
import { errorMessage } from "../lib/error-message.ts";
import { KINDS } from "../model/ids.ts";
import { type Command, EXIT_STATUS, usageFailure } from "./command.ts";
import { escapeControlCharacters } from "./table.ts";

/** The names are repeated here, because the help must not load the parsers. A test compares the two lists. */
const FORMATS = ["netjson", "graphml", "rfc8345", "containerlab"] as const;
type Format = (typeof FORMATS)[number];
const isFormat = (text: string): text is Format => FORMATS.some((format) => format === text);

export const importCommand: Command = {
  name: "import",
  operands: "FILE",
  summary: "Turn a topology file of another tool into a network file.",
  flags: [
    {
      name: "format",
      value: "FORMAT",
      choices: FORMATS,
      help: `Format of FILE: ${FORMATS.join(", ")}. Default: found out from its content`,
    },
    {
      name: "output",
      value: "FILE",
      help: "Write to this file, as JSON if its name ends in .json. Default: YAML to standard output",
    },
  ],
  notes: `
Reads NetJSON NetworkGraph, GraphML (also of the Internet Topology Zoo), RFC 8345 and
containerlab topologies. What could not be imported is listed on standard error.

  gazetteer import Geant2012.graphml --output geant.yaml
  gazetteer serve --file geant.yaml`,
  async run(args, context) {
    const [path, ...extra] = args.positionals;
    if (path === undefined || extra.length > 0) throw usageFailure("wants one FILE");
    const format = args.one("format");
    if (format !== undefined && !isFormat(format))
      throw usageFailure(`--format must be one of ${FORMATS.join(", ")}`);
    const output = args.one("output");
    if (output !== undefined && (await isSameFile(path, output)))
      throw usageFailure(`--output ${output} is the file to import`);
    // The parsers are imported here, so that other commands do not load them.
    const { importFile } = await import("../import/import-file.ts");
    const result = await importFile(path, format);
    if (!result.ok) throw usageFailure(escapeControlCharacters(result.message));
    const asJson = output !== undefined && /\.json$/i.test(output);
    const chunks = renderNetwork(result.document, asJson);
    if (output === undefined) for (const chunk of chunks) await context.out(chunk);
    else await write(output, chunks);
    const lines = result.notes.map((note) => `${escapeControlCharacters(note)}\n`);
    const counts = KINDS.map((kind) => `${result.counts[kind]} ${kind}`).join(", ");
    await context.err(`${lines.join("")}${output ?? path} (${result.format}): ${counts}\n`);
    return EXIT_STATUS.ok;
  },
};

async function isSameFile(path: string, other: string): Promise<boolean> {
  try {
    return (await realpath(path)) === (await realpath(other));
  } catch {
    return false; // One of them does not exist.
  }
}

/** Uses a stream, because `writeFile` of Bun 1.4.4 appends NUL bytes when its data is an iterable. */
async function write(path: string, chunks: Iterable<string>): Promise<void> {
  try {
    await pipeline(chunks, createWriteStream(path));
  } catch (error) {
    throw usageFailure(`${path} cannot be written: ${errorMessage(error)}`);
  }
}

// The network file is rendered in chunks. The YAML is written here, because the library needs minutes for a large network. All
// texts but plain words are double-quoted with JSON's escapes, which YAML reads in the same way. Control characters and
// characters that change the text direction are escaped, as in `yaml-text.ts`.

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
