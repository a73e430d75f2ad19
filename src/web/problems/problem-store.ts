/**
 * The problems of the page: the current ones, which the title and the bar always count, those of the moment that is shown,
 * which the list contains, and the acknowledgements. `sync-problems.ts` writes the lists.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { cableId } from "../../model/cable.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";
import { loadText, saveText } from "../data/browser-storage.ts";
import type { ViewState } from "../data/view-state.ts";
import { divideProblems, findFollowers, type ProblemSections } from "./problem-groups.ts";

export interface ShownProblems {
  /** The problems, worst first. */
  readonly problems: readonly NetworkProblem[];
  /**
   * The state of the list. `loading`: it has not been read yet. `waiting`: it will be read when playback pauses. `current`:
   * it is up to date. `old`: the service cannot be read now.
   */
  readonly state: "loading" | "waiting" | "current" | "old";
  /** Epoch milliseconds at which the page received the list. */
  readonly receivedMs?: number;
  /** The reason why the list is old. */
  readonly reason?: string;
}

interface ProblemSummary {
  readonly count: number;
  readonly worst: ProblemSeverity | undefined;
  /** Number of problems with the worst severity. */
  readonly worstCount: number;
}

const LOADING: ShownProblems = { problems: [], state: "loading" };
const WAITING: ShownProblems = { problems: [], state: "waiting" };

/** Whether the service has sent the list. An empty list that was not sent says nothing about the network. */
export const isRead = ({ receivedMs }: ShownProblems): boolean => receivedMs !== undefined;

export type ProblemStore = ReturnType<typeof createProblemStore>;

export function createProblemStore(state: ReadonlySignal<ViewState>) {
  const live = signal(LOADING);
  /** The problems at `state.at`. Undefined at the present and during playback. */
  const past = signal<ShownProblems | undefined>(undefined);
  const acknowledged = createAcknowledged(
    () => new Set([...live.peek().problems, ...(past.peek()?.problems ?? [])].map(({ id }) => id)),
  );
  const at = computed(() => state.value.at);
  const isPlaying = computed(() => state.value.play);
  /** The problems that the list shows. */
  const shown = computed(() => {
    if (at.value === undefined) return live.value;
    return isPlaying.value ? WAITING : (past.value ?? LOADING);
  });
  const chosenId = computed(() => state.value.problem);
  const liveProblems = computed(() => live.value.problems);
  /** The current problems that follow from no other one, by severity. */
  const liveSections = computed(() => divideProblems(liveProblems.value, acknowledged.test.value));
  const shownProblems = computed(() => shown.value.problems);
  /** The same problems of the shown list. */
  const sections = computed(() =>
    shownProblems.value === liveProblems.value
      ? liveSections.value
      : divideProblems(shownProblems.value, acknowledged.test.value),
  );
  let causes = findCauses([], () => false);
  /** The problems of lost links in the shown list. The layout uses all of them, whatever the reader has acknowledged. */
  const listedLost = sameList(() => shown.value.problems.filter(({ kind }) => kind === "link-lost"));
  return {
    live,
    past,
    shown,
    sections,
    liveSections,
    /** The problems of the shown list that follow from another one, by the id of that one. */
    followers: computed(() => findFollowers(shownProblems.value)),
    acknowledged,
    /** The problem that the map marks. Undefined when none is chosen or the chosen one is not in the shown list. */
    chosen: computed(() => {
      const wanted = chosenId.value;
      return wanted === undefined ? undefined : shown.value.problems.find(({ id }) => id === wanted);
    }),
    /**
     * The problems of lost links, which the map draws where they were. Acknowledged ones are left out, except the chosen
     * one.
     */
    lost: sameList(() =>
      listedLost.value.filter((problem) => !acknowledged.has(problem) || problem.id === chosenId.value),
    ),
    listedLost,
    /** The causes that the map marks. The object is replaced only when a cause is another one. */
    causes: computed(() => {
      const next = findCauses(shownProblems.value, acknowledged.test.value);
      if (!isSameCauses(next, causes)) causes = next;
      return causes;
    }),
    /** A number that rises whenever the user goes to a problem, even to the chosen one again. */
    visits: signal(0),
    /** The current problems that call for attention and are not acknowledged. */
    open: computed(() => summarize(liveSections.value)),
  };
}

/** The devices and cables whose faults follow from no other one and are not acknowledged. */
export interface FaultCauses {
  /** The number of devices that each device cuts off, by its id. */
  readonly devices: ReadonlyMap<string, number>;
  /** The ids of cables. */
  readonly cables: ReadonlySet<string>;
}

function findCauses(problems: readonly NetworkProblem[], isAcknowledged: AcknowledgedTest): FaultCauses {
  const devices = new Map<string, number>();
  const cables = new Set<string>();
  for (const problem of problems) {
    const { kind, entity, link, cutOff, causedBy } = problem;
    if (causedBy !== undefined || isAcknowledged(problem)) continue;
    if (kind === "device-unavailable" && entity !== undefined) devices.set(entity, cutOff.deviceCount);
    if (kind === "link-inactive" && link) cables.add(cableId(link));
  }
  return { devices, cables };
}

const isSameCauses = (p: FaultCauses, q: FaultCauses): boolean =>
  p.devices.size === q.devices.size &&
  p.cables.size === q.cables.size &&
  [...p.devices].every(([id, count]) => q.devices.get(id) === count) &&
  [...p.cables].every((id) => q.cables.has(id));

/** A list that is replaced only when one of its problems is another object, so that other problems do not redraw the map. */
function sameList(read: () => readonly NetworkProblem[]): ReadonlySignal<readonly NetworkProblem[]> {
  let list: readonly NetworkProblem[] = [];
  return computed(() => {
    const next = read();
    const isSame = next.length === list.length && next.every((problem, i) => problem === list[i]);
    if (!isSame) list = next;
    return list;
  });
}

function summarize(sections: ProblemSections): ProblemSummary {
  // Nobody has to act on a notice.
  const counts = PROBLEM_SEVERITIES.filter((severity) => severity !== "notice").map(
    (severity) => [severity, sections[severity].waiting.length] as const,
  );
  const [worst, worstCount = 0] = counts.find(([, count]) => count > 0) ?? [];
  return { count: counts.reduce((sum, [, count]) => sum + count, 0), worst, worstCount };
}

const STORAGE_KEY = "gazetteer.acknowledged";
/** Maximum number of entries of about 100 bytes each; the storage of the browser also has arrangements and views. */
export const MAX_ACKNOWLEDGED = 5000;

type Identity = Pick<NetworkProblem, "id" | "since">;
type AcknowledgedTest = (problem: Identity) => boolean;
/** The `since` of acknowledged problems by id, the oldest entry first. */
type Entries = ReadonlyMap<string, string>;

/**
 * The problems that the user has acknowledged, stored in the browser and shared by its windows. An entry is the id of a
 * problem and its `since`: a problem that ended and returned has another `since`, so that it is shown again. `listed`
 * returns the ids of problems in the lists of the page, whose entries are dropped last.
 */
function createAcknowledged(listed: () => ReadonlySet<string>) {
  const entries = signal(parseEntries(loadText(STORAGE_KEY)));
  addEventListener("storage", (event) => {
    if (event instanceof StorageEvent && event.key === STORAGE_KEY)
      entries.value = parseEntries(event.newValue ?? undefined);
  });
  /** The function that tests whether a problem is acknowledged. For a long list, read it once. */
  const test = computed((): AcknowledgedTest => {
    const sinceById = entries.value;
    if (sinceById.size === 0) return () => false;
    return ({ id, since }) => sinceById.get(id) === since;
  });
  return {
    test,
    /** Whether a problem is acknowledged. Subscribes the caller to changes. */
    has: (problem: Identity): boolean => test.value(problem),
    set(problems: readonly Identity[], acknowledged: boolean): void {
      entries.value = changedEntries(entries.peek(), problems, acknowledged, listed);
      saveText(STORAGE_KEY, JSON.stringify([...entries.peek()]));
    },
  };
}

/**
 * `problems` are sorted, worst first. Their entries are added in the opposite order, so that entries of less severe problems
 * are dropped first when there are too many.
 */
export function changedEntries(
  entries: Entries,
  problems: readonly Identity[],
  acknowledged: boolean,
  listed: () => ReadonlySet<string>,
): Entries {
  const next = new Map(entries);
  for (const { id } of problems) next.delete(id);
  if (acknowledged) for (const { id, since } of problems.toReversed()) next.set(id, since);
  if (next.size <= MAX_ACKNOWLEDGED) return next;
  const kept = listed();
  return new Map([...next].filter(([id]) => kept.has(id)).slice(-MAX_ACKNOWLEDGED));
}

/** Ignores content that it cannot parse, because another version of the page may have written it. */
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
