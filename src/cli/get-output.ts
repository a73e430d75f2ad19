/**
 * The output of one read: a table, ids, YAML or an inventory rendered here, or the body as the service rendered it. For
 * an empty list in any format, standard error says so and names failing sources and unknown devices in the filters.
 */
import type { Client, Readiness } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import { discardBody } from "../client/transport.ts";
import type { Query, QueryValue } from "../client/types.ts";
import { isFailing } from "../model/source-status.ts";
import {
  columnsForFields,
  columnsOf,
  pointsOf,
  type Row,
  rowId,
  type TableColumn,
  type TableKind,
  tableRows,
} from "./columns.ts";
import { type Context, usageFailure } from "./command.ts";
import { NetworkNames } from "./network-names.ts";
import type { ReadTarget } from "./operands.ts";
import { fetchPages, joinPages } from "./pages.ts";
import { createTableWriter, escapeControlCharacters, renderJson } from "./table.ts";

/** The formats that this program renders itself; the service renders all others. */
export const LOCAL_OUTPUTS: Readonly<Record<string, string>> = {
  table: "Columns with titles, for people. The default",
  wide: "A table with more columns",
  name: "The ids, one for each line",
  yaml: "The JSON body as YAML",
  ansible: "A static inventory for Ansible (devices)",
};

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
  const rows = await printBodyOrTable(client, target, options, context);
  if (rows !== undefined && target.listKey !== undefined) await explainEmpty(client, target, rows, context);
}

/** Resolves to the number of items of a list if it is known; for a body of the service, to 0 if it is empty, else to 1. */
async function printBodyOrTable(
  client: Client,
  target: ReadTarget,
  options: OutputOptions,
  context: Context,
): Promise<number | undefined> {
  const { output, headers } = options;
  const isLocal = output in LOCAL_OUTPUTS;
  const query = isLocal || output === "json" ? target.query : { ...target.query, format: output };
  const pages = fetchPages(client, target.path, query);
  if (!isLocal) {
    const begin = await printBody(joinPages(pages, target.listKey, output, headers), context);
    return isEmptyList(begin, output, headers) ? 0 : 1;
  }
  const body = await readBody(pages, target.listKey);
  const table = tableRows(body);
  if (output === "yaml") await context.out(await yamlOf(body));
  else if (output === "ansible") {
    if (table?.kind !== "devices") throw usageFailure("-o ansible: the query selects no list of devices");
    await context.out(await inventoryOf(table.rows));
  }
  // The query selected a body that is neither a list nor an entity, such as changes.
  else if (!table) await context.out(renderJson(body));
  else if (output === "name") await context.out(renderIds(table.rows));
  else {
    const { kind, rows } = table;
    await context.out(await createRowTable(client, kind, target.query, options)(rows));
    if (context.terminal && headers && kind !== "topology")
      await context.err(`${rows.length} ${kind === "members" ? "devices" : kind}\n`);
  }
  return table?.rows.length;
}

/** Whether a body with this beginning is a list without items. */
function isEmptyList(begin: string, format: string, headers: boolean): boolean {
  if (format === "json" || format === "prometheus") return /^(\{"\w+":)?\[\]/.test(begin);
  if (format === "csv") return !begin.slice(headers ? begin.indexOf("\n") + 1 : 0).trim();
  return format === "ndjson" && begin.trim() === "";
}

/** Parameters that are not filters. */
const NO_FILTERS: readonly string[] = ["at", "fields", "format", "limit", "sort"];
/** Filters whose values are devices. */
const DEVICE_FILTERS: readonly string[] = ["device", "src", "dst"];

async function explainEmpty(
  client: Client,
  target: ReadTarget,
  rows: number,
  context: Context,
): Promise<void> {
  const { query, listKey = "" } = target;
  const notes: string[] = [];
  if (rows === 0) {
    const isFiltered = Object.keys(query).some((name) => !NO_FILTERS.includes(name));
    notes.push(`no ${listKey}${isFiltered ? " match" : ""}`);
    if (query.at === undefined) notes.push(...(await sourceNotes(client)));
  }
  for (const name of DEVICE_FILTERS) {
    const ids = String(query[name] ?? "")
      .split(",")
      .filter((id) => id !== "");
    // A single device is known if there are rows for it.
    if (rows === 0 || ids.length > 1)
      for (const id of ids)
        if (!(await isDevice(client, id, query.at))) notes.push(`${name}=${id}: nobody knows that device`);
  }
  for (const note of notes) await context.err(`gazetteer get: ${escapeControlCharacters(note)}\n`);
}

/** Notes about sources that have failed or not reported yet: entities may be missing because of them. */
async function sourceNotes(client: Client): Promise<string[]> {
  const { sources = [] } = await client.ready().catch(ignoreClientError);
  return sources.flatMap((source) => {
    if (isFailing(source)) return [`source ${source.name} failed: ${source.error ?? "no reason is known"}`];
    return source.status === "starting" ? [`source ${source.name} has not reported yet`] : [];
  });
}

function ignoreClientError(error: unknown): Pick<Readiness, "sources"> {
  if (error instanceof ClientError) return {};
  throw error;
}

async function isDevice(client: Client, id: string, at: QueryValue | undefined): Promise<boolean> {
  try {
    const response = await client.raw(`devices/${encodeURIComponent(id)}`, { at });
    discardBody(response);
    return true;
  } catch (error) {
    // The list is printed already, so an error of this additional request is not a failure of the command.
    if (error instanceof ClientError) return error.status !== 404;
    throw error;
  }
}

/** What a watched table has in addition. */
interface WatchedTable {
  /** Columns before the others. */
  readonly first: readonly TableColumn[];
  readonly signal: AbortSignal;
}

/** Returns a function that renders rows of a table, the first time with the titles. */
export function createRowTable(
  client: Client,
  kind: TableKind,
  query: Query,
  { output, colour, headers }: OutputOptions,
  watched?: WatchedTable,
): (rows: readonly Row[]) => Promise<string> {
  const { fields } = query;
  const names = new NetworkNames(client, query);
  const columns =
    fields === undefined
      ? columnsOf(kind, { wide: output === "wide", drift: query.drift !== undefined, names })
      : columnsForFields(String(fields));
  const writer = createTableWriter([...(watched?.first ?? []), ...columns], { colour, headers });
  return async (rows) => {
    const points = fields === undefined ? rows.flatMap((row) => pointsOf(kind, row)) : [];
    await (watched ? names.loadForLine(points, watched.signal) : names.load(points));
    return writer.render(rows);
  };
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

/** The number of characters kept from the beginning of a body: enough for the header of CSV. */
const MAX_BEGIN_CHARS = 4096;

/** Writes chunk by chunk, so that a large body is not held in memory. Resolves to the beginning of the body. */
async function printBody(body: AsyncIterable<Uint8Array>, context: Context): Promise<string> {
  let lastByte = 0;
  let begin = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    if (begin.length < MAX_BEGIN_CHARS) begin += decoder.decode(chunk, { stream: true });
    await context.out(chunk);
    lastByte = chunk.at(-1) ?? lastByte;
  }
  if (lastByte !== 0x0a) await context.out("\n");
  return begin;
}

export const renderIds = (rows: readonly Row[]): string =>
  rows.map((row) => `${escapeControlCharacters(rowId(row) ?? "-")}\n`).join("");

// The YAML library is imported only when it is used.
const inventoryOf = async (devices: readonly Row[]): Promise<string> =>
  (await import("./ansible-inventory.ts")).renderInventory(devices);
export const yamlOf = async (value: unknown): Promise<string> =>
  (await import("./yaml-text.ts")).renderYaml(value);
