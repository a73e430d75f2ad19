/** The number of problems of now that are not acknowledged, with the sign of the worst. Opens their list. */
import { ProblemSign, SEVERITY_SIGNS } from "../problems/signs.tsx";
import { useStore } from "../store.ts";

export function ProblemsButton() {
  const { state, go, problems } = useStore();
  const { count, worst } = problems.open.value;
  const { state: listState } = problems.live.value;
  const pressed = state.value.problems;
  const label = {
    loading: "Problems",
    current: describe(count, worst),
    old: `${describe(count, worst)}. This is not current`,
  }[listState];
  return (
    <button
      type="button"
      class="text-button problems-button"
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      data-worst={worst}
      data-list={listState}
      onClick={() => go(pressed ? { problems: false, problem: undefined } : { problems: true })}
    >
      <ProblemSign sign={SEVERITY_SIGNS[worst ?? "warning"]} severity={worst ?? "warning"} />
      <span class="problems-words">{worst === undefined ? "Problems" : SEVERITY_SIGNS[worst].title}</span>
      {listState !== "loading" && (
        <strong>{`${count.toLocaleString("en")}${listState === "old" ? "?" : ""}`}</strong>
      )}
    </button>
  );
}

function describe(count: number, worst: keyof typeof SEVERITY_SIGNS | undefined): string {
  if (worst === undefined) return "Problems: none that is not acknowledged";
  return `Problems: ${count.toLocaleString("en")} not acknowledged, the worst ${worst}`;
}
