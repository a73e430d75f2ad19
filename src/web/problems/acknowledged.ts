/**
 * The problems that the reader has acknowledged, kept in the browser and shared by its windows. An entry is the id of a
 * problem and its `since`: a problem that was gone and is back has another `since`, so that it is shown again.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { loadText, saveText } from "../data/storage.ts";

const STORAGE_KEY = "gazetteer.acknowledged";
/** About 100 bytes each: the storage of a browser also has arrangements and views. */
export const MAX_ACKNOWLEDGED = 5000;

type Identity = Pick<NetworkProblem, "id" | "since">;
/** `since` by id, the oldest entry first. */
type Entries = ReadonlyMap<string, string>;

export interface Acknowledged {
  /** Says whether a problem is acknowledged. Of a long list, its value is read once for all. */
  readonly test: ReadonlySignal<(problem: Identity) => boolean>;
  /** Subscribes the caller. */
  has(problem: Identity): boolean;
  set(problems: readonly Identity[], acknowledged: boolean): void;
}

/** `listed`: the ids of problems that the page has, whose entries are dropped last. */
export function createAcknowledged(listed: () => ReadonlySet<string>): Acknowledged {
  const entries = signal(parseEntries(loadText(STORAGE_KEY)));
  addEventListener("storage", (event) => {
    if (event instanceof StorageEvent && event.key === STORAGE_KEY)
      entries.value = parseEntries(event.newValue ?? undefined);
  });
  const test = computed(() => {
    const sinceById = entries.value;
    if (sinceById.size === 0) return () => false;
    return ({ id, since }: Identity) => sinceById.get(id) === since;
  });
  return {
    test,
    has: (problem) => test.value(problem),
    set(problems, acknowledged) {
      entries.value = changedEntries(entries.peek(), problems, acknowledged, listed);
      saveText(STORAGE_KEY, JSON.stringify([...entries.peek()]));
    },
  };
}

/**
 * `problems` are worst first, and their entries are made in the opposite order: when there are too many, those of the least
 * bad are dropped before those of worse ones.
 */
export function changedEntries(
  entries: Entries,
  problems: readonly Identity[],
  acknowledged: boolean,
  listed: () => ReadonlySet<string>,
): Entries {
  const next = new Map(entries);
  for (const { id } of problems) next.delete(id);
  if (!acknowledged) return next;
  if (next.size + problems.length > MAX_ACKNOWLEDGED) {
    const kept = listed();
    dropOldest(next, MAX_ACKNOWLEDGED - problems.length, (id) => !kept.has(id));
  }
  for (const { id, since } of problems.toReversed()) next.set(id, since);
  dropOldest(next, MAX_ACKNOWLEDGED, () => true);
  return next;
}

function dropOldest(entries: Map<string, string>, maxSize: number, mayDrop: (id: string) => boolean): void {
  for (const id of entries.keys()) {
    if (entries.size <= maxSize) return;
    if (mayDrop(id)) entries.delete(id);
  }
}

/** Ignores what it cannot parse: another version of the page may have written it. */
export function parseEntries(text: string | undefined): Entries {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return new Map(Array.isArray(value) ? value.filter(isEntry).slice(-MAX_ACKNOWLEDGED) : []);
  } catch {
    return new Map();
  }
}

const isEntry = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
