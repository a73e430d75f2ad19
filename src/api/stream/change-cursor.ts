/**
 * The position of one subscriber in the change history, and the text it has to be sent next: first the collection as it
 * is (unless the subscriber resumes), then every change.
 *
 * A cursor is a revision, not a queue: batches stay in the ring that all subscribers share. A cursor that falls out of
 * the ring overflows. While it reads older batches from the log (it resumed from an old revision) it cannot overflow
 * that way, because the log holds all of them.
 */
import { runToEnd, withoutPauses } from "../../lib/steps.ts";
import type { Batch } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import { changeScope, diffStates } from "../../query/changes.ts";
import type { Filter } from "../../query/filter.ts";
import { type FilteredState, filterState, filterStateOrEmpty } from "../../query/filtered-state.ts";
import type { Query } from "../../query/query.ts";
import { select } from "../../query/select.ts";
import type { History } from "../../view/history.ts";
import type { NetworkState } from "../../view/view.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { throwIfFault } from "../query-problem.ts";
import type { RequestContext } from "../reads/read-context.ts";
import { batchRecords, changeRecords, snapshotRecord, syncedRecord } from "./sse.ts";

/** A chunk of text is cut when it has this many characters, or when this many batches were read for it. */
const CHUNK_CHARS = 65_536;
const MAX_BATCHES_PER_CHUNK = 256;

export interface ChangeCursor {
  /** The revision that the subscriber has once it received all text so far. */
  readonly revision: number;
  /** The next text; empty when nothing new matches; "overflow" when the cursor fell out of the ring. */
  next(): string | "overflow";
  /** Whether there are batches left to read. Tells an empty text apart from the end of the history. */
  readonly isBehind: boolean;
  /** Whether the batches after `revision` are no longer in the ring. */
  readonly hasOverflowed: boolean;
}

/** `since`: the revision to resume from; without it the snapshot comes first. */
export function createChangeCursor(
  context: RequestContext,
  kind: Kind | undefined,
  query: Query,
  since?: number,
): ChangeCursor {
  return query.around
    ? new NeighbourhoodCursor(context, kind, query, since)
    : new LogCursor(context, kind, query, since);
}

/** The state is captured, so that the snapshot is of one revision; it is rendered while the subscriber reads. */
function renderSnapshot(
  { state, filters }: FilteredState,
  scope: readonly Kind[],
  current: NetworkState,
  dialect: Dialect,
): Iterator<string> {
  const { revision } = state;
  const synced = syncedRecord(current);
  const selections = scope.map((kind) => ({
    kind,
    items: withoutPauses(select(state, kind, filters(kind))),
  }));
  function* chunks(): Generator<string> {
    let text = "";
    for (const { kind, items } of selections) {
      for (const item of items) {
        text += snapshotRecord(kind, revision, dialect.entity(kind, item.text));
        if (text.length < CHUNK_CHARS) continue;
        yield text;
        text = "";
      }
    }
    yield text + synced;
  }
  return chunks();
}

class LogCursor implements ChangeCursor {
  revision: number;
  readonly #history: History;
  readonly #scope: readonly Kind[];
  readonly #filters: readonly Filter[];
  readonly #dialect: Dialect;
  #snapshot: Iterator<string> | undefined;
  /** Batches that are read from the log because the ring no longer holds them. */
  #logBatches: Iterator<Batch> | undefined;

  constructor(
    { view, history, dialect }: RequestContext,
    kind: Kind | undefined,
    query: Query,
    since: number | undefined,
  ) {
    this.#history = history;
    this.#scope = changeScope(kind);
    this.#filters = query.filters;
    this.#dialect = dialect;
    this.revision = since ?? view.revision;
    if (since === undefined) {
      const now = view.capture();
      const filtered = throwIfFault(runToEnd(filterState(now, query)));
      this.#snapshot = renderSnapshot(filtered, this.#scope, now, dialect);
    } else if (!history.ringHolds(since)) this.#logBatches = withoutPauses(history.batches(since));
  }

  get isBehind(): boolean {
    return this.#logBatches !== undefined || this.revision < this.#history.view.revision;
  }

  get hasOverflowed(): boolean {
    return !this.#logBatches && !this.#history.ringHolds(this.revision);
  }

  next(): string | "overflow" {
    if (this.#snapshot) {
      const { value, done } = this.#snapshot.next();
      if (!done) return value;
      this.#snapshot = undefined;
    }
    if (this.#logBatches) {
      const from = this.revision;
      const text = this.#renderBatches(this.#logBatches);
      if (this.revision > from) return text;
      // The log was read to the end it had at the start. Go on in the ring, or in the log again.
      this.#logBatches = undefined;
      if (!this.#history.ringHolds(from)) return this.#readLogAgain(from);
    }
    const recent = this.#history.recentBatches(this.revision);
    return recent ? this.#renderBatches(recent[Symbol.iterator]()) : "overflow";
  }

  #readLogAgain(from: number): string | "overflow" {
    this.#logBatches = withoutPauses(this.#history.batches(from));
    const text = this.#renderBatches(this.#logBatches);
    return this.revision > from ? text : "overflow";
  }

  #renderBatches(batches: Iterator<Batch>): string | "overflow" {
    let text = "";
    for (let count = 0; count < MAX_BATCHES_PER_CHUNK && text.length < CHUNK_CHARS; count++) {
      const { value, done } = batches.next();
      if (done) break;
      // The next batch was compacted away while the subscriber was slow. It must not miss a change unnoticed.
      if (value.revision !== this.revision + 1) return "overflow";
      text += batchRecords(value, this.#scope, this.#filters, this.#dialect);
      this.revision = value.revision;
    }
    return text;
  }
}

/**
 * A neighbourhood changes with the graph, so its states are compared as a whole after each change. The state before is
 * immutable pages, most of which it shares with the view, so that many streams cost little memory.
 */
class NeighbourhoodCursor implements ChangeCursor {
  revision: number;
  readonly isBehind = false;
  #hasStarted = false;
  readonly #context: RequestContext;
  readonly #kind: Kind | undefined;
  readonly #query: Query;
  /** The state at `revision`. */
  #previous: FilteredState;
  #snapshot: Iterator<string> | undefined;

  constructor(context: RequestContext, kind: Kind | undefined, query: Query, since: number | undefined) {
    const { view, history } = context;
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.revision = since ?? view.revision;
    if (since === undefined) {
      const now = view.capture();
      this.#previous = throwIfFault(runToEnd(filterState(now, query)));
      this.#snapshot = renderSnapshot(this.#previous, changeScope(kind), now, context.dialect);
    } else {
      // A subscriber that resumes may have seen that the centre was removed, and waits until it is added again.
      this.#previous = runToEnd(filterStateOrEmpty(runToEnd(history.stateAt(since)), query));
    }
  }

  get hasOverflowed(): boolean {
    return this.#hasStarted && !this.#context.history.ringHolds(this.revision);
  }

  next(): string | "overflow" {
    if (this.hasOverflowed) return "overflow";
    this.#hasStarted = true;
    if (this.#snapshot) {
      const { value, done } = this.#snapshot.next();
      if (!done) return value;
      this.#snapshot = undefined;
    }
    const { view } = this.#context;
    if (view.revision === this.revision) return "";
    const current = runToEnd(filterStateOrEmpty(view.capture(), this.#query));
    const changes = [...withoutPauses(diffStates(this.#previous, current, this.#kind))];
    this.#previous = current;
    this.revision = current.state.revision;
    return changeRecords(changes, this.revision, current.state.time, this.#context.dialect);
  }
}
