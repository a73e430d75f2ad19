/**
 * Loads the rows of a table from the service with the user's filter and order, page after page of one revision. The
 * first page is small so that rows appear at once. While a list is loaded again, the previous one stays until the new
 * one is as long.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Client, ClientError, type Query } from "../../client/client.ts";
import type { NetworkEntity } from "../network.ts";
import type { TableView, ViewState } from "../state.ts";
import { throttle } from "../throttle.ts";
import { parseFilter } from "./filter.ts";
import { type DeviceNames, orderByDeviceName } from "./name-order.ts";

export interface Rows {
  readonly list: readonly NetworkEntity[];
  readonly loading: boolean;
  /** Why the service refused the request. */
  readonly fault: string | undefined;
}

export interface RowLoader {
  readonly rows: ReadonlySignal<Rows>;
  load(table: TableView, view: ViewState): void;
  /** Loads the same rows again after a delay, because the network changed. */
  reload(): void;
}

const FIRST_PAGE_ROWS = 200;
const PAGE_ROWS = 10_000;
const RELOAD_DELAY_MS = 1500;
/** A longer list is not loaded again after a change. Its visible rows still show the changed network. */
const MAX_ROWS_TO_RELOAD = 20_000;
const NO_ROWS: Rows = { list: [], loading: true, fault: undefined };

export function createRowLoader(client: Client, nameOf: DeviceNames): RowLoader {
  const rows = signal(NO_ROWS);
  let current: { readonly table: TableView; readonly query: Query } | undefined;
  let request = new AbortController();

  const start = () => {
    if (!current) return;
    request.abort();
    request = new AbortController();
    const { signal: aborted } = request;
    const { table, query } = current;
    rows.value = { ...rows.peek(), loading: true };
    const onPage = (list: readonly NetworkEntity[], done: boolean) => {
      if (!done && rows.peek().list.length > list.length) return;
      const shown = done ? orderByDeviceName(list, String(query.sort ?? ""), nameOf) : list;
      rows.value = { list: shown, loading: !done, fault: undefined };
    };
    loadPages(client, table, query, onPage, aborted).catch((error: unknown) => {
      if (aborted.aborted) return;
      const fault = error instanceof ClientError ? error.detail : String(error);
      rows.value = { list: [], loading: false, fault };
    });
  };
  const startLater = throttle(RELOAD_DELAY_MS, start);

  return {
    rows,
    load(table, view) {
      if (current?.table !== table) rows.value = NO_ROWS;
      current = { table, query: queryOf(view) };
      start();
    },
    reload() {
      const { list, loading, fault } = rows.peek();
      if (list.length <= MAX_ROWS_TO_RELOAD && !loading && fault === undefined) startLater();
    },
  };
}

const queryOf = ({ filter, sort, at }: ViewState): Query => ({
  ...Object.fromEntries(parseFilter(filter)),
  ...(sort && { sort }),
  ...(at !== undefined && { at }),
});

async function loadPages(
  client: Client,
  table: TableView,
  query: Query,
  onPage: (list: readonly NetworkEntity[], done: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const list: NetworkEntity[] = [];
  let cursor: string | undefined;
  do {
    const limit = cursor === undefined ? FIRST_PAGE_ROWS : PAGE_ROWS;
    const page = await loadPage(client, table, { ...query, limit, cursor }, signal);
    for (const entity of page.entities) list.push(entity);
    cursor = page.next;
    onPage(list, cursor === undefined);
  } while (cursor !== undefined);
}

interface Page {
  readonly entities: NetworkEntity[];
  readonly next: string | undefined;
}

async function loadPage(client: Client, table: TableView, query: Query, signal: AbortSignal): Promise<Page> {
  switch (table) {
    case "devices": {
      const { items, next } = await client.list(table, query, { signal });
      return { entities: items.map((value) => ({ resource: table, value })), next };
    }
    case "links": {
      const { items, next } = await client.list(table, query, { signal });
      return { entities: items.map((value) => ({ resource: table, value })), next };
    }
    case "hosts": {
      const { items, next } = await client.list(table, query, { signal });
      return { entities: items.map((value) => ({ resource: table, value })), next };
    }
  }
}
