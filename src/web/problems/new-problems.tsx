/**
 * Reports changes of the list of problems: the number in the title of the page, and one sentence for screen readers.
 * Problems of the first list are not new, and neither are acknowledged ones. A problem that follows from another one
 * becomes new when the other one ends and it remains.
 */
import { effect, type Signal, untracked, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { compareProblems } from "../../model/problem-kinds.ts";
import { throttle } from "../data/pacing.ts";
import { type PageStore, useStore } from "../data/page-store.ts";
import { callsForAttention } from "./problem-groups.ts";
import { SEVERITY_SIGNS } from "./signs.tsx";

/** The minimum time between two announcements, however many problems appear. */
const ANNOUNCE_INTERVAL_MS = 3000;
const MAX_TEXT = 160;

function watchNewProblems({ problems }: PageStore, announcement: Signal<string>): void {
  const { live, open, acknowledged } = problems;
  const plainTitle = document.title;
  effect(() => {
    const { count } = open.value;
    const name = count > 0 ? `(${count}) Gazetteer` : plainTitle;
    document.title = live.value.state === "old" ? `${name} – not current` : name;
  });

  let known: readonly NetworkProblem[] | undefined;
  let unannounced: NetworkProblem[] = [];
  const announce = throttle(ANNOUNCE_INTERVAL_MS, () => {
    announcement.value = describeNew(unannounced);
    unannounced = [];
  });
  effect(() => {
    const list = live.value;
    if (list.state !== "current") return;
    untracked(() => {
      const before = known;
      known = list.problems.filter(callsForAttention);
      const added = before
        ? newOccurrences(before, known).filter((problem) => !acknowledged.has(problem))
        : [];
      if (added.length === 0) return;
      unannounced = [...unannounced, ...added];
      announce();
    });
  });
}

/** The identity of an occurrence. A problem that becomes critical is new, like one that returns with another `since`. */
const occurrenceOf = ({ since, severity }: NetworkProblem): string =>
  severity === "critical" ? `${since} critical` : since;

const orderOf = (a: NetworkProblem, b: NetworkProblem): number => (a === b ? 0 : compareProblems(a, b));

/**
 * The problems of `after` that are new. Both lists are sorted, worst first. The lists may be long and change often, so they
 * are compared in one pass: most objects are in both, and others are equal when they compare as equal in the order.
 */
export function newOccurrences(
  before: readonly NetworkProblem[],
  after: readonly NetworkProblem[],
): NetworkProblem[] {
  const gone = new Map<string, string>();
  const added: NetworkProblem[] = [];
  let i = 0;
  for (const problem of after) {
    let old = before[i];
    for (; old && orderOf(old, problem) < 0; old = before[++i]) gone.set(old.id, occurrenceOf(old));
    if (old && orderOf(old, problem) === 0) i++;
    else added.push(problem);
  }
  for (const old of before.slice(i)) gone.set(old.id, occurrenceOf(old));
  return added.filter((problem) => gone.get(problem.id) !== occurrenceOf(problem));
}

/** The sentence about new problems. It names the first one, which is the worst of the first list that had new ones. */
function describeNew(problems: readonly NetworkProblem[]): string {
  const [first] = problems;
  if (!first) return "";
  const count = problems.length === 1 ? "1 new problem" : `${problems.length} new problems`;
  return `${count}. ${SEVERITY_SIGNS[first.severity].title}: ${first.text.slice(0, MAX_TEXT)}`;
}

/** Announces new problems to screen readers, whatever the page shows. */
export function ProblemAnnouncer() {
  const store = useStore();
  const announcement = useSignal("");
  useEffect(() => watchNewProblems(store, announcement), []);
  return (
    <p class="only-read" role="status" aria-live="polite" data-announces="problems">
      {announcement.value}
    </p>
  );
}
