/** `gazetteer get`: one read of the interface, as a table for people or as the body for programs. */
import type { Query } from "../client/types.ts";
import { FORMATS, formatsOf } from "../formats/formats.ts";
import {
  CREDENTIALS_NOTE,
  parseQuery,
  parseResource,
  RESOURCES,
  type Resource,
  URL_FLAG,
  wantsColour,
  withClient,
} from "./client-command.ts";
import { columnsForFields, isRow, LIST_COLUMNS, TOPOLOGY_COLUMNS, valueAt } from "./columns.ts";
import type { Command, Context } from "./command.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";
import { fetchPages, joinPages } from "./pages.ts";
import { renderTable } from "./table.ts";

export const getCommand: Command = {
  name: "get",
  operands: "devices|links|hosts|topology [NAME=VALUE...]",
  summary: "Read from a running service.",
  flags: [
    URL_FLAG,
    {
      name: "output",
      short: "o",
      value: "FORMAT",
      help: "table, or one of the formats below. Default table",
    },
  ],
  notes: `
NAME=VALUE are query parameters: gazetteer get devices available=false type=SWITCH,ROUTER
All pages of a list are fetched; limit=N sets the page size.
${CREDENTIALS_NOTE}

Formats:
${renderFormatHelp()}`,
  async run(args, context) {
    const [name, ...parameters] = args.positionals;
    const resource = parseResource(name);
    const output = parseOutput(args.one("output") ?? "table", resource);
    const query = parseQuery(parameters);
    const requestQuery = output === "table" || output === "json" ? query : { ...query, format: output };
    await withClient(args, context, async (client) => {
      const pages = fetchPages(client, resource, requestQuery);
      if (output === "table") await printTable(resource, query, pages, context);
      else await printBody(joinPages(pages, resource, output), context);
    });
    return EXIT_STATUS.ok;
  },
};

/** One line for each format that is not an endless stream. */
function renderFormatHelp(): string {
  return FORMATS.filter((format) => !format.stream)
    .map(({ name, description, resources }) => {
      const readable = RESOURCES.filter((resource) => resources.includes(resource));
      return `  ${name.padEnd(10)}  ${description} (${readable.join(", ")})`;
    })
    .join("\n");
}

function parseOutput(name: string, resource: Resource): string {
  const formats = formatsOf(resource).filter((format) => !format.stream);
  const known = ["table", ...formats.map((format) => format.name)];
  if (known.includes(name)) return name;
  throw usageFailure(`-o ${name}: of ${resource} there is ${known.join(", ")}`);
}

async function printTable(
  resource: Resource,
  query: Query,
  pages: AsyncIterable<Response>,
  context: Context,
): Promise<void> {
  const colour = wantsColour(context);
  const rows: unknown[] = [];
  for await (const response of pages) {
    const body: unknown = await response.json();
    if (resource === "topology" && isRow(body) && "clusters" in body) {
      return context.out(renderTable([body], TOPOLOGY_COLUMNS, colour));
    }
    const items = valueAt(body, resource);
    // The query selected something that is not a list, such as changes: print the body.
    if (!Array.isArray(items)) return context.out(`${JSON.stringify(body, null, 2)}\n`);
    for (const item of items) rows.push(item);
  }
  const { fields } = query;
  const columns = fields === undefined ? (LIST_COLUMNS[resource] ?? []) : columnsForFields(String(fields));
  await context.out(renderTable(rows.filter(isRow), columns, colour));
  if (context.terminal) await context.err(`${rows.length} ${resource}\n`);
}

/** Writes chunk by chunk, so that a large body is not held in memory. */
async function printBody(body: AsyncIterable<Uint8Array>, context: Context): Promise<void> {
  let lastByte = 0;
  for await (const chunk of body) {
    await context.out(chunk);
    lastByte = chunk.at(-1) ?? lastByte;
  }
  if (lastByte !== 0x0a) await context.out("\n");
}
