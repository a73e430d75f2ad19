/**
 * The problems of the page: those of now, which the title and the bar always count, those of the moment that is shown,
 * which the list has, and which of them are acknowledged. `sync-problems.ts` writes the lists.
 */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";
import type { ViewState } from "../data/view-state.ts";
import { type Acknowledged, createAcknowledged, MAX_ACKNOWLEDGED } from "./acknowledged.ts";
import { countProblems, divideProblems, type ProblemSections } from "./problem-groups.ts";

export interface ProblemList {
  /** Worst first. */
  readonly problems: readonly NetworkProblem[];
  /**
   * Old: the service cannot be read now. `loading`: it was not read yet. `waiting`: it is read when the play of the past
   * pauses.
   */
  readonly state: "loading" | "waiting" | "current" | "old";
  /** When the page received it. */
  readonly receivedMs?: number;
  /** Why it is old. */
  readonly reason?: string;
}

export interface ProblemSummary {
  readonly count: number;
  readonly worst: ProblemSeverity | undefined;
  /** The number of those that are as bad as the worst. */
  readonly worstCount: number;
}

export interface ProblemStore {
  readonly live: Signal<ProblemList>;
  /** Of `state.at`. Undefined while the past is played. */
  readonly past: Signal<ProblemList | undefined>;
  /** What the list shows. */
  readonly shown: ReadonlySignal<ProblemList>;
  /** Those of the list that is shown, and those of now, by severity. */
  readonly sections: ReadonlySignal<ProblemSections>;
  readonly liveSections: ReadonlySignal<ProblemSections>;
  /** The problem that the map marks. Undefined also when it is not in the list that is shown. */
  readonly chosen: ReadonlySignal<NetworkProblem | undefined>;
  /**
   * Of lost links: what the map draws where they were. Without the acknowledged ones, except the chosen one. Another array
   * only when one of them is another object, so that the map is not drawn again for other problems.
   */
  readonly lost: ReadonlySignal<readonly NetworkProblem[]>;
  /** Rises when the reader goes to a problem, also to the chosen one again. */
  readonly visits: Signal<number>;
  readonly acknowledged: Acknowledged;
  /** How many more can be acknowledged without another one of the lists becoming open again. */
  readonly room: ReadonlySignal<number>;
  /** What calls for attention now and is not acknowledged. */
  readonly open: ReadonlySignal<ProblemSummary>;
}

const LOADING: ProblemList = { problems: [], state: "loading" };
const WAITING: ProblemList = { problems: [], state: "waiting" };

/** Whether the service has sent the list. Without, an empty list says nothing about the network. */
export const isRead = ({ receivedMs }: ProblemList): boolean => receivedMs !== undefined;

export function createProblemStore(state: ReadonlySignal<ViewState>): ProblemStore {
  const live = signal(LOADING);
  const past = signal<ProblemList | undefined>(undefined);
  const acknowledged = createAcknowledged(
    () => new Set([...live.peek().problems, ...(past.peek()?.problems ?? [])].map(({ id }) => id)),
  );
  const at = computed(() => state.value.at);
  const isPlaying = computed(() => state.value.play);
  const shown = computed(() => {
    if (at.value === undefined) return live.value;
    return isPlaying.value ? WAITING : (past.value ?? LOADING);
  });
  const chosenId = computed(() => state.value.problem);
  const liveProblems = computed(() => live.value.problems);
  const liveSections = computed(() => divideProblems(liveProblems.value, acknowledged.test.value));
  const shownProblems = computed(() => shown.value.problems);
  const sections = computed(() =>
    shownProblems.value === liveProblems.value
      ? liveSections.value
      : divideProblems(shownProblems.value, acknowledged.test.value),
  );
  let lost: readonly NetworkProblem[] = [];
  return {
    live,
    past,
    shown,
    sections,
    liveSections,
    chosen: computed(() => {
      const wanted = chosenId.value;
      return wanted === undefined ? undefined : shown.value.problems.find(({ id }) => id === wanted);
    }),
    lost: computed(() => {
      const next = shown.value.problems.filter(
        (problem) =>
          problem.kind === "link-lost" && (!acknowledged.has(problem) || problem.id === chosenId.value),
      );
      const isSame = next.length === lost.length && next.every((problem, i) => problem === lost[i]);
      if (!isSame) lost = next;
      return lost;
    }),
    visits: signal(0),
    acknowledged,
    room: computed(() => {
      const lists = new Set([sections.value, liveSections.value]);
      const counts = Array.from(lists, (one) => countProblems(one));
      return counts.reduce((room, { all, waiting }) => room - (all - waiting), MAX_ACKNOWLEDGED);
    }),
    open: computed(() => summarize(liveSections.value)),
  };
}

function summarize(sections: ProblemSections): ProblemSummary {
  const worst = PROBLEM_SEVERITIES.find((severity) => sections[severity].calls > 0);
  const count = Object.values(sections).reduce((sum, { calls }) => sum + calls, 0);
  return { count, worst, worstCount: worst === undefined ? 0 : sections[worst].calls };
}
