/**
 * What one stream has to say, and in which order: the collection as it is (unless it resumes), then every change.
 *
 * A follower is a position in the shared history, not a queue. `next` gives the next piece of text, an empty text when
 * there is nothing to say for now, or `overflow` when it has fallen out of the ring of recent changes. While it catches
 * up from the log (it resumed from long ago) it cannot fall out: the log has everything.
 */
import type { Batch } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import type { History } from "../../view/history.ts";
import { valuesOf } from "../../view/past.ts";
import type { Reading } from "../../view/view.ts";
import type { Filter } from "../query/filter.ts";
import type { Query } from "../query/query.ts";
import { select } from "../query/select.ts";
import { differences, scopeOf } from "../reads/changes.ts";
import { filtersOf, type ReadContext } from "../reads/context.ts";
import { batchRecords, changeRecords, snapshotRecord, syncedRecord } from "./records.ts";

/** About how much text one piece holds. */
const PIECE = 65_536;

export interface Follower {
  /** The revision the reader has when it has all pieces so far. */
  readonly revision: number;
  next(): string | "overflow";
  /** Whether it can no longer go on from where it is. */
  readonly lost: boolean;
}

export function createFollower(
  context: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since?: number,
): Follower {
  return query.around
    ? new AroundFollower(context, kind, query, since)
    : new LogFollower(context, kind, query, since);
}

/** The collection as it is now, as pieces; what it reads is fixed when it is made. */
function snapshotPieces(
  reading: Reading,
  scope: readonly Kind[],
  filters: readonly Filter[],
): Iterator<string> {
  const { revision } = reading;
  const parts = scope.map((kind) => ({
    kind,
    values:
      filters.length === 0
        ? valuesOf(reading.pages(kind))
        : [...select(reading, kind, filters)].map(idAndText),
  }));
  function* pieces(): Generator<string> {
    let text = "";
    for (const { kind, values } of parts) {
      for (const [, value] of values) {
        text += snapshotRecord(kind, revision, value);
        if (text.length < PIECE) continue;
        yield text;
        text = "";
      }
    }
    yield text + syncedRecord(revision);
  }
  return pieces();
}

const idAndText = ({ id, text }: { id: string; text: string }): [string, string] => [id, text];

class LogFollower implements Follower {
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
    if (since === undefined) this.#snapshot = snapshotPieces(view, this.#scope, this.#filters);
    else if (!history.recent(since)) this.#catchingUp = history.changes(since)[Symbol.iterator]();
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
      const text = this.#take(this.#catchingUp);
      if (text !== "") return text;
      // The log's end may have moved on while it was read: go on from where it ended, in the ring or the log again.
      const more = this.#history.recent(this.revision);
      this.#catchingUp = more ? undefined : this.#history.changes(this.revision)[Symbol.iterator]();
      if (!more) return this.next();
    }
    const recent = this.#history.recent(this.revision);
    return recent ? this.#take(recent[Symbol.iterator]()) : "overflow";
  }

  #take(batches: Iterator<Batch>): string {
    let text = "";
    while (text.length < PIECE) {
      const { value, done } = batches.next();
      if (done) break;
      text += batchRecords(value, this.#scope, this.#filters);
      this.revision = value.revision;
    }
    return text;
  }
}

/** A neighbourhood moves with the graph, so it is compared as a whole whenever anything changed. */
class AroundFollower implements Follower {
  revision: number;
  readonly lost = false;
  readonly #context: ReadContext;
  readonly #kind: Kind | undefined;
  readonly #query: Query;
  #known: Reading;
  #snapshot: Iterator<string> | undefined;

  constructor(context: ReadContext, kind: Kind | undefined, query: Query, since: number | undefined) {
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.revision = since ?? context.view.revision;
    this.#known = context.history.frozen(this.revision);
    if (since === undefined) {
      this.#snapshot = snapshotPieces(context.view, scopeOf(kind), filtersOf(context.view, query));
    }
  }

  next(): string {
    if (this.#snapshot) {
      const { value, done } = this.#snapshot.next();
      if (!done) return value;
      this.#snapshot = undefined;
    }
    const { view, history } = this.#context;
    if (view.revision === this.revision) return "";
    const now = history.frozen(view.revision);
    const changes = [...differences(this.#known, now, this.#kind, this.#query)];
    this.#known = now;
    this.revision = now.revision;
    return changeRecords(changes, now.revision, now.time);
  }
}
