/**
 * Loads the past network and the comparison of the address. A request is aborted when the address names another moment
 * before it has ended, and sent again when the connection has failed and is back. A short way from the moment that is shown
 * to the next one costs the differences alone.
 */
import { batch, computed, effect, untracked } from "@preact/signals";
import { ClientError } from "../../client/client.ts";
import { loadComparison } from "./network-history.ts";
import type { Store } from "./page-store.ts";
import { loadPast, type Past } from "./past.ts";
import { mayRetry, reloadLater } from "./reload-later.ts";

/** A comparison with the present is loaded again at most this often while the network changes. */
const COMPARISON_INTERVAL_MS = 2000;

type HistoryStore = Pick<
  Store,
  | "client"
  | "state"
  | "live"
  | "past"
  | "pastMoment"
  | "comparison"
  | "problem"
  | "loading"
  | "shownMoments"
  | "networkVersion"
  | "connection"
>;

/** Returns a function to be called when the live network has changed. */
export function syncHistory(store: HistoryStore): () => void {
  const { client, state, live, past, pastMoment, comparison, problem, loading, shownMoments } = store;
  let request = new AbortController();
  let shown: Past | undefined;

  async function load(): Promise<void> {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const { at, compare } = state.peek();
    problem.value = undefined;
    loading.value = at !== undefined || compare !== undefined;
    try {
      const next = at === undefined ? undefined : await loadPast(client, at, shown, signal);
      if (signal.aborted) return;
      shown = next;
      const base = shown?.network ?? live.peek();
      const compared =
        compare !== undefined && base ? await loadComparison(client, compare, at, base, signal) : undefined;
      if (signal.aborted) return;
      batch(() => {
        past.value = shown?.network;
        pastMoment.value = shown?.moment;
        comparison.value = compared;
        shownMoments.value = { at, compare };
        loading.value = false;
        // A network that moved to another moment is the same object.
        store.networkVersion.value++;
      });
    } catch (error) {
      if (signal.aborted) return;
      batch(() => {
        problem.value = error instanceof ClientError ? error.detail : String(error);
        loading.value = false;
      });
      if (await mayRetry(store.connection, error, signal)) void load();
    }
  }

  const moments = computed(() => `${state.value.at} ${state.value.compare}`);
  effect(() => {
    void moments.value;
    if (live.value) untracked(() => void load());
  });
  return reloadLater(
    COMPARISON_INTERVAL_MS,
    () => loading.peek(),
    () => {
      const { at, compare } = state.peek();
      if (compare !== undefined && at === undefined) void load();
    },
  );
}
