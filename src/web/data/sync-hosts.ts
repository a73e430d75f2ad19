/**
 * Loads the hosts that the page shows, and no others: those of devices whose hosts are drawn or whose ports are listed, the
 * selected host, the hosts at the ends of a path, and those in conflict while their layer is shown. What is no longer shown
 * is closed, and its request is aborted. What the service refuses, as of a moment that it no longer has, is not tried again
 * until another moment is shown.
 */
import { effect, untracked } from "@preact/signals";
import { ClientError } from "../../client/client.ts";
import { CONFLICTING_HOSTS, type HostGroup, type Hosts, hostsAtDevice, hostWithId } from "./hosts.ts";
import type { Store } from "./page-store.ts";
import { mayRetry } from "./reload-later.ts";
import type { EntityRef } from "./view-state.ts";

export function syncHosts(store: Store): void {
  let requests = new Map<string, AbortController>();
  let current: Hosts | undefined;
  effect(() => {
    const hosts = store.network.value?.openedHosts;
    const groups = shownGroups(store);
    // A network that moved to another moment is the same object.
    void store.pastMoment.value;
    untracked(() => {
      if (hosts !== current) {
        for (const request of requests.values()) request.abort();
        for (const key of current?.groupKeys ?? []) current?.close(key);
        requests = new Map();
        current = hosts;
      }
      if (!hosts) return;
      for (const key of hosts.groupKeys) {
        if (groups.has(key)) continue;
        requests.get(key)?.abort();
        requests.delete(key);
        hosts.close(key);
      }
      for (const group of groups.values()) {
        if (hosts.stateOf(group.key) !== undefined) continue;
        const request = new AbortController();
        requests.set(group.key, request);
        hosts.open(group);
        void loadGroup(store, hosts, group, request.signal);
      }
    });
  });
}

function shownGroups({ state, pathStart }: Store): ReadonlyMap<string, HostGroup> {
  const { expanded, selected, path, layer } = state.value;
  const refs = [selected, pathStart.value, ...(path ?? [])].filter((ref) => ref !== undefined);
  const ids = (kind: EntityRef["kind"], of: readonly EntityRef[]) =>
    of.filter((ref) => ref.kind === kind).map(({ id }) => id);
  const groups = [
    ...[...expanded, ...ids("devices", selected ? [selected] : [])].map(hostsAtDevice),
    ...ids("hosts", refs).map(hostWithId),
    ...(layer === "conflicts" ? [CONFLICTING_HOSTS] : []),
  ];
  return new Map(groups.map((group) => [group.key, group]));
}

async function loadGroup(store: Store, hosts: Hosts, group: HostGroup, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // The list must not be older than what the stream has already changed.
    const moment: { at?: string; "min-revision"?: number } =
      hosts.at === undefined ? { "min-revision": hosts.revision } : { at: hosts.at };
    try {
      const { items, next } = await store.client.list("hosts", { ...group.query, ...moment }, { signal });
      if (signal.aborted) return;
      // Another moment is shown meanwhile.
      if (moment.at !== hosts.at) continue;
      hosts.setLoaded(group.key, items, next === undefined);
      store.networkVersion.value++;
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (moment.at !== hosts.at) continue;
      if (await mayRetry(store.connection, error, signal)) continue;
      if (signal.aborted) return;
      hosts.setFailed(group.key, error instanceof ClientError ? error.detail : String(error));
      store.networkVersion.value++;
      return;
    }
  }
}
