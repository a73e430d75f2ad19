/**
 * The worst severity of the problems of now, and how many of that severity there are: of those that are not acknowledged and
 * call for attention. Opens the list. Where the page shows another time it says that the number is of now.
 */

import { useStore } from "../data/page-store.ts";
import { isRead } from "../problems/problem-store.ts";
import { ProblemSign, SEVERITY_SIGNS } from "../problems/signs.tsx";

export function ProblemsButton() {
  const { state, go, problems } = useStore();
  const { worst, worstCount } = problems.open.value;
  const { state: listState } = problems.live.value;
  const { problems: pressed, at } = state.value;
  const isOld = listState === "old";
  return (
    <button
      type="button"
      class="text-button problems-button"
      aria-pressed={pressed}
      title="The worst problems of now that are not acknowledged and follow from no other"
      data-worst={worst}
      data-list={listState}
      onClick={() => go(pressed ? { problems: false, problem: undefined } : { problems: true })}
    >
      <ProblemSign sign={SEVERITY_SIGNS[worst ?? "warning"]} severity={worst ?? "warning"} />
      {worst !== undefined && <span class="only-read">Problems, the worst: </span>}
      <span class="problems-words">{worst === undefined ? "Problems" : SEVERITY_SIGNS[worst].title}</span>{" "}
      {isRead(problems.live.value) && (
        <strong>{`${worstCount.toLocaleString("en")}${isOld ? "?" : ""}`}</strong>
      )}
      <span class="only-read">{isOld ? " not acknowledged, and not current" : " not acknowledged"}</span>
      {at !== undefined && " now"}
    </button>
  );
}
