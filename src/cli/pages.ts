/**
 * A list that comes in pages, put together again: `limit` is how many are asked for at a time, and every page is of the
 * same revision. Each format has its own way to join: lines follow lines, a header is not repeated, arrays become one.
 */

import type { Client } from "../client/client.ts";
import type { Query } from "../client/types.ts";
import type { Resource } from "./client-command.ts";
import { at } from "./columns.ts";

/** The answers of all pages, in order; one, when there are no pages. */
export async function* pagesOf(client: Client, resource: Resource, query: Query): AsyncGenerator<Response> {
  let cursor: string | undefined;
  do {
    const response = await client.raw(resource, cursor === undefined ? query : { ...query, cursor });
    cursor = nextCursor(response);
    yield response;
  } while (cursor !== undefined);
}

const nextCursor = (response: Response): string | undefined =>
  /[?&]cursor=([^&>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];

/** The whole list as one body. Whatever is no list (topology, changes) is its one answer as it came. */
export async function* joinedBody(
  pages: AsyncIterable<Response>,
  resource: Resource,
  format: string,
): AsyncGenerator<Uint8Array> {
  if (format === "json" || format === "prometheus")
    yield* joinedJson(pages, format === "json" ? resource : undefined);
  else {
    let first = true;
    for await (const response of pages) {
      yield* format === "csv" && !first ? withoutHead(response) : (response.body ?? []);
      first = false;
    }
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* joinedJson(
  pages: AsyncIterable<Response>,
  key: string | undefined,
): AsyncGenerator<Uint8Array> {
  let begun = false;
  for await (const response of pages) {
    const last = nextCursor(response) === undefined;
    if (!begun && last) {
      yield* response.body ?? [];
      return;
    }
    const body: unknown = await response.json();
    const items = key === undefined ? body : at(body, key);
    const text = Array.isArray(items) ? items.map((item) => JSON.stringify(item)).join(",") : "";
    const open = key === undefined ? "[" : `{${JSON.stringify(key)}:[`;
    const comma = text === "" ? "" : ",";
    yield bytes((begun ? comma : open) + text + (last ? (key === undefined ? "]" : "]}") : ""));
    begun = true;
  }
}

/** CSV but for its first line. */
async function* withoutHead(response: Response): AsyncGenerator<Uint8Array> {
  let inHead = true;
  for await (const chunk of response.body ?? []) {
    const end = inHead ? chunk.indexOf(0x0a) : -1;
    if (inHead && end < 0) continue;
    inHead = false;
    yield chunk.subarray(end + 1);
  }
}
