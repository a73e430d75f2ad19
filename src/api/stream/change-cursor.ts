/**
 * What one stream has to say, and in which order: the collection as it is (unless it resumes), then every change.
 *
 * A follower is a position in the shared history, not a queue. `next` gives the next piece of text, an empty text when
 * there is nothing to say for now, or `overflow` when it has fallen out of the ring of recent changes. While it catches
 * up from the log (it resumed from long ago) it cannot fall out: the log has everything.
 */
import type { Batch } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import type { Filter } from "../../query/filter.ts";
import type { Query } from "../../query/parse-query.ts";
import { select } from "../../query/select.ts";
import type { History } from "../../view/history.ts";
import type { NetworkState } from "../../view/view.ts";
import { differences, scopeOf } from "../reads/changes.ts";
import {
  type FilteredState,
  filteredStateOf,
  filteredStateOrEmpty,
  type ReadContext,
} from "../reads/read-context.ts";
import { batchRecords, changeRecords, snapshotRecord, syncedRecord } from "./sse.ts";

/** About how much text one piece holds, and how many batches are looked at for it at most. */
const PIECE = 65_536;
const MAX_BATCHES = 256;

export interface ChangeCursor {
  /** The revision the reader has when it has all pieces so far. */
  readonly revision: number;
  next(): string | "overflow";
  /** Whether there is more at hand though the last piece was empty: what was looked at passed no filter. */
  readonly behind: boolean;
  /** Whether it can no longer go on from where it is. */
  readonly lost: boolean;
}

export function createChangeCursor(
  context: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since?: number,
): ChangeCursor {
  return query.around
    ? new NeighbourhoodCursor(context, kind, query, since)
    : new LogCursor(context, kind, query, since);
}

/** The collection as it is now, as pieces; what it reads is settled when it is made, and shared with the view. */
function snapshotPieces(
  { reading, filters }: FilteredState,
  scope: readonly Kind[],
  now: NetworkState,
): Iterator<string> {
  const { revision } = reading;
  const synced = syncedRecord(now);
  const parts = scope.map((kind) => ({ kind, matches: select(reading, kind, filters(kind)) }));
  function* pieces(): Generator<string> {
    let text = "";
    for (const { kind, matches } of parts) {
      for (const match of matches) {
        text += snapshotRecord(kind, revision, match.text);
        if (text.length < PIECE) continue;
        yield text;
        text = "";
      }
    }
    yield text + synced;
  }
  return pieces();
}

class LogCursor implements ChangeCursor {
  revision: number;
  readonly #history: History;
  readonly #scope: readonly Kind[];
  readonly #filters: readonly Filter[];
  #snapshot: Iterator<string> | undefined;
  #catchingUp: Iterator<Batch> | undefined;

  constructor(
    { view, history }: ReadContext,
    kind: Kind | undefined,
    query: Query,
    since: number | undefined,
  ) {
    this.#history = history;
    this.#scope = scopeOf(kind);
    this.#filters = query.filters;
    this.revision = since ?? view.revision;
    if (since === undefined) this.#snapshot = snapshotPieces(filteredStateOf(view, query), this.#scope, view);
    else if (!history.holds(since)) this.#catchingUp = history.changes(since)[Symbol.iterator]();
  }

  get behind(): boolean {
    return this.#catchingUp !== undefined || this.revision < this.#history.view.revision;
  }

  get lost(): boolean {
    return !this.#catchingUp && !this.#history.holds(this.revision);
  }

  next(): string | "overflow" {
    if (this.#snapshot) {
      const { value, done } = this.#snapshot.next();
      if (!done) return value;
      this.#snapshot = undefined;
    }
    if (this.#catchingUp) {
      const from = this.revision;
      const text = this.#take(this.#catchingUp);
      if (this.revision > from) return text;
      // The log's end has moved on while it was read: go on from where it was, in the ring or in the log again.
      this.#catchingUp = undefined;
      if (!this.#history.holds(from)) return this.#catchUp(from);
    }
    const recent = this.#history.recent(this.revision);
    return recent ? this.#take(recent[Symbol.iterator]()) : "overflow";
  }

  #catchUp(from: number): string | "overflow" {
    this.#catchingUp = this.#history.changes(from)[Symbol.iterator]();
    const text = this.#take(this.#catchingUp);
    return this.revision > from ? text : "overflow";
  }

  #take(batches: Iterator<Batch>): string | "overflow" {
    let text = "";
    for (let n = 0; n < MAX_BATCHES && text.length < PIECE; n++) {
      const { value, done } = batches.next();
      if (done) break;
      // What comes next was forgotten while a slow reader caught up: it must hear of the gap, not miss it.
      if (value.revision !== this.revision + 1) return "overflow";
      text += batchRecords(value, this.#scope, this.#filters);
      this.revision = value.revision;
    }
    return text;
  }
}

/**
 * A neighbourhood moves with the graph, so it is compared as a whole whenever anything changed. What it is compared
 * with are pages, which cost only what differs from now, however many streams hold them.
 */
class NeighbourhoodCursor implements ChangeCursor {
  revision: number;
  readonly behind = false;
  #begun = false;
  readonly #context: ReadContext;
  readonly #kind: Kind | undefined;
  readonly #query: Query;
  #known: FilteredState;
  #snapshot: Iterator<string> | undefined;

  constructor(context: ReadContext, kind: Kind | undefined, query: Query, since: number | undefined) {
    const { view, history } = context;
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.revision = since ?? view.revision;
    if (since === undefined) {
      this.#known = { ...filteredStateOf(view, query), reading: history.frozen(view.revision) };
      this.#snapshot = snapshotPieces(this.#known, scopeOf(kind), view);
    } else {
      // Whoever resumes may have heard already that what it asks about is gone: it waits for it to come again.
      this.#known = filteredStateOrEmpty(history.frozen(since), query);
    }
  }

  get lost(): boolean {
    return this.#begun && !this.#context.history.holds(this.revision);
  }

  next(): string | "overflow" {
    if (this.lost) return "overflow";
    this.#begun = true;
    if (this.#snapshot) {
      const { value, done } = this.#snapshot.next();
      if (!done) return value;
      this.#snapshot = undefined;
    }
    const { view, history } = this.#context;
    if (view.revision === this.revision) return "";
    const now = filteredStateOrEmpty(history.frozen(view.revision), this.#query, view.graph);
    const changes = [...differences(this.#known, now, this.#kind)];
    this.#known = now;
    this.revision = now.reading.revision;
    return changeRecords(changes, this.revision, now.reading.time);
  }
}
