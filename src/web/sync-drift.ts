/**
 * Keeps `store.drift` up to date while the page needs it: for the drift layer, for a table that is filtered by drift, and
 * for a selected entity that the network does not have, which may be a planned one. At other times it costs nothing.
 */
import { computed, effect } from "@preact/signals";
import { type DriftList, failedList, loadDriftAt, watchDrift } from "./drift.ts";
import { readNetwork, type Store } from "./store.ts";
import { parseFilter } from "./table/filter.ts";
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
      loadDriftAt(client, at.value, signal).then(publish, (error: unknown) => publish(failedList(error)));
    }
    return () => {
      request.abort();
      drift.value = undefined;
    };
  });
}

function needsDrift(store: Store): boolean {
  const { layer, view, filter, selected } = store.state.value;
  if (layer === "drift") return true;
  if (view !== "map" && parseFilter(filter).some(([name]) => name === "drift")) return true;
  const network = readNetwork(store);
  if (!selected || !network?.isKnown(selected.kind, selected.id)) return false;
  return !network[selected.kind].has(selected.id);
}
