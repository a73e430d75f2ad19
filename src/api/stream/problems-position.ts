/**
 * Positions on the stream of problems: in the snapshot that it begins with, and after a list of problems. A list also changes
 * with time, while the revision stays the same.
 */
import { COST, mapInSteps, type Paced, Pause, type Steps } from "../../lib/steps.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { ListedProblem, ProblemList } from "../../query/problems/problem-list.ts";
import type { ListVersion } from "../../query/problems/problems.ts";
import { findFilterAmbiguity, selectProblems } from "../../query/problems/select-problems.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { View } from "../../view/view.ts";
import type { RequestContext } from "../endpoints/read-context.ts";
import { throwIfFault } from "../response/problem.ts";
import { ChangeCursor, type StreamStart } from "./change-cursor.ts";
import { type ComparedStates, comparedPosition, recordChunks } from "./compared-states.ts";
import type { ChunkPosition, SharedChunks } from "./shared-chunks.ts";
import { changeRecord, idLine, snapshotRecord } from "./sse.ts";
import { selectionOf } from "./stream-topic.ts";

/** Bytes counted for each problem that a position holds, in addition to its text. */
const PROBLEM_BYTES = 1000;

/** The problems of one list that match, with the version of the list. */
interface Matching extends ListVersion {
  readonly time: number;
  readonly problems: ReadonlyMap<string, ListedProblem>;
  /** The memory that the problems take. */
  readonly bytes: number;
}

export function* createProblemsCursor(
  context: Pick<RequestContext, "history" | "problems" | "view" | "dialect" | "memory">,
  query: ParsedQuery,
  start: StreamStart,
  chunks: SharedChunks,
): Steps<ChangeCursor> {
  const { history, problems, view, memory } = context;
  const lists = matchingLists(context, query);
  if (typeof start !== "number") {
    if (start === undefined) throwIfFault(findFilterAmbiguity(query, view.capture()));
    const current = yield* matching(view, query, yield* problems.newest());
    // The list stays in memory until it is sent, even if there are newer lists by then.
    memory.add(current.bytes);
    return new ChangeCursor(history, chunks, snapshotPosition(lists, current, 0));
  }
  const list = yield* problems.at(start, history.timeOf(start), (state) => memory.hold(state));
  const previous = yield* matching(view, query, list);
  return new ChangeCursor(history, chunks, comparedPosition(lists, previous));
}

const matchingLists = (
  { history, problems, view, dialect }: Pick<RequestContext, "history" | "problems" | "view" | "dialect">,
  query: ParsedQuery,
): ComparedStates<Matching> => ({
  key: `${dialect.keyPrefix}problems ${selectionOf(query)}`,
  log: history.log,
  revisionOf: ({ revision }) => revision,
  idOf: ({ revision, digest }) => `${revision}.${digest}`,
  bytesOf: ({ bytes }) => bytes,
  isBehind: (previous) => problems.isBehind(previous),
  *following(previous) {
    const list = yield* problems.following(previous);
    return list && (yield* matching(view, query, list));
  },
  records: diffRecords,
});

function* matching(view: View, query: ParsedQuery, list: ProblemList): Steps<Matching> {
  const selected = yield* selectProblems(list, query, view.capture());
  const { revision, time, digest, validFrom } = list;
  const problems = new Map<string, ListedProblem>();
  let bytes = 0;
  const pause = new Pause();
  for (const listed of selected.problems) {
    if (pause.due(COST.key)) yield;
    problems.set(listed.problem.id, listed);
    bytes += PROBLEM_BYTES + listed.text.length;
  }
  return { revision, time, digest, validFrom, problems, bytes };
}

/** The position after the first `sent` problems of the snapshot. */
const snapshotPosition = (
  lists: ComparedStates<Matching>,
  current: Matching,
  sent: number,
): ChunkPosition => ({
  key: `${lists.key} ${lists.idOf(current)} snapshot ${sent}`,
  revision: current.revision,
  isPartial: true,
  bytes: current.bytes,
  open() {
    const { revision, time, problems } = current;
    const records = mapInSteps(problems.values(), COST.record, ({ text }) =>
      snapshotRecord("problems", revision, text),
    );
    const synced = `${idLine(lists.log, revision)}event: synced\ndata: {"revision":${revision},"time":${time}}\n\n`;
    const partial = (next: number) => snapshotPosition(lists, current, next);
    const finish = (last = "") => last + synced;
    return recordChunks(records, sent, partial, finish, comparedPosition(lists, current));
  },
});

function* diffRecords(previous: Matching, current: Matching): Paced<string> {
  const { revision, time } = current;
  const record = (
    event: "added" | "updated" | "removed",
    { text: value }: ListedProblem,
    changed: readonly string[] = [],
  ) => changeRecord({ event, resource: "problems", value, changed }, revision, time);
  const pause = new Pause();
  for (const [id, listed] of previous.problems) {
    if (!current.problems.has(id)) yield record("removed", listed);
    if (pause.due(COST.key)) yield;
  }
  for (const [id, listed] of current.problems) {
    const before = previous.problems.get(id);
    if (!before) yield record("added", listed);
    else if (before.text !== listed.text)
      yield record("updated", listed, changedFields(before.problem, listed.problem));
    if (pause.due(COST.key)) yield;
  }
}

function changedFields(before: NetworkProblem, after: NetworkProblem): string[] {
  const [was, is]: Readonly<Record<string, unknown>>[] = [before, after];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(was?.[name]) !== JSON.stringify(is?.[name]));
}
