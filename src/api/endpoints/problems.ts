/**
 * The representation of what is wrong with the network. The list depends on the revision, on the time, because some problems
 * are listed for a limited one, and on how much history the node has. So its digest is a part of the key, of the version and
 * of a cursor: a page is of the list that the first one was of, or of none.
 */
import type { Format } from "../../formats/formats.ts";
import { mapPaced, type Paced, pausing, type Steps } from "../../lib/steps.ts";
import { decodeCursor, encodeCursor } from "../../query/cursor.ts";
import { badParameter, QueryFault } from "../../query/fault.ts";
import type { ListedProblem, ProblemList } from "../../query/problems/problem-list.ts";
import type { Problems } from "../../query/problems/problems.ts";
import { findFilterAmbiguity, selectProblems } from "../../query/problems/select-problems.ts";
import type { Query } from "../../query/query.ts";
import { resolveMoment } from "../../query/revision.ts";
import type { NetworkState } from "../../view/view.ts";
import { problemOf, throwIfFault } from "../response/query-problem.ts";
import type { Content, Representation } from "../response/representation.ts";
import { jsonList } from "./json-list.ts";
import { nextTarget } from "./list.ts";
import type { RequestContext } from "./read-context.ts";

const PROBLEMS_PER_STEP = 200;
/** No list has it. */
const NO_VERSION = -1;

/** The list that a page is of, and the number of problems before it. */
interface Place {
  readonly list: ProblemList;
  readonly after: number;
}

/** `target` is the request target: the `Link` to the next page repeats it. */
export function* problemsRepresentation(
  context: RequestContext,
  query: Query,
  { contentType }: Format,
  target: string,
): Steps<Representation> {
  if (query.since !== undefined)
    throw problemOf(badParameter("since", "exists here on the stream only; give format=events too."));
  const { history, view, log, dialect, problems, memory } = context;
  const scope = `problems ${query.fingerprint}`;
  const { list, after } = yield* placeOf(context, query, scope);
  const { revision, digest } = list;
  const isNow = query.at === undefined && query.cursor === undefined;
  const isPage = query.limit !== undefined || query.cursor !== undefined;
  const state = isNow ? view.capture() : yield* history.stateAt(revision);
  if (!isNow) memory.hold(state);
  throwIfFault(findFilterAmbiguity(query, state));
  const selected = yield* selectProblems(list, query, state);
  const info = {
    key: `${dialect.keyPrefix}${scope} ${query.limit ?? ""} ${query.cursor ?? ""} ${digest}`,
    version: revision,
    currentVersion: isNow ? followVersion(problems, revision, digest) : undefined,
    revision,
    isPage,
    contentType,
  };
  return {
    info,
    render(): Content {
      const end = query.limit === undefined ? selected.problems.length : after + query.limit;
      const counts = JSON.stringify(Object.fromEntries(selected.counts));
      const open = '{"problems":[';
      const items = textsOf(selected.problems.slice(after, end));
      if (end >= selected.problems.length) return { chunks: jsonList(open, items, `],"counts":${counts}}`) };
      const next = encodeCursor(
        { revision, after: `${problems.momentOf(list)} ${end} ${digest}` },
        scope,
        log.signingKey,
      );
      const close = `],"counts":${counts},"next":${JSON.stringify(next)}}`;
      return {
        chunks: jsonList(open, items, close),
        headers: { Link: `<${nextTarget(target, next)}>; rel="next"` },
      };
    },
  };
}

const textsOf = (problems: readonly ListedProblem[]): Paced<string> =>
  mapPaced(pausing(problems, PROBLEMS_PER_STEP), ({ text }) => text);

/** Made apart from the representation, which it must not refer to. */
const followVersion = (problems: Problems, revision: number, digest: string) => (): number =>
  problems.isNewest({ revision, digest }) ? revision : NO_VERSION;

function* placeOf(
  { history, log, problems, memory }: RequestContext,
  query: Query,
  scope: string,
): Steps<Place> {
  const hold = (state: NetworkState) => memory.hold(state);
  if (query.cursor !== undefined) {
    const cursor = throwIfFault(decodeCursor(query.cursor, scope, log.signingKey));
    const [time, after, digest] = String(cursor.after).split(" ");
    if (!history.resolve(cursor.revision).ok) throw problemOf(expired(cursor.revision));
    const list = yield* problems.at(cursor.revision, Number(time), hold);
    if (list.digest !== digest) throw problemOf(expired(cursor.revision));
    return { list, after: Number(after) };
  }
  if (query.at !== undefined) {
    const { revision, time } = throwIfFault(resolveMoment(history, query.at, problems.now()));
    return { list: yield* problems.at(revision, time, hold), after: 0 };
  }
  return { list: yield* problems.newest(), after: 0 };
}

const expired = (revision: number): QueryFault =>
  new QueryFault(
    "cursor-expired",
    "cursor",
    `The list of this cursor is of revision ${revision}, and that list is no longer kept here; begin again without the cursor.`,
  );
