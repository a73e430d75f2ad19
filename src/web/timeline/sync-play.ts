/**
 * Plays the past: moves the moment of the address on while `play` is set, until it is now. The next step waits until the
 * last one is shown, with the path where there is one, so that a slow service makes the play slower and leaves nothing out.
 */
import { computed, effect, untracked } from "@preact/signals";
import type { Store } from "../data/page-store.ts";
import { isRevision } from "../data/view-state.ts";
import { toExactTimestamp } from "../elements/format-time.ts";

export const STEP_INTERVAL_MS = 500;
/** After a pause of the browser, as of a hidden tab, the play goes on where it was. */
const MAX_ELAPSED_MS = 2 * STEP_INTERVAL_MS;

export function syncPlay(store: Store): void {
  const playing = computed(() => store.state.value.play);
  effect(() => {
    if (!playing.value) return;
    return untracked(() => startPlaying(store));
  });
}

/** Returns the function that stops it. */
function startPlaying(store: Store): () => void {
  const { state, adjust, loading, pathLoading, problem, live } = store;
  /** The moment that the last step set. The user may set another one meanwhile. */
  let last: { readonly at: string; readonly ms: number } | undefined;
  let lastStepMs = performance.now();
  const step = () => {
    const elapsedMs = Math.min(performance.now() - lastStepMs, MAX_ELAPSED_MS);
    lastStepMs = performance.now();
    const { at, speed } = state.peek();
    if (at === undefined || problem.peek() !== undefined) return adjust({ play: false });
    if (loading.peek() || pathLoading.peek() || live.peek() === undefined) return;
    const fromMs = last?.at === at ? last.ms : timeOf(store, at);
    if (fromMs === undefined) return;
    const ms = fromMs + elapsedMs * speed;
    if (ms >= Date.now()) {
      adjust({ at: undefined, play: false });
      return store.notify("The play has reached now. The map is live.");
    }
    last = { at: toExactTimestamp(ms), ms };
    adjust({ at: last.at });
  };
  const timer = setInterval(step, STEP_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Undefined until the revision of the address is loaded. */
function timeOf({ pastMoment }: Store, at: string): number | undefined {
  return isRevision(at) ? pastMoment.peek()?.time : Date.parse(at);
}
