/**
 * Fetches the pages of a list and joins them into one body. `limit` is the page size; all pages have the same revision.
 * How pages are joined depends on the format: lines are appended, a CSV header is not repeated, and arrays are merged.
 */
import type { Client } from "../client/client.ts";
import type { Query } from "../client/types.ts";
import { valueAt } from "./columns.ts";

/** Yields the response of each page, in order, until a response names no next page. `path` has encoded segments. */
export async function* fetchPages(
  client: Client,
  path: string,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<Response> {
  let cursor: string | undefined;
  do {
    const response = await client.raw(path, cursor === undefined ? query : { ...query, cursor }, { signal });
    cursor = nextCursor(response);
    yield response;
  } while (cursor !== undefined);
}

const nextCursor = (response: Response): string | undefined =>
  /[?&]cursor=([^&>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];

/**
 * Yields all pages as one body. A body that is not a list (topology, changes) has one page and is passed on unchanged.
 * `listKey` is the member of a JSON body that holds the list. `headers` is false to leave out the header of CSV.
 */
export async function* joinPages(
  pages: AsyncIterable<Response>,
  listKey: string | undefined,
  format: string,
  headers: boolean,
): AsyncGenerator<Uint8Array> {
  if (format === "json") yield* joinJsonPages(pages, listKey);
  else if (format === "prometheus") yield* joinJsonPages(pages, undefined);
  else {
    let withHeader = headers;
    for await (const response of pages) {
      yield* format === "csv" && !withHeader ? withoutFirstLine(response) : (response.body ?? []);
      withHeader = false;
    }
  }
}

/** `key` is the member that holds the list; undefined when the body is the list. */
async function* joinJsonPages(
  pages: AsyncIterable<Response>,
  key: string | undefined,
): AsyncGenerator<Uint8Array> {
  const [open, close] = key === undefined ? ["[", "]"] : [`{${JSON.stringify(key)}:[`, "]}"];
  let isFirst = true;
  for await (const response of pages) {
    const isLast = nextCursor(response) === undefined;
    if (isFirst && isLast) {
      yield* response.body ?? [];
      return;
    }
    const body: unknown = await response.json();
    const items = key === undefined ? body : valueAt(body, key);
    const text = Array.isArray(items) ? items.map((item) => JSON.stringify(item)).join(",") : "";
    const before = isFirst ? open : text === "" ? "" : ",";
    yield encodeText(before + text + (isLast ? close : ""));
    isFirst = false;
  }
}

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* withoutFirstLine(response: Response): AsyncGenerator<Uint8Array> {
  let inFirstLine = true;
  for await (const chunk of response.body ?? []) {
    const lineEnd = inFirstLine ? chunk.indexOf(0x0a) : -1;
    if (inFirstLine && lineEnd < 0) continue;
    inFirstLine = false;
    yield chunk.subarray(lineEnd + 1);
  }
}
