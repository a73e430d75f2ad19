/**
 * The number of problems of now that are not acknowledged, with the sign and word of the worst. Opens their list. Where
 * the page shows another time it says that the number is of now.
 */
import { isRead } from "../problems/problem-store.ts";
import { ProblemSign, SEVERITY_SIGNS } from "../problems/signs.tsx";
import { useStore } from "../store.ts";

export function ProblemsButton() {
  const { state, go, problems } = useStore();
  const { count, worst } = problems.open.value;
  const { state: listState } = problems.live.value;
  const { problems: pressed, at } = state.value;
  const isOld = listState === "old";
  return (
    <button
      type="button"
      class="text-button problems-button"
      aria-pressed={pressed}
      title="Problems of now that are not acknowledged"
      data-worst={worst}
      data-list={listState}
      onClick={() => go(pressed ? { problems: false, problem: undefined } : { problems: true })}
    >
      <ProblemSign sign={SEVERITY_SIGNS[worst ?? "warning"]} severity={worst ?? "warning"} />
      {worst !== undefined && <span class="only-read">Problems, the worst: </span>}
      <span class="problems-words">{worst === undefined ? "Problems" : SEVERITY_SIGNS[worst].title}</span>{" "}
      {isRead(problems.live.value) && <strong>{`${count.toLocaleString("en")}${isOld ? "?" : ""}`}</strong>}
      <span class="only-read">{isOld ? " not acknowledged, and not current" : " not acknowledged"}</span>
      {at !== undefined && " now"}
    </button>
  );
}
