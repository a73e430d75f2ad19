/**
 * Positions on the stream of problems. Each list is compared with the previous one as a whole, because one change may change
 * what many problems cut off. A list also changes with time, while the revision stays the same.
 */
import { COST, onlyPausing, type Paced, Pause, type Steps } from "../../lib/steps.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { ListedProblem, ProblemList } from "../../query/problems/problem-list.ts";
import type { ListVersion } from "../../query/problems/problems.ts";
import { findFilterAmbiguity, selectProblems } from "../../query/problems/select-problems.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import type { RequestContext } from "../endpoints/read-context.ts";
import { throwIfFault } from "../response/problem.ts";
import { ChangeCursor, type StreamStart } from "./change-cursor.ts";
import type { ChunkOrOverflow, ChunkPosition, SharedChunks } from "./shared-chunks.ts";
import { CHUNK_CHARS, encodeText, idLine } from "./sse.ts";
import { selectionOf } from "./stream-topic.ts";

type Chunks = Generator<ChunkOrOverflow | undefined, void, void>;

/** Bytes counted for each problem that a position holds, in addition to its text. */
const PROBLEM_BYTES = 1000;

interface Topic {
  readonly key: string;
  readonly query: ParsedQuery;
  readonly context: Pick<RequestContext, "history" | "problems" | "view">;
}

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
  const { history, problems, view, dialect, memory } = context;
  const topic = {
    key: `${dialect.keyPrefix}problems ${selectionOf(query)}`,
    query,
    context: { history, problems, view },
  };
  if (typeof start !== "number") {
    if (start === undefined) throwIfFault(findFilterAmbiguity(query, view.capture()));
    const current = yield* matching(topic, yield* problems.newest());
    // The list stays in memory until it is sent, even if there are newer lists by then.
    memory.add(current.bytes);
    return new ChangeCursor(history, chunks, snapshotPosition(topic, current, 0));
  }
  const list = yield* problems.at(start, history.timeOf(start), (state) => memory.hold(state));
  const previous = yield* matching(topic, list);
  return new ChangeCursor(history, chunks, changesPosition(topic, previous));
}

function* matching({ query, context }: Topic, list: ProblemList): Steps<Matching> {
  const selected = yield* selectProblems(list, query, context.view.capture());
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

const positionOf = (
  { key }: Topic,
  { revision, digest, bytes }: Matching,
  part: string,
): Omit<ChunkPosition, "open"> => ({
  key: `${key} ${revision}.${digest} ${part}`,
  revision,
  isPartial: part !== "",
  bytes,
});

/** The position after the first `sent` problems of the snapshot. */
const snapshotPosition = (topic: Topic, current: Matching, sent: number): ChunkPosition => ({
  ...positionOf(topic, current, `snapshot ${sent}`),
  open: () => snapshotChunks(topic, current, sent),
});

/** The position of a client that has the list `previous`. */
const changesPosition = (topic: Topic, previous: Matching): ChunkPosition => ({
  ...positionOf(topic, previous, ""),
  isBehind: () => topic.context.problems.isBehind(previous),
  open: () => changeChunks(topic, previous),
});

/** The position after the first `sent` changes from `previous` to `current`. */
const partialPosition = (
  topic: Topic,
  previous: Matching,
  current: Matching,
  sent: number,
): ChunkPosition => ({
  ...positionOf(topic, previous, `to ${current.revision}.${current.digest} ${sent}`),
  open: () => diffChunks(topic, previous, current, sent),
});

function* snapshotChunks(topic: Topic, current: Matching, alreadySent: number): Chunks {
  const { revision, time, problems } = current;
  let text = "";
  let sent = 0;
  const pause = new Pause();
  for (const listed of problems.values()) {
    if (sent++ < alreadySent) continue;
    text += `event: snapshot\ndata: {"resource":"problems","revision":${revision},"value":${listed.text}}\n\n`;
    if (pause.due(COST.key, listed.text.length)) yield undefined;
    if (text.length < CHUNK_CHARS) continue;
    yield { bytes: encodeText(text), next: snapshotPosition(topic, current, sent) };
    text = "";
  }
  text += `${idLine(topic.context.history.log, revision)}event: synced\ndata: {"revision":${revision},"time":${time}}\n\n`;
  yield { bytes: encodeText(text), next: changesPosition(topic, current) };
}

/** Compares each list with the next one while there is a later list. */
function* changeChunks(topic: Topic, first: Matching): Chunks {
  try {
    for (let previous = first; ; ) {
      const list = yield* onlyPausing(topic.context.problems.following(previous));
      if (!list) return;
      const current = yield* onlyPausing(matching(topic, list));
      yield* diffChunks(topic, previous, current, 0);
      previous = current;
    }
  } catch (error) {
    if (!(error instanceof HistoryPruned)) throw error;
    yield "overflow";
  }
}

function* diffChunks(topic: Topic, previous: Matching, current: Matching, alreadySent: number): Chunks {
  let text = "";
  let found = 0;
  let waiting: string | undefined;
  for (const record of diffRecords(previous, current)) {
    if (record === undefined) {
      yield undefined;
      continue;
    }
    if (found++ < alreadySent) continue;
    text += waiting ?? "";
    waiting = record;
    if (text.length < CHUNK_CHARS) continue;
    yield { bytes: encodeText(text), next: partialPosition(topic, previous, current, found - 1) };
    text = "";
  }
  // Only the last record has the id, so that a client that resumes has all changes or none.
  if (waiting !== undefined) text += idLine(topic.context.history.log, current.revision) + waiting;
  yield { bytes: encodeText(text), next: changesPosition(topic, current) };
}

function* diffRecords(previous: Matching, current: Matching): Paced<string> {
  const pause = new Pause();
  for (const [id, listed] of previous.problems) {
    if (!current.problems.has(id)) yield changeRecord("removed", listed, current);
    if (pause.due(COST.key)) yield;
  }
  for (const [id, listed] of current.problems) {
    const before = previous.problems.get(id);
    if (!before) yield changeRecord("added", listed, current);
    else if (before.text !== listed.text)
      yield changeRecord("updated", listed, current, changedFields(before.problem, listed.problem));
    if (pause.due(COST.key)) yield;
  }
}

function changeRecord(
  event: "added" | "updated" | "removed",
  { text }: ListedProblem,
  { revision, time }: Matching,
  changed: readonly string[] = [],
): string {
  const more = event === "updated" ? `,"changed":${JSON.stringify(changed)}` : "";
  return `event: ${event}\ndata: {"resource":"problems","revision":${revision},"time":${time},"value":${text}${more}}\n\n`;
}

function changedFields(before: NetworkProblem, after: NetworkProblem): string[] {
  const [was, is]: Readonly<Record<string, unknown>>[] = [before, after];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(was?.[name]) !== JSON.stringify(is?.[name]));
}
