/**
 * A copy of the network in another process, kept by what the original tells: first everything there is, then every
 * change. It answers for the present as the original does, bytes and entity tags alike, and for as much of the past as
 * its ring of recent changes holds; whatever else is asked of the past throws `PastElsewhere`, and whoever asked turns
 * to the original.
 *
 * Readers see one whole revision at any time. When everything has to be told again, the copy goes on showing what it
 * had until the last of it is there; then what differs becomes one step, and who followed along has fallen out of the
 * ring, since nobody here knows what happened between.
 */
import type { Batch, Entry, Log, Marks } from "../log/log.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type BatchFeed, History, type Resolved } from "./history.ts";
import { View, versionOf } from "./view.ts";

/** What is asked is not known here, but where this is a copy of. */
export class HistoryNotHere extends Error {
  override readonly name = "PastElsewhere";

  constructor() {
    super("a copy has no past");
  }
}

/** What the original says of itself with the last of what there is. */
export interface Original {
  readonly revision: number;
  readonly time: number;
  readonly graphTime: number;
  readonly marks: Omit<Marks, "claims">;
}

export class Replica implements BatchFeed {
  readonly view = new View();
  readonly log: Log;
  readonly history: History;
  readonly #listeners = new Set<(batch: Batch) => void>();
  /** Of the revision, or of the telling, that is not whole yet. */
  #entries: Entry[] = [];
  /** Ids told so far, when there may be others that are gone. */
  #told: Set<string> | undefined;
  #whole = false;

  constructor(log: Log, ringBytes: number) {
    this.log = log;
    this.history = new RecentHistory(this, ringBytes);
  }

  onBatch(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Everything is about to be told again, from its beginning. */
  begin(): void {
    this.#entries = [];
    this.#told = new Set();
  }

  /** One thing that there is. */
  tell(kind: Kind, id: string, text: string): void {
    this.#told?.add(keyOf(kind, id));
    const before = this.view.get(kind, id);
    if (before === text) return;
    if (this.#whole) this.#entries.push({ kind, id, before: before ?? null, after: text, changed: [] });
    // Until it was whole once nobody reads it, and a million things need not be held twice.
    else this.view.change(kind, id, versionOf(kind, before), versionOf(kind, text));
  }

  /** That was everything, as of this revision. */
  told({ revision, time, graphTime, marks }: Original): void {
    for (const kind of KINDS) {
      for (const [id, text] of this.#gone(kind)) {
        this.#entries.push({ kind, id, before: text, after: null, changed: [] });
      }
    }
    this.view.apply({ revision, time, entries: this.#entries });
    this.view.adopt({ ...marks, claims: revision }, graphTime);
    this.#entries = [];
    this.#told = undefined;
    this.#whole = true;
    this.history.restart();
  }

  *#gone(kind: Kind): Generator<[id: string, text: string]> {
    const told = this.#told;
    if (!told) return;
    for (const page of this.view.pages(kind)) {
      for (const [i, id] of page.ids.entries()) {
        if (!told.has(keyOf(kind, id))) yield [id, page.value(i)];
      }
    }
  }

  /** One change of the revision that comes next; `text` is null for what is gone. */
  change(kind: Kind, id: string, text: string | null, changed: readonly string[]): void {
    this.#entries.push({ kind, id, before: this.view.get(kind, id) ?? null, after: text, changed });
  }

  /** All changes up to this revision have been told. Those between that were not told of changed nothing seen here. */
  reach(revision: number, time: number = this.view.time): void {
    if (revision <= this.view.revision) return;
    const entries = this.#entries;
    this.#entries = [];
    while (this.view.revision + 1 < revision) {
      this.#apply({ revision: this.view.revision + 1, time: this.view.time, entries: [] });
    }
    this.#apply({ revision, time, entries });
  }

  #apply(batch: Batch): void {
    this.view.apply(batch);
    for (const listener of this.#listeners) listener(batch);
  }
}

const keyOf = (kind: Kind, id: string): string => `${kind} ${id}`;

/** Knows what happened as far back as the ring goes, and the state of things only now. */
class RecentHistory extends History {
  override resolve(revision: number): Resolved {
    if (revision <= this.view.revision && this.holds(revision)) return { ok: true, revision };
    throw new HistoryNotHere();
  }

  override resolveTime(): Resolved {
    throw new HistoryNotHere();
  }
}

/** The log of a copy: its name and key are the original's, and it remembers nothing. */
export function logElsewhere(epoch: string, secret: Uint8Array): Log {
  const elsewhere = (): never => {
    throw new HistoryNotHere();
  };
  return {
    epoch,
    secret,
    append: elsewhere,
    read: elsewhere,
    snapshotBefore: elsewhere,
    writeSnapshot: elsewhere,
    revisionAt: elsewhere,
    timeOf: elsewhere,
    density: elsewhere,
    prune: elsewhere,
    facts: elsewhere,
    close: () => {},
  };
}
