/** Pages of a walk: the state that a cursor refers to, and the address of the next page. */
import Type from "typebox";
import type { Steps } from "../../lib/steps.ts";
import { type ChangedAt, type Cursor, stateOfCursor } from "../../query/cursor.ts";
import { QueryFault } from "../../query/fault.ts";
import type { NetworkState } from "../../view/view.ts";
import { throwIfFault } from "../response/problem.ts";
import type { RequestContext } from "./read-context.ts";

/** The member of a list that has the cursor of the next page. */
export const next = Type.Optional(
  Type.String({ description: "With `limit`: the cursor of the next page; absent on the last." }),
);

/** The state that a cursor refers to. Waits for it if another node, whose view is ahead, served the previous page. */
export function* stateOfPage(
  { history, awaitRevision }: RequestContext,
  cursor: Cursor,
  changedAt: ChangedAt,
): Steps<NetworkState> {
  const state = yield* stateOfCursor(history, cursor, changedAt);
  const isAhead = state instanceof QueryFault && cursor.revision > history.view.revision;
  if (!isAhead || !(yield* awaitRevision(cursor.revision))) return throwIfFault(state);
  return throwIfFault(yield* stateOfCursor(history, cursor, changedAt));
}

/** The request target with another cursor, and without `min-revision`, because the cursor contains a revision. */
export function nextTarget(target: string, cursor: string): string {
  const [path = "", queryText = ""] = target.split(/\?(.*)/s);
  const parameters = queryText
    .split("&")
    .filter((part) => part !== "" && !/^(cursor|min-revision)(=|$)/.test(part));
  return `${path}?${[...parameters, `cursor=${cursor}`].join("&")}`;
}
