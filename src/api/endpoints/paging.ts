/** Pages of a walk: the state that a cursor refers to, and the address of the next page. */
import Type from "typebox";
import type { Steps } from "../../lib/steps.ts";
import {
  type ChangedAt,
  type Cursor,
  decodeCursor,
  encodeCursor,
  stateOfCursor,
} from "../../query/cursor.ts";
import { QueryFault } from "../../query/fault.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import type { NetworkState } from "../../view/view.ts";
import { throwIfFault } from "../response/problem.ts";
import type { RequestContext } from "./read-context.ts";

/** The member of a list that has the cursor of the next page. */
export const next = Type.Optional(
  Type.String({ description: "With `limit`: the cursor of the next page; absent on the last." }),
);

/** The cursor of the request. `scope` is what the cursor belongs to. */
export const cursorOf = (
  { log }: RequestContext,
  { cursor }: ParsedQuery,
  scope: string,
): Cursor | undefined =>
  cursor === undefined ? undefined : throwIfFault(decodeCursor(cursor, scope, log.signingKey));

/** The state that a cursor refers to, or without a cursor that of `at`. */
export function* stateOfPage(
  context: RequestContext,
  cursor: Cursor | undefined,
  changedAt: ChangedAt,
): Steps<NetworkState> {
  const { history, memory, revisions } = context;
  const state = yield* cursor
    ? stateOfCursorWhenReached(context, cursor, changedAt)
    : stateAt(history, revisions.at);
  memory.hold(state);
  return state;
}

/** Waits for the state if another node, whose view is ahead, served the previous page. */
function* stateOfCursorWhenReached(
  context: RequestContext,
  cursor: Cursor,
  changedAt: ChangedAt,
): Steps<NetworkState> {
  const { history } = context;
  const state = yield* stateOfCursor(history, cursor, changedAt);
  const isAhead = state instanceof QueryFault && cursor.revision > history.view.revision;
  if (!isAhead || !(yield* context.awaitRevision(cursor.revision))) return throwIfFault(state);
  return throwIfFault(yield* stateOfCursor(history, cursor, changedAt));
}

/** How a page refers to the next one. */
interface NextPage {
  /** The last member of the JSON, with a comma before it; empty on the last page. */
  readonly member: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LAST_PAGE: NextPage = { member: "" };

/** The reference to the next page, whose cursor is given. `target` is the request target, which it repeats. */
export function nextPage(
  { log }: RequestContext,
  target: string,
  scope: string,
  cursor: Cursor | undefined,
): NextPage {
  if (!cursor) return LAST_PAGE;
  const text = encodeCursor(cursor, scope, log.signingKey);
  const headers = { Link: `<${nextTarget(target, text)}>; rel="next"` };
  return { member: `,"next":${JSON.stringify(text)}`, headers };
}

/** The request target with another cursor, and without `min-revision`, because the cursor contains a revision. */
function nextTarget(target: string, cursor: string): string {
  const [path = "", queryText = ""] = target.split(/\?(.*)/s);
  const parameters = queryText
    .split("&")
    .filter((part) => part !== "" && !/^(cursor|min-revision)(=|$)/.test(part));
  return `${path}?${[...parameters, `cursor=${cursor}`].join("&")}`;
}
