/** Reads out new problems to screen readers, whatever the page shows. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { watchNewProblems } from "./new-problems.ts";

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
