/**
 * Since when an entity has a condition, such as a link being INACTIVE. An entity names the revision that last changed it,
 * and the batch of that revision has the value before, which names the one before that: so the history of one entity is read
 * without the history of the others. All entities are followed together, the latest revision first, so that a batch that
 * changed many of them is read once.
 *
 * Where history ends before the condition began, it is since the oldest change of the entity that is known.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import { type Steps, sortInSteps } from "../../lib/steps.ts";
import type { Batch } from "../../log/log.ts";
import type { Entities } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { History } from "../../view/history.ts";
import { parseStored } from "../../view/view.ts";

const MAX_REMEMBERED = 100_000;
const ENTRIES_PER_STEP = 500;

/** A condition of entities of one kind. The name is part of the key of what is remembered. */
export interface Condition<K extends Kind> {
  readonly name: string;
  readonly kind: K;
  holds(entity: Entities[K]): boolean;
}

interface Followed {
  readonly key: string;
  readonly kind: Kind;
  readonly id: string;
  readonly holds: (text: string) => boolean;
  /** The oldest value so far that has the condition. */
  revision: number;
  lastChanged: string;
  /** The revisions of its values on the way, all of which have the same answer. */
  readonly passed: number[];
}

/** Remembers what it found: it depends on the log only, as long as that is not pruned. */
export class SinceFinder {
  readonly #history: History;
  /** By condition, id and revision of the value: RFC 3339. */
  readonly #remembered = createBoundedCache<string, string>({ maxSize: MAX_REMEMBERED, sizeOf: () => 1 });
  #followed = new Map<number, Followed[]>();
  #results = new Map<string, string>();

  constructor(history: History) {
    this.#history = history;
  }

  /** The entity has the condition. `resolve` has the result afterwards. */
  add<K extends Kind>({ name, kind, holds }: Condition<K>, id: string, entity: Entities[K]): void {
    this.#follow({
      key: `${name} ${id}`,
      kind,
      id,
      holds: (text) => holds(parseStored(kind, text)),
      revision: entity.revision,
      lastChanged: entity.lastChanged,
      passed: [],
    });
  }

  #follow(followed: Followed): void {
    const { key, revision, passed } = followed;
    const known = this.#remembered.get(`${key} ${revision}`);
    passed.push(revision);
    if (known !== undefined) {
      this.#found(followed, known);
      return;
    }
    const others = this.#followed.get(revision);
    if (others) others.push(followed);
    else this.#followed.set(revision, [followed]);
  }

  #found({ key, passed }: Followed, since: string): void {
    this.#results.set(key, since);
    for (const revision of passed) this.#remembered.set(`${key} ${revision}`, since);
  }

  /** Returns the results of all that was added since the last call, by `sinceKey`. */
  *resolve(): Steps<ReadonlyMap<string, string>> {
    while (this.#followed.size > 0) {
      // What leads to an earlier revision of this list is followed with the others there.
      for (const revision of yield* sortInSteps([...this.#followed.keys()], (a, b) => b - a)) {
        const followed = this.#followed.get(revision) ?? [];
        this.#followed.delete(revision);
        const batch = yield* this.#batchOf(revision);
        if (batch) yield* this.#stepBack(followed, batch);
        else for (const each of followed) this.#found(each, each.lastChanged);
        yield;
      }
    }
    const results = this.#results;
    this.#results = new Map();
    return results;
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
    const wanted = new Map<string, Followed[]>();
    for (const each of followed) {
      const key = `${each.kind} ${each.id}`;
      wanted.set(key, [...(wanted.get(key) ?? []), each]);
    }
    let left = ENTRIES_PER_STEP;
    for (const { kind, id, before } of entries) {
      const found = wanted.get(`${kind} ${id}`);
      for (const each of found ?? []) this.#continue(each, before);
      if (found) wanted.delete(`${kind} ${id}`);
      if (--left > 0) continue;
      left = ENTRIES_PER_STEP;
      yield;
    }
    for (const rest of wanted.values()) for (const each of rest) this.#found(each, each.lastChanged);
  }

  #continue(followed: Followed, before: string | null): void {
    const earlier =
      before !== null && followed.holds(before) ? parseStored(followed.kind, before) : undefined;
    // A value that does not name an earlier revision would be followed for ever.
    if (!earlier || earlier.revision >= followed.revision) this.#found(followed, followed.lastChanged);
    else this.#follow({ ...followed, revision: earlier.revision, lastChanged: earlier.lastChanged });
  }
}

export const sinceKey = ({ name }: Pick<Condition<Kind>, "name">, id: string): string => `${name} ${id}`;
