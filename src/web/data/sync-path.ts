/**
 * Loads the shortest paths between the ends of the address, of the moment that is shown, and again some time after the
 * network changed, and when the connection has failed and is back. A request that is overtaken by another address is aborted. The paths of the moment before stay until
 * those of the next one are there, so that a play does not hide them at each step.
 */
import { batch, computed, effect, untracked } from "@preact/signals";
import { ClientError } from "../../client/client.ts";
import type { Store } from "./page-store.ts";
import { mayRetry, reloadLater } from "./reload-later.ts";
import { pathEndId } from "./shown-path.ts";

/** The paths that are listed. The union has all of them. */
export const MAX_LISTED_PATHS = 32;
const RELOAD_MS = 2000;

type PathStore = Pick<
  Store,
  "client" | "state" | "path" | "pathLoading" | "pathFault" | "network" | "networkVersion" | "connection"
>;

export function syncPath(store: PathStore): void {
  const { client, state, path, pathLoading, pathFault } = store;
  let request = new AbortController();
  const load = async (): Promise<void> => {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    const { path: ends, at } = state.peek();
    pathLoading.value = ends !== undefined;
    if (!ends) return;
    const network = store.network.peek();
    const [src, dst] = [pathEndId(network, ends[0], "src"), pathEndId(network, ends[1], "dst")];
    const query = at === undefined ? {} : { at };
    try {
      const explanation = await client.explainPaths(src, dst, query, { signal });
      const limit = Math.min(MAX_LISTED_PATHS, explanation.count);
      const { paths } =
        limit === 0 ? { paths: [] } : await client.paths(src, dst, { ...query, limit }, { signal });
      if (signal.aborted) return;
      batch(() => {
        path.value = { explanation, paths };
        pathFault.value = undefined;
        pathLoading.value = false;
      });
    } catch (error) {
      if (signal.aborted) return;
      batch(() => {
        path.value = undefined;
        pathFault.value = error instanceof ClientError ? error.detail : String(error);
        pathLoading.value = false;
      });
      if (await mayRetry(store.connection, error, signal)) void load();
    }
  };
  const ends = computed(() => JSON.stringify(state.value.path));
  const at = computed(() => state.value.at);
  let loadedEnds: string | undefined;
  const hasNetwork = computed(() => store.network.value !== undefined);
  effect(() => {
    const nextEnds = ends.value;
    void at.value;
    if (!hasNetwork.value) return;
    untracked(() => {
      if (nextEnds !== loadedEnds) {
        path.value = undefined;
        pathFault.value = undefined;
      }
      loadedEnds = nextEnds;
      void load();
    });
  });
  const reload = reloadLater(
    RELOAD_MS,
    () => pathLoading.peek(),
    () => void load(),
  );
  effect(() => {
    void store.networkVersion.value;
    untracked(() => {
      if (state.peek().path && state.peek().at === undefined && hasNetwork.peek()) reload();
    });
  });
}
