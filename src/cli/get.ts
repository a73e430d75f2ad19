/** `gazetteer get`: one of the four reads, as a table for a person or as the body itself for a program. */
import { type Format, formatsOf } from "../formats/format.ts";
import { nearest } from "../lib/nearest.ts";
import { at, chosenColumns, isRow, LIST_COLUMNS, TOPOLOGY_COLUMNS } from "./columns.ts";
import type { Command, Context } from "./command.ts";
import { CommandFailure, reasonOf, STATUS, usageFailure } from "./failure.ts";
import { basicHeader, DEFAULT_URL, serviceAddress } from "./service-url.ts";
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
    const { base, credentials } = serviceAddress(args.one("url"), context.env.GAZETTEER_CREDENTIALS);
    const query = queryOf(parameters);
    if (output !== "table" && output !== "json") query.append("format", output);
    const response = await request(`${base}/${resource}${query.size > 0 ? `?${query}` : ""}`, credentials);
    if (output === "table") await printTable(resource, query, response, context);
    else await printBody(response, context);
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

function queryOf(parameters: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals < 1) throw usageFailure(`${JSON.stringify(parameter)} is not NAME=VALUE`);
    query.append(parameter.slice(0, equals), parameter.slice(equals + 1));
  }
  return query;
}

async function request(url: string, credentials: string | undefined): Promise<Response> {
  let response: Response;
  try {
    // A redirect would carry the question, and perhaps the password, to somewhere nobody named.
    const headers = credentials === undefined ? {} : { authorization: basicHeader(credentials) };
    response = await fetch(url, { headers, redirect: "error" });
  } catch (error) {
    const { origin } = new URL(url);
    throw new CommandFailure(
      `${origin} cannot be reached (${reasonOf(error)}); is the service running there?`,
    );
  }
  if (response.ok) return response;
  throw new CommandFailure(await problemOf(response, credentials !== undefined));
}

async function problemOf(response: Response, asked: boolean): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const told = at(body, "detail") ?? at(body, "message") ?? at(body, "title") ?? response.statusText;
  const hint =
    response.status === 401 && !asked
      ? "; set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' or put them in the URL"
      : "";
  return `${response.status} ${harmless(String(told))}${hint}`;
}

async function printTable(
  resource: Resource,
  query: URLSearchParams,
  response: Response,
  context: Context,
): Promise<void> {
  const body: unknown = await response.json().catch((error: unknown) => {
    throw new CommandFailure(`the answer is not JSON (${reasonOf(error)}); is that a Gazetteer?`);
  });
  const colour = context.terminal && !context.env.NO_COLOR;
  if (resource === "topology" && isRow(body) && "clusters" in body) {
    return context.out(renderTable([body], TOPOLOGY_COLUMNS, colour));
  }
  const rows = at(body, resource);
  if (!Array.isArray(rows)) return context.out(`${JSON.stringify(body, null, 2)}\n`);
  const fields = query.get("fields");
  const columns = fields === null ? (LIST_COLUMNS[resource] ?? []) : chosenColumns(fields);
  await context.out(renderTable(rows.filter(isRow), columns, colour));
  const next = at(body, "next");
  if (typeof next === "string") await context.err(`There is more: add cursor=${harmless(next)}\n`);
  else if (context.terminal) await context.err(`${rows.length} ${resource}\n`);
}

async function printBody(response: Response, context: Context): Promise<void> {
  let last = 0;
  for await (const chunk of response.body ?? []) {
    await context.out(chunk);
    last = chunk.at(-1) ?? last;
  }
  if (last !== 0x0a) await context.out("\n");
}
