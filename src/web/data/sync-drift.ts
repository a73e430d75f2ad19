/**
 * Keeps `store.drift` up to date while the page needs it: for the drift layer, for a table that is filtered by drift, and
 * for a selected entity that the network does not have, which may be a planned one. At other times it costs nothing.
 */
import { computed, effect } from "@preact/signals";
import { parseFilter } from "../table/filter.ts";
import { type DriftList, failedList, loadDriftAt, watchDrift } from "./drift-list.ts";
import { readNetwork, type Store } from "./page-store.ts";
import { mayRetry } from "./reload-later.ts";
import { throttle } from "./throttle.ts";

/** The list is shown at most this often while it changes. */
const PUBLISH_INTERVAL_MS = 100;

export function syncDrift(store: Store): void {
  const { client, state, drift } = store;
  const needed = computed(() => needsDrift(store));
  const at = computed(() => state.value.at);
  effect(() => {
    if (!needed.value) return;
    const request = new AbortController();
    const { signal } = request;
    const publish = (list: DriftList) => {
      if (!signal.aborted) drift.value = list;
    };
    if (at.value === undefined) {
      let newest: DriftList | undefined;
      const publishLater = throttle(PUBLISH_INTERVAL_MS, () => newest && publish(newest));
      const onChange = (list: DriftList) => {
        newest = list;
        publishLater();
      };
      watchDrift(client, onChange, signal).catch((error: unknown) => publish(failedList(error)));
    } else {
      void loadPast(store, at.value, publish, signal);
    }
    return () => {
      request.abort();
      drift.value = undefined;
    };
  });
}

/** Again when the connection has failed and is back. */
async function loadPast(
  { client, connection }: Store,
  at: string,
  publish: (list: DriftList) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      publish(await loadDriftAt(client, at, signal));
      return;
    } catch (error) {
      publish(failedList(error));
      if (!(await mayRetry(connection, error, signal))) return;
    }
  }
}

function needsDrift(store: Store): boolean {
  const { layer, view, filter, selected } = store.state.value;
  if (layer === "drift") return true;
  if (view !== "map" && parseFilter(filter).some(([name]) => name === "drift")) return true;
  const network = readNetwork(store);
  if (!selected || !network?.isKnown(selected.kind, selected.id)) return false;
  return !network[selected.kind].has(selected.id);
}
