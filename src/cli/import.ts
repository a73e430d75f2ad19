/**
 * `gazetteer import`: turns a topology file of another tool into a network file for the source `file`. The result is
 * complete before anything is written. Standard error lists what could not be imported, one item on each line.
 */
import { createWriteStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "../lib/error-message.ts";
import { KINDS } from "../model/ids.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";
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
    const { renderNetwork } = await import("./network-text.ts");
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
