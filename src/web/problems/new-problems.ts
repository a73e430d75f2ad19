/**
 * What a change of the list means to the reader: the number in the title of the page, the sound, and one sentence for
 * screen readers. Problems of the first list are not new, nor are acknowledged ones.
 */
import { effect, type Signal, untracked } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { Store } from "../store.ts";
import { throttle } from "../throttle.ts";
import { SEVERITY_SIGNS } from "./signs.tsx";

/** One sentence in this time, however many problems there are. */
const ANNOUNCE_INTERVAL_MS = 3000;
const MAX_TEXT = 160;

export function watchNewProblems({ problems }: Store, announcement: Signal<string>): void {
  const { live, open, acknowledged, sound } = problems;
  const plainTitle = document.title;
  effect(() => {
    const { count } = open.value;
    const name = count > 0 ? `(${count}) Gazetteer` : plainTitle;
    document.title = live.value.state === "old" ? `${name} – not current` : name;
  });

  let known: ReadonlyMap<string, string> | undefined;
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
      known = new Map(list.problems.map((problem) => [problem.id, occurrenceOf(problem)]));
      const added = list.problems.filter(
        (problem) => before && before.get(problem.id) !== occurrenceOf(problem) && !acknowledged.has(problem),
      );
      if (added.length === 0) return;
      if (added.some(({ severity }) => severity === "critical")) sound.play();
      unannounced = [...unannounced, ...added];
      announce();
    });
  });
}

/** A problem that becomes critical is as new as one that comes back. */
const occurrenceOf = ({ since, severity }: NetworkProblem): string =>
  severity === "critical" ? `${since} critical` : since;

/** The first is the worst of the first list that had one. */
function describeNew(problems: readonly NetworkProblem[]): string {
  const [first] = problems;
  if (!first) return "";
  const count = problems.length === 1 ? "1 new problem" : `${problems.length} new problems`;
  return `${count}. ${SEVERITY_SIGNS[first.severity].title}: ${first.text.slice(0, MAX_TEXT)}`;
}
