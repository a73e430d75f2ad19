/**
 * Finds since when an entity has a condition, such as a link being INACTIVE. An entity has the number of the revision that
 * last changed it, and the batch of that revision has its value before, which has the revision before that. So the history
 * of one entity is read without the history of the others. All entities are traced together, the latest revision first, so
 * that a batch that changed many of them is read once.
 *
 * If the kept history begins after the condition began, the result is the time of the oldest known change of the entity.
 */
import { type BoundedCache, createBoundedCache } from "../../lib/bounded-cache.ts";
import { COST, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import type { Batch } from "../../log/log.ts";
import { type Device, type Entities, entityId } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { History } from "../../view/history.ts";
import { parseStored } from "../../view/view.ts";

const MAX_REMEMBERED = 100_000;

/** A condition of entities of one kind. The name is part of the cache key. */
export interface Condition<K extends Kind> {
  readonly name: string;
  readonly kind: K;
  holds(entity: Entities[K]): boolean;
}

/** Reads the time from the device's own field. A source may claim any number there, even one that is no time. */
export function unavailableSince({ lastUpdate, lastChanged }: Device): string {
  const time = new Date(Number(lastUpdate));
  return Number.isNaN(time.getTime()) ? lastChanged : time.toISOString();
}

interface Followed {
  readonly id: string;
  /** The revision of the oldest value so far that has the condition. */
  revision: number;
  lastChanged: string;
  /** The revisions of its values that were passed; the result is the same for all of them. */
  readonly passed: number[];
}

/** RFC 3339 times by condition, id and revision of the value. */
type Remembered = BoundedCache<string, string>;

/** Finds times and caches them. They depend only on the log, as long as that is not pruned. */
export class SinceFinder {
  readonly #history: History;
  readonly #remembered: Remembered = createBoundedCache({ maxSize: MAX_REMEMBERED, sizeOf: () => 1 });
  /** Epoch milliseconds at which each unknown device was first found, for the newest state that was read. */
  #unknown: ReadonlyMap<string, number> = new Map();
  #unknownTime = 0;

  constructor(history: History) {
    this.#history = history;
  }

  /**
   * The times by key for the unknown devices in the state of this time. The log does not have the time when claims began to
   * refer to them, so it is the time when they were first found since the start. A device that was known meanwhile gets a
   * new time.
   */
  *unknownSince(keys: readonly string[], time: number): Steps<ReadonlyMap<string, number>> {
    const since = new Map<string, number>();
    const pause = new Pause();
    for (const key of keys) {
      if (pause.due(COST.key)) yield;
      since.set(key, Math.min(this.#unknown.get(key) ?? time, time));
    }
    if (time < this.#unknownTime) return since;
    this.#unknown = since;
    this.#unknownTime = time;
    return since;
  }

  /** The times by id for these entities, which must have the condition. Several such searches may run concurrently. */
  *find<K extends Kind>(
    condition: Condition<K>,
    entities: readonly Entities[K][],
  ): Steps<ReadonlyMap<string, string>> {
    const search = new Search(this.#history, this.#remembered, condition);
    const pause = new Pause();
    for (const entity of entities) {
      search.add(entity);
      if (pause.due(COST.key)) yield;
    }
    return yield* search.run();
  }
}

class Search<K extends Kind> {
  readonly #history: History;
  readonly #remembered: Remembered;
  readonly #condition: Condition<K>;
  /** The traced entities by the revision of the value that was reached. */
  readonly #followed = new Map<number, Followed[]>();
  readonly #results = new Map<string, string>();

  constructor(history: History, remembered: Remembered, condition: Condition<K>) {
    this.#history = history;
    this.#remembered = remembered;
    this.#condition = condition;
  }

  add(entity: Entities[K]): void {
    const { revision, lastChanged } = entity;
    this.#follow({ id: entityId(entity), revision, lastChanged, passed: [] });
  }

  #follow(followed: Followed): void {
    const { id, revision, passed } = followed;
    const known = this.#remembered.get(this.#keyOf(id, revision));
    passed.push(revision);
    if (known !== undefined) {
      this.#found(followed, known);
      return;
    }
    const others = this.#followed.get(revision);
    if (others) others.push(followed);
    else this.#followed.set(revision, [followed]);
  }

  #found({ id, passed }: Followed, since: string): void {
    this.#results.set(id, since);
    for (const revision of passed) this.#remembered.set(this.#keyOf(id, revision), since);
  }

  #keyOf(id: string, revision: number): string {
    return `${this.#condition.name} ${id} ${revision}`;
  }

  *run(): Steps<ReadonlyMap<string, string>> {
    while (this.#followed.size > 0) {
      // Entities that lead to an earlier revision of this list are traced with the others there.
      for (const revision of yield* sortInSteps([...this.#followed.keys()], (a, b) => b - a)) {
        const followed = this.#followed.get(revision) ?? [];
        this.#followed.delete(revision);
        const batch = yield* this.#batchOf(revision);
        if (batch) yield* this.#stepBack(followed, batch);
        else for (const each of followed) this.#found(each, each.lastChanged);
        yield;
      }
    }
    return this.#results;
  }

  *#batchOf(revision: number): Steps<Batch | undefined> {
    const recent = this.#history.recentBatch(revision);
    if (recent) return recent;
    for (const batch of this.#history.log.read(revision - 1, revision)) {
      if (batch) return batch;
      yield;
    }
    return undefined;
  }

  *#stepBack(followed: readonly Followed[], { entries }: Batch): Steps<void> {
    const wanted = new Map(followed.map((each) => [each.id, each]));
    const pause = new Pause();
    for (const { kind, id, before } of entries) {
      const found = kind === this.#condition.kind ? wanted.get(id) : undefined;
      if (found) {
        this.#continue(found, before);
        wanted.delete(id);
      }
      if (pause.due(COST.key)) yield;
    }
    for (const rest of wanted.values()) this.#found(rest, rest.lastChanged);
  }

  #continue(followed: Followed, before: string | null): void {
    const { kind, holds } = this.#condition;
    const value = before === null ? undefined : parseStored(kind, before);
    const earlier = value && holds(value) ? value : undefined;
    // A value that does not name an earlier revision would be traced forever.
    if (!earlier || earlier.revision >= followed.revision) this.#found(followed, followed.lastChanged);
    else this.#follow({ ...followed, revision: earlier.revision, lastChanged: earlier.lastChanged });
  }
}
