/** `gazetteer get`: one of the four reads, as a table for a person or as the body itself for a program. */
import type { Query } from "../client/types.ts";
import { FORMATS, formatsOf } from "../formats/formats.ts";
import {
  asking,
  CREDENTIALS_NOTE,
  queryOf,
  RESOURCES,
  type Resource,
  resourceNamed,
  URL_FLAG,
} from "./client-command.ts";
import { at, chosenColumns, isRow, LIST_COLUMNS, TOPOLOGY_COLUMNS } from "./columns.ts";
import type { Command, Context } from "./command.ts";
import { STATUS, usageFailure } from "./failure.ts";
import { joinedBody, pagesOf } from "./pages.ts";
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
      help: "table or a format of the interface, see below. Default table",
    },
  ],
  notes: `
NAME=VALUE are query parameters: gazetteer get devices available=false type=SWITCH,ROUTER
Pages are followed to the end: limit=N is how many are asked for at a time.
${CREDENTIALS_NOTE}

Formats:
${formatHelp()}`,
  async run(args, context) {
    const [word, ...parameters] = args.positionals;
    const resource = resourceNamed(word);
    const output = outputNamed(args.one("output") ?? "table", resource);
    const query = queryOf(parameters);
    const asked = output === "table" || output === "json" ? query : { ...query, format: output };
    await asking(args, context, async (client) => {
      const pages = pagesOf(client, resource, asked);
      if (output === "table") await printTable(resource, query, pages, context);
      else await printBody(joinedBody(pages, resource, output), context);
    });
    return STATUS.ok;
  },
};

/** One line for each format that `get` can read to its end. */
function formatHelp(): string {
  return FORMATS.filter((format) => !format.stream)
    .map(({ name, description, resources }) => {
      const readable = RESOURCES.filter((resource) => resources.includes(resource));
      return `  ${name.padEnd(10)}  ${description} (${readable.join(", ")})`;
    })
    .join("\n");
}

function outputNamed(name: string, resource: Resource): string {
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
  const colour = context.terminal && !context.env.NO_COLOR;
  const rows: unknown[] = [];
  for await (const response of pages) {
    const body: unknown = await response.json();
    if (resource === "topology" && isRow(body) && "clusters" in body) {
      return context.out(renderTable([body], TOPOLOGY_COLUMNS, colour));
    }
    const items = at(body, resource);
    // Changes, differences and whatever else is no list: then as it is.
    if (!Array.isArray(items)) return context.out(`${JSON.stringify(body, null, 2)}\n`);
    for (const item of items) rows.push(item);
  }
  const { fields } = query;
  const columns = fields === undefined ? (LIST_COLUMNS[resource] ?? []) : chosenColumns(String(fields));
  await context.out(renderTable(rows.filter(isRow), columns, colour));
  if (context.terminal) await context.err(`${rows.length} ${resource}\n`);
}

/** Chunk by chunk: a body may be larger than memory should hold twice. */
async function printBody(body: AsyncIterable<Uint8Array>, context: Context): Promise<void> {
  let last = 0;
  for await (const chunk of body) {
    await context.out(chunk);
    last = chunk.at(-1) ?? last;
  }
  if (last !== 0x0a) await context.out("\n");
}
