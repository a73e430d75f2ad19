/** `gazetteer get`: one of the four reads, as a table for a person or as the body itself for a program. */
import type { Query } from "../client/answers.ts";
import { createClient } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import { type Format, formatsOf } from "../formats/format.ts";
import { nearest } from "../lib/nearest.ts";
import { at, chosenColumns, isRow, LIST_COLUMNS, TOPOLOGY_COLUMNS } from "./columns.ts";
import type { Command, Context } from "./command.ts";
import { CommandFailure, STATUS, usageFailure } from "./failure.ts";
import { DEFAULT_URL, serviceAddress } from "./service-url.ts";
import { harmless, renderTable } from "./table.ts";

const RESOURCES = ["devices", "links", "hosts", "topology"] as const;
type Resource = (typeof RESOURCES)[number];

export const getCommand: Command = {
  name: "get",
  operands: "devices|links|hosts|topology [NAME=VALUE...]",
  summary: "Read from a running service.",
  flags: [
    { name: "url", value: "URL", help: `Where the service is. Default ${DEFAULT_URL}` },
    {
      name: "output",
      short: "o",
      value: "FORMAT",
      help: "table, json, or another format of the interface. Default table",
    },
  ],
  notes: `
NAME=VALUE are query parameters: gazetteer get devices available=false type=SWITCH,ROUTER
GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' is who asks; credentials in the URL come before it.`,
  async run(args, context) {
    const [word, ...parameters] = args.positionals;
    const resource = resourceNamed(word);
    const output = outputNamed(args.one("output") ?? "table", resource);
    const query = queryOf(parameters);
    const asked = output === "table" || output === "json" ? query : { ...query, format: output };
    const address = serviceAddress(args.one("url"), context.env.GAZETTEER_CREDENTIALS);
    try {
      const response = await createClient(address).raw(resource, asked);
      if (output === "table") await printTable(resource, query, await response.json(), context);
      else await printBody(response, context);
    } catch (error) {
      throw failureOf(error, address.credentials !== undefined);
    }
    return STATUS.ok;
  },
};

function resourceNamed(word: string | undefined): Resource {
  const found = RESOURCES.find((resource) => resource === word);
  if (found) return found;
  if (word === undefined) throw usageFailure(`wants one of ${RESOURCES.join(", ")}`);
  const near = nearest(word, RESOURCES);
  const hint = near === undefined ? `there are ${RESOURCES.join(", ")}` : `did you mean ${near}?`;
  throw usageFailure(`there is no ${JSON.stringify(word)}; ${hint}`);
}

function outputNamed(name: string, resource: Resource): string {
  const formats: readonly Format[] = formatsOf(resource);
  const known = ["table", ...formats.map((format) => format.name).filter((format) => format !== "events")];
  if (known.includes(name)) return name;
  throw usageFailure(`-o ${name}: of ${resource} there is ${known.join(", ")}`);
}

function queryOf(parameters: readonly string[]): Query {
  const query = new Map<string, string>();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals < 1) throw usageFailure(`${JSON.stringify(parameter)} is not NAME=VALUE`);
    const name = parameter.slice(0, equals);
    if (query.has(name)) throw usageFailure(`${name}= is given twice; several values are joined by commas`);
    query.set(name, parameter.slice(equals + 1));
  }
  return Object.fromEntries(query);
}

function failureOf(error: unknown, withCredentials: boolean): unknown {
  if (!(error instanceof ClientError)) {
    if (error instanceof SyntaxError)
      return new CommandFailure("the answer is not JSON; is that a Gazetteer?");
    return error;
  }
  if (error.status === 0)
    return new CommandFailure(`${harmless(error.detail)}; is the service running there?`);
  const hint =
    error.status === 401 && !withCredentials
      ? "; set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' or put them in the URL"
      : "";
  return new CommandFailure(`${error.status}: ${harmless(error.detail)}${hint}`);
}

async function printTable(resource: Resource, query: Query, body: unknown, context: Context): Promise<void> {
  const colour = context.terminal && !context.env.NO_COLOR;
  if (resource === "topology" && isRow(body) && "clusters" in body) {
    return context.out(renderTable([body], TOPOLOGY_COLUMNS, colour));
  }
  const rows = at(body, resource);
  // Changes, differences and whatever else is no list: then as it is.
  if (!Array.isArray(rows)) return context.out(`${JSON.stringify(body, null, 2)}\n`);
  const { fields } = query;
  const columns = fields === undefined ? (LIST_COLUMNS[resource] ?? []) : chosenColumns(String(fields));
  await context.out(renderTable(rows.filter(isRow), columns, colour));
  const next = at(body, "next");
  if (typeof next === "string") await context.err(`There is more: add cursor=${harmless(next)}\n`);
  else if (context.terminal) await context.err(`${rows.length} ${resource}\n`);
}

/** Chunk by chunk: a body may be larger than memory should hold twice. */
async function printBody(response: Response, context: Context): Promise<void> {
  let last = 0;
  for await (const chunk of response.body ?? []) {
    await context.out(chunk);
    last = chunk.at(-1) ?? last;
  }
  if (last !== 0x0a) await context.out("\n");
}
