/**
 * The representation of the problems of the network, which are not HTTP problems. The list depends on the revision, on the
 * time, because some problems are listed for a limited time, and on how much history the node has. So the key, the current
 * version and the cursor contain its digest: all pages of a walk show the same list, or the cursor is expired.
 */
import Type from "typebox";
import { PROBLEMS_FORMAT, PROBLEMS_FORMATS } from "../../formats/formats.ts";
import { COST, mapInSteps, type Paced, type Steps } from "../../lib/steps.ts";
import { NetworkProblem, ProblemCounts } from "../../model/network-problem.ts";
import { PROBLEM_KINDS } from "../../model/problem-kinds.ts";
import { badParameter, QueryFault } from "../../query/fault.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { ListedProblem, ProblemList } from "../../query/problems/problem-list.ts";
import type { Problems } from "../../query/problems/problems.ts";
import { findFilterAmbiguity, selectProblems } from "../../query/problems/select-problems.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { timeOfMoment } from "../../query/revision.ts";
import type { NetworkState } from "../../view/view.ts";
import { SECOND } from "../openapi/example-network.ts";
import { problemOf, throwIfFault } from "../response/problem.ts";
import type { Content, Representation } from "../response/representation.ts";
import { createProblemsCursor } from "../stream/problems-position.ts";
import { type Endpoint, ITEM_PARAMETERS, matchExactly } from "./endpoint.ts";
import { jsonList } from "./json-list.ts";
import { cursorOf, nextPage } from "./paging.ts";
import type { RequestContext } from "./read-context.ts";

/** A version that no list has. */
const NO_VERSION = -1;

/** The list that a page belongs to, and the number of problems before the page. */
interface Place {
  readonly list: ProblemList;
  readonly after: number;
}

const PROBLEM_EXAMPLE: NetworkProblem = {
  id: "device-unavailable:of:0000000000000002",
  severity: "critical",
  kind: "device-unavailable",
  since: "2026-11-15T01:00:00.000Z",
  resource: "devices",
  entity: SECOND,
  devices: [SECOND],
  sources: ["openflow"],
  text: "Device of:0000000000000002 is down.",
  cutOff: { devices: [SECOND], deviceCount: 1, hostCount: 0 },
  consequences: 2,
};

export const listProblems: Endpoint<object> = {
  id: "listProblems",
  tag: "Topology",
  summary: "What is wrong with the network",
  description:
    "Devices that are unavailable, links that are inactive, one-sided or lost, hosts that moved or are duplicated, conflicts, drift and stale sources, worst first, each with since when and what it cuts off.",
  readName: "problems",
  path: "/topology/problems",
  match: matchExactly("topology", "problems"),
  parameters: parameterSet(
    [
      ...(["kind", "severity", "resource", "causedBy", "q", "source", "device"] as const),
      ...(["limit", "cursor", "since"] as const),
      ...ITEM_PARAMETERS,
    ],
    "problems",
  ),
  variants: [
    {
      formats: PROBLEMS_FORMATS,
      schema: Type.Object(
        {
          problems: Type.Array(NetworkProblem, { description: "Worst first." }),
          counts: ProblemCounts,
          next: Type.Optional(
            Type.String({ description: "The cursor of the next page; absent on the last one." }),
          ),
        },
        { $id: "ProblemList" },
      ),
      example: {
        problems: [PROBLEM_EXAMPLE],
        counts: Object.fromEntries(
          PROBLEM_KINDS.map((kind) => [kind, kind === PROBLEM_EXAMPLE.kind ? 1 : 0]),
        ),
      },
      read: (context, _params, query, _format, { target }) => problemsRepresentation(context, query, target),
      stream: (context, _params, query, start) => createProblemsCursor(context, query, start, context.chunks),
    },
  ],
  openapi: { typeName: "Problems", streamSchema: Type.String() },
};

/** The representation of the list. `target` is the request target, which the `Link` to the next page repeats. */
function* problemsRepresentation(
  context: RequestContext,
  query: ParsedQuery,
  target: string,
): Steps<Representation> {
  if (query.since !== undefined)
    throw problemOf(badParameter("since", "exists here on the stream only; give format=events too."));
  const { history, view, dialect, problems, memory } = context;
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
    contentType: PROBLEMS_FORMAT.contentType,
  };
  return {
    info,
    render(): Content {
      const end = query.limit === undefined ? selected.problems.length : after + query.limit;
      const counts = JSON.stringify(Object.fromEntries(selected.counts));
      const items = textsOf(selected.problems.slice(after, end));
      const nextAfter = `${problems.momentOf(list)} ${end} ${digest}`;
      const nextCursor = end < selected.problems.length ? { revision, after: nextAfter } : undefined;
      const { member, headers } = nextPage(context, target, scope, nextCursor);
      const chunks = jsonList('{"problems":[', items, `],"counts":${counts}${member}}`);
      return headers ? { chunks, headers } : { chunks };
    },
  };
}

const textsOf = (problems: readonly ListedProblem[]): Paced<string> =>
  mapInSteps(problems, COST.key, ({ text }) => text);

/** Returns a function that returns the current version. It is created in its own scope, because it must not refer to the list. */
const followVersion = (problems: Problems, revision: number, digest: string) => (): number =>
  problems.isNewest({ revision, digest }) ? revision : NO_VERSION;

function* placeOf(context: RequestContext, query: ParsedQuery, scope: string): Steps<Place> {
  const { history, problems, memory, revisions } = context;
  const hold = (state: NetworkState) => memory.hold(state);
  const cursor = cursorOf(context, query, scope);
  if (cursor) {
    const [time, after, digest] = String(cursor.after).split(" ");
    if (!history.resolve(cursor.revision).ok) throw problemOf(expired(cursor.revision));
    const list = yield* problems.at(cursor.revision, Number(time), hold);
    if (list.digest !== digest) throw problemOf(expired(cursor.revision));
    return { list, after: Number(after) };
  }
  if (query.at !== undefined && revisions.at !== undefined) {
    const revision = revisions.at;
    const time = timeOfMoment(history, revision, query.at, problems.now());
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
