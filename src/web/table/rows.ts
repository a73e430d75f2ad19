/**
 * Loads the rows of a table from the service with the user's filter and order. There may be a million hosts, so only as
 * many are loaded as the user scrolls to: first a screenful, then more, up to `MAX_ROWS`. A longer list is loaded again from
 * its beginning, so that all rows are of one revision. The previous rows stay until the new ones have arrived, and while the
 * service cannot be read; in that case the request is repeated.
 */
import { signal } from "@preact/signals";
import { type Client, ClientError, type Query } from "../../client/client.ts";
import { cableId } from "../../model/cable.ts";
import { abortPrevious, reasonOf, Slices, throttle } from "../data/pacing.ts";
import type { NetworkEntity } from "../data/page-network.ts";
import type { TableView, ViewState } from "../data/view-state.ts";
import { parseFilter } from "./table-filter.ts";

export interface Rows {
  readonly list: readonly NetworkEntity[];
  readonly loading: boolean;
  /** Whether there are more rows than in the list. */
  readonly hasMore: boolean;
  /** The number of all rows, when it is known. */
  readonly total: number | undefined;
  /** The reason why the service refused the request, or why it cannot be read. */
  readonly fault: string | undefined;
}

/** Maximum number of rows that are loaded; 100,000 hosts are 50 MB. */
export const MAX_ROWS = 100_000;
/** Maximum number of rows on paper, which is some 300 pages; the browser renders all of them in one task. */
export const MAX_PRINTED_ROWS = 10_000;
/** The numbers of rows that are requested. The service limits pages to 10,000, so above that the whole list is requested. */
const STEPS = [200, 2000, 10_000] as const;
const RELOAD_DELAY_MS = 1500;
/** The longest list that is loaded again after a change. The visible rows of a longer one still show current values. */
const MAX_ROWS_TO_RELOAD = 20_000;
const NO_ROWS: Rows = { list: [], loading: true, hasMore: false, total: undefined, fault: undefined };

/** What printing does next: it waits, loads more rows, prints, or ends with the reason why rows are missing. */
export type PrintStep = "wait" | "load" | "print" | { readonly fault: string };

export function nextPrintStep({ list, loading, hasMore, fault }: Rows): PrintStep {
  if (loading) return "wait";
  if (fault !== undefined) return { fault };
  return hasMore && list.length < MAX_PRINTED_ROWS ? "load" : "print";
}

/** The line on paper about rows that are not on it; undefined if all are. */
export function printedRowsText({ list, hasMore, total }: Rows): string | undefined {
  if (!hasMore && list.length <= MAX_PRINTED_ROWS) return undefined;
  const printed = Math.min(list.length, MAX_PRINTED_ROWS).toLocaleString("en");
  const all = hasMore ? total : list.length;
  return `The first ${printed} rows${all === undefined ? "" : ` of ${all.toLocaleString("en")}`}. Filter or sort to print others.`;
}

interface Request {
  readonly table: TableView;
  readonly query: Query;
}

export function createRowLoader(client: Client) {
  const rows = signal(NO_ROWS);
  let current: Request | undefined;
  let wanted = 0;
  const nextSignal = abortPrevious();

  const run = async ({ table, query }: Request, aborted: AbortSignal) => {
    const limit = STEPS.find((step) => step >= wanted) ?? MAX_ROWS;
    const { list, isFull } = await loadRows(client, table, query, limit, aborted);
    // Devices and links are always loaded completely, because the page has all of them in memory anyway.
    const total = isFull && table === "hosts" ? await countHosts(client, query, aborted) : undefined;
    const hasMore = isFull && (total === undefined || total > list.length);
    const loadsMore = hasMore && limit < MAX_ROWS && (table !== "hosts" || wanted > limit);
    if (!loadsMore || list.length > rows.peek().list.length)
      rows.value = { list, loading: loadsMore, hasMore, total, fault: undefined };
    if (!loadsMore) return;
    if (table !== "hosts") wanted = MAX_ROWS;
    start();
  };
  const start = () => {
    if (!current) return;
    const aborted = nextSignal();
    rows.value = { ...rows.peek(), loading: true };
    run(current, aborted).catch((error: unknown) => {
      if (aborted.aborted) return;
      if (error instanceof ClientError && !error.transient) {
        rows.value = { ...NO_ROWS, loading: false, fault: error.detail };
        return;
      }
      const [kept, reason] = [rows.peek(), reasonOf(error)];
      const fault = kept.list.length === 0 ? reason : `These rows may be out of date: ${reason}`;
      rows.value = { ...kept, loading: false, fault };
      startLater();
    });
  };
  const startLater = throttle(RELOAD_DELAY_MS, () => {
    if (!rows.peek().loading) start();
  });

  return {
    rows,
    load(table: TableView, view: ViewState): void {
      if (current?.table !== table) rows.value = NO_ROWS;
      current = { table, query: queryOf(view) };
      wanted = 0;
      start();
    },
    /** Loads the same rows again after a delay, because the network changed. */
    reload(): void {
      const { list, loading, fault } = rows.peek();
      wanted = Math.max(wanted, list.length);
      if (list.length <= MAX_ROWS_TO_RELOAD && !loading && fault === undefined) startLater();
    },
    /** Loads more rows until the list has this many, if there are so many. */
    want(count: number): void {
      const { list, loading, hasMore } = rows.peek();
      wanted = Math.max(wanted, Math.min(count, MAX_ROWS));
      if (hasMore && !loading && wanted > list.length) start();
    },
  };
}

const queryOf = ({ filter, sort, at }: ViewState): Query => ({
  ...Object.fromEntries(parseFilter(filter)),
  ...(sort && { sort }),
  at,
});

async function countHosts(client: Client, query: Query, signal: AbortSignal): Promise<number> {
  return (await client.hostCounts({ ...query, sort: undefined }, { signal })).total;
}

/**
 * Loads at most `limit` records and parses them in slices. Both links of a cable are one row, at the place of the first.
 * `isFull` is set if there were as many records as the limit.
 */
async function loadRows<K extends TableView>(
  client: Client,
  table: K,
  query: Query,
  limit: number,
  signal: AbortSignal,
): Promise<{ list: NetworkEntity<K>[]; isFull: boolean }> {
  const list: NetworkEntity<K>[] = [];
  const cables = new Set<string>();
  let records = 0;
  const slices = new Slices();
  const limited = limit < MAX_ROWS ? { ...query, limit } : query;
  const { batches } = await client.stream(table, limited, { signal });
  for await (const batch of batches) {
    for (const value of batch.slice(0, limit - records)) {
      const cable = "src" in value ? cableId(value) : undefined;
      if (cable === undefined || !cables.has(cable)) list.push({ resource: table, value });
      if (cable !== undefined) cables.add(cable);
    }
    records += batch.length;
    // Leaving the loop closes the connection.
    if (records >= limit) break;
    await slices.pause();
  }
  signal.throwIfAborted();
  return { list, isFull: records >= limit };
}
