/**
 * The rows of a table: asked of the service with the person's own filter and order, page after page, all of one
 * revision. The first page is small so that something stands there at once.
 */
import type { Client, Query } from "../../client/client.ts";
import type { NetworkEntity } from "../network.ts";
import type { TableView } from "../state.ts";

export interface RowsEvents {
  /** More rows are there; `done` with the last. */
  grew(done: boolean): void;
  failed(error: unknown): void;
}

const FIRST_PAGE = 200;
const PAGE = 10_000;

export function loadRows(
  client: Client,
  table: TableView,
  query: Query,
  events: RowsEvents,
  signal: AbortSignal,
): { readonly list: NetworkEntity[] } {
  const list: NetworkEntity[] = [];
  void fetchAll(client, table, query, list, events, signal).catch((error: unknown) => {
    if (!signal.aborted) events.failed(error);
  });
  return { list };
}

async function fetchAll(
  client: Client,
  table: TableView,
  query: Query,
  list: NetworkEntity[],
  events: RowsEvents,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const limit = cursor === undefined ? FIRST_PAGE : PAGE;
    const page = await fetchPage(client, table, { ...query, limit, cursor }, signal);
    for (const entry of page.entries) list.push(entry);
    cursor = page.next;
    events.grew(cursor === undefined);
  } while (cursor !== undefined);
}

interface Page {
  readonly entries: NetworkEntity[];
  readonly next: string | undefined;
}

async function fetchPage(client: Client, table: TableView, query: Query, signal: AbortSignal): Promise<Page> {
  switch (table) {
    case "devices": {
      const { items, next } = await client.list(table, query, { signal });
      return { entries: items.map((value) => ({ resource: table, value })), next };
    }
    case "links": {
      const { items, next } = await client.list(table, query, { signal });
      return { entries: items.map((value) => ({ resource: table, value })), next };
    }
    case "hosts": {
      const { items, next } = await client.list(table, query, { signal });
      return { entries: items.map((value) => ({ resource: table, value })), next };
    }
  }
}
