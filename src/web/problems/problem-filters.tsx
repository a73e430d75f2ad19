/** The buttons that choose which problems the list shows: severities, and the acknowledged ones. */
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";
import { useStore } from "../data/page-store.ts";
import { countProblems } from "./problem-groups.ts";
import { isRead } from "./problem-store.ts";
import { ProblemSign, SEVERITY_SIGNS } from "./signs.tsx";

export function ProblemFilters() {
  const { state, go, problems } = useStore();
  const { severities, acknowledged } = state.value;
  const list = problems.shown.value;
  const sections = problems.sections.value;
  // A zero would say that there are none.
  const countText = (count: number) => (isRead(list) ? count.toLocaleString("en") : "–");
  const { all, waiting } = countProblems(sections);
  const toggle = (severity: ProblemSeverity) =>
    go({
      severities: PROBLEM_SEVERITIES.filter((one) => severities.includes(one) !== (one === severity)),
    });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, and these are buttons
    <div class="problem-filters" role="group" aria-label="Which problems are shown">
      {PROBLEM_SEVERITIES.map((severity) => (
        <button
          key={severity}
          type="button"
          class="text-button"
          aria-pressed={severities.includes(severity)}
          onClick={() => toggle(severity)}
        >
          <ProblemSign sign={SEVERITY_SIGNS[severity]} severity={severity} />
          {SEVERITY_SIGNS[severity].title}
          <span class="count">{countText(sections[severity][acknowledged ? "all" : "waiting"].length)}</span>
        </button>
      ))}
      <button
        type="button"
        class="text-button"
        aria-pressed={acknowledged}
        onClick={() => go({ acknowledged: !acknowledged })}
      >
        With acknowledged
        <span class="count">{countText(all - waiting)}</span>
      </button>
    </div>
  );
}
