/** One page of a list: selects, sorts and limits the entities, and returns where the next page begins. */
import type { Paced, Steps } from "../lib/steps.ts";
import type { Kind } from "../model/ids.ts";
import type { EncodedValue } from "../view/collection.ts";
import type { CountBytes } from "./count-bytes.ts";
import type { Cursor } from "./cursor.ts";
import type { FilteredState } from "./filtered-state.ts";
import { selectEntities } from "./missing.ts";
import type { ParsedQuery } from "./query.ts";
import { entitiesOf, sortedIds } from "./sort.ts";

export interface ListPage {
  readonly items: Paced<EncodedValue>;
  /** `Cursor.after` of the next page; undefined on the last page. */
  readonly nextAfter: Cursor["after"] | undefined;
}

/** The page of a list with `sort` or `limit`; other lists use `selectEntities`. Without `limit` the page is the whole rest. */
export function* selectPage(
  filtered: FilteredState,
  kind: Kind,
  { limit, sort }: ParsedQuery,
  after: Cursor["after"] | undefined,
  count: CountBytes,
): Steps<ListPage> {
  if (sort.length > 0) return yield* sortedPage(filtered, kind, sort, limit, Number(after ?? 0), count);
  const items = selectEntities(filtered, kind, String(after ?? ""));
  const page: EncodedValue[] = [];
  for (const item of items) {
    if (item === undefined) yield;
    else if (limit === undefined || page.length < limit) {
      page.push(item);
      count(item.text.length);
    } else return { items: page, nextAfter: page.at(-1)?.id ?? "" };
  }
  return { items: page, nextAfter: undefined };
}

function* sortedPage(
  filtered: FilteredState,
  kind: Kind,
  sort: ParsedQuery["sort"],
  limit: number | undefined,
  from: number,
  count: CountBytes,
): Steps<ListPage> {
  // One id more than the page has is selected, which shows whether there is a next page.
  const max = limit === undefined ? undefined : from + limit + 1;
  const ids = yield* sortedIds(filtered.state, kind, selectEntities(filtered, kind), sort, count, max);
  const hasMore = limit !== undefined && ids.length > from + limit;
  if (hasMore) ids.pop();
  return { items: entitiesOf(filtered, kind, ids, from), nextAfter: hasMore ? from + limit : undefined };
}
