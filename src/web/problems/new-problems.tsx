/**
 * Reports changes of the list of problems: the number in the title of the page, and one sentence for screen readers.
 * Problems of the first list are not new, and neither are acknowledged ones. A problem that follows from another one
 * becomes new when the other one ends and it remains.
 */
import { effect, type Signal, untracked, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { NetworkProblem } from "../../model/network-problem.ts";
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

  let known: ReadonlySet<string> | undefined;
  let unannounced: NetworkProblem[] = [];
  const announce = throttle(ANNOUNCE_INTERVAL_MS, () => {
    announcement.value = describeNew(unannounced);
    unannounced = [];
  });
  effect(() => {
    const list = live.value;
    if (list.state !== "current") return;
    untracked(() => {
      const [before, calling] = [known, list.problems.filter(callsForAttention)];
      known = new Set(calling.map(occurrenceOf));
      const added = calling.filter(
        (problem) => before && !before.has(occurrenceOf(problem)) && !acknowledged.has(problem),
      );
      if (added.length === 0) return;
      unannounced = [...unannounced, ...added];
      announce();
    });
  });
}

/** The identity of an occurrence. A problem that becomes critical is new, like one that returns with another `since`. */
const occurrenceOf = ({ id, since, severity }: NetworkProblem): string =>
  `${id} ${since}${severity === "critical" ? " critical" : ""}`;

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
