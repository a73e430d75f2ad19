/** One page of a list: selects, sorts and cuts, and returns where the next page begins. */
import type { Kind } from "../model/ids.ts";
import type { EncodedValue } from "../view/collection.ts";
import type { Cursor } from "./cursor.ts";
import type { FilteredState } from "./filtered-state.ts";
import type { Query } from "./query.ts";
import { select, sortItems } from "./select.ts";

export interface ListPage {
  readonly items: Iterable<EncodedValue>;
  /** `Cursor.after` of the next page; undefined on the last page. */
  readonly nextAfter: Cursor["after"] | undefined;
}

/** Without `limit` the page is the whole rest of the list, and its items are produced while the caller iterates. */
export function selectPage(
  { state, filters }: FilteredState,
  kind: Kind,
  { limit, sort }: Query,
  after: Cursor["after"] | undefined,
): ListPage {
  const isSorted = sort.length > 0;
  const items = isSorted
    ? sortItems(kind, select(state, kind, filters(kind)), sort).slice(Number(after ?? 0))
    : select(state, kind, filters(kind), String(after ?? ""));
  if (limit === undefined) return { items, nextAfter: undefined };
  const page: EncodedValue[] = [];
  let hasMore = false;
  for (const item of items) {
    hasMore = page.length === limit;
    if (hasMore) break;
    page.push(item);
  }
  if (!hasMore) return { items: page, nextAfter: undefined };
  const nextAfter = isSorted ? Number(after ?? 0) + page.length : (page.at(-1)?.id ?? "");
  return { items: page, nextAfter };
}
