/** The output of one read: a table, ids or YAML made here, or the body as the service rendered it. */
import type { Client } from "../client/client.ts";
import {
  columnsForFields,
  columnsOf,
  devicesOf,
  type Row,
  rowId,
  type TableKind,
  tableRows,
} from "./columns.ts";
import type { Context } from "./command.ts";
import { DeviceNames } from "./device-names.ts";
import { CommandFailure } from "./failure.ts";
import { fetchPages, joinPages } from "./pages.ts";
import type { ReadTarget } from "./read-target.ts";
import { escapeControlCharacters, renderTable } from "./table.ts";

export interface OutputOptions {
  readonly output: string;
  readonly colour: boolean;
  readonly headers: boolean;
}

export async function printRead(
  client: Client,
  target: ReadTarget,
  options: OutputOptions,
  context: Context,
): Promise<void> {
  const { output, headers } = options;
  const isLocal = output === "table" || output === "wide" || output === "name" || output === "yaml";
  const query = isLocal || output === "json" ? target.query : { ...target.query, format: output };
  const pages = fetchPages(client, target.path, query);
  const isLink = target.id !== undefined && target.listKey !== undefined;
  if (!isLocal && !isLink) return printBody(joinPages(pages, target.listKey, output, headers), context);
  const whole = await readBody(pages, target.listKey);
  const body = isLink ? onlyItem(whole, target) : whole;
  if (output === "json") return context.out(`${JSON.stringify(body)}\n`);
  const table = tableRows(body);
  if (output === "yaml") return context.out(await yamlOf(body));
  // The query selected something that is not a list or an entity, such as changes.
  if (!table) return context.out(`${escapeControlCharacters(JSON.stringify(body))}\n`);
  if (output === "name") return context.out(renderIds(table.rows));
  await printTable(client, target, table, options, context);
}

async function printTable(
  client: Client,
  { query }: ReadTarget,
  { kind, rows }: { kind: TableKind; rows: readonly Row[] },
  { output, colour, headers }: OutputOptions,
  context: Context,
): Promise<void> {
  const { fields } = query;
  const names = new DeviceNames(client, query);
  if (fields === undefined) await names.load(rows.flatMap((row) => devicesOf(kind, row)));
  const columns =
    fields === undefined
      ? columnsOf(kind, {
          wide: output === "wide",
          drift: query.drift !== undefined,
          nameOf: names.nameOf,
        })
      : columnsForFields(String(fields));
  await context.out(renderTable(rows, columns, { colour, headers }));
  if (context.terminal && headers && kind !== "topology") {
    await context.err(`${rows.length} ${kind === "members" ? "devices" : kind}\n`);
  }
}

/** The JSON body, with the lists of all pages joined. */
async function readBody(pages: AsyncIterable<Response>, listKey: string | undefined): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of joinPages(pages, listKey, "json", true)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return JSON.parse(text + decoder.decode());
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

export const renderIds = (rows: readonly Row[]): string =>
  rows.map((row) => `${escapeControlCharacters(rowId(row) ?? "-")}\n`).join("");

/** The library is loaded only where it is used. */
export const yamlOf = async (value: unknown): Promise<string> =>
  (await import("./yaml-text.ts")).renderYaml(value);

/** A link has no path of its own: it is the only item of a list, which is empty where the id is not known. */
function onlyItem(body: unknown, target: ReadTarget): unknown {
  const [item] = tableRows(body)?.rows ?? [];
  if (item === undefined) throw notFound(target);
  return item;
}

export const notFound = ({ resource, id = "" }: ReadTarget): CommandFailure =>
  new CommandFailure(`404: there is no ${resource.replace(/s$/, "")} ${JSON.stringify(id)}`);
