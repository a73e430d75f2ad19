/**
 * Keeps the store up to date: follows the live network, starts what loads the rest, and polls the readiness of
 * the service. Runs until the page is closed.
 */
import { batch, computed, effect } from "@preact/signals";
import { ClientError, type ConnectionState } from "../client/client.ts";
import { syncViews } from "./arrange/sync-views.ts";
import { ChangeGroups, type RecentChange } from "./change-groups.ts";
import { watchNetwork } from "./live.ts";
import { syncProblems } from "./problems/sync-problems.ts";
import { syncSettings } from "./settings.ts";
import type { Store } from "./store.ts";
import { syncDrift } from "./sync-drift.ts";
import { syncHistory } from "./sync-history.ts";
import { syncHosts } from "./sync-hosts.ts";
import { syncOverlay } from "./sync-overlay.ts";
import { syncPath } from "./sync-path.ts";
import { throttle } from "./throttle.ts";
import { syncPlay } from "./timeline/sync-play.ts";

const READINESS_INTERVAL_MS = 10_000;
const MAX_RECEIVED = 1000;
/** From this number of devices on, changes are shown at most once in LARGE_INTERVAL_MS. */
const LARGE_DEVICES = 2000;
const LARGE_INTERVAL_MS = 400;

export function startSync(store: Store): void {
  syncReadiness(store);
  syncDrift(store);
  syncSettings(store);
  syncViews(store);
  syncOverlay(store);
  syncHosts(store);
  syncPath(store);
  syncProblems(store);
  const reloadComparison = syncHistory(store);
  syncLive(store, reloadComparison);
  syncPlay(store);
}

function syncReadiness(store: Store): void {
  const load = async (): Promise<void> => {
    try {
      store.readiness.value = await store.client.ready();
    } catch {
      // The state of the stream shows that the connection is lost.
    }
  };
  // Sources may have changed their state while the connection was lost.
  const connected = computed(() => store.connection.value.state === "connected");
  effect(() => {
    if (connected.value) void load();
  });
  void load();
  setInterval(() => void load(), READINESS_INTERVAL_MS);
}

function syncLive(store: Store, reloadComparison: () => void): void {
  const { live } = store;
  let recent = new ChangeGroups();
  /** The last that were received: the changes before them are loaded later and must be grouped first. */
  let received: readonly RecentChange[] = [];
  const addRecent = (changes: readonly RecentChange[]) => {
    const network = live.peek();
    if (network) recent.add(network, changes);
  };
  let scheduled = false;
  const publish = () =>
    batch(() => {
      scheduled = false;
      const network = live.peek();
      if (network) store.recentChanges.value = recent.list(network);
      store.networkVersion.value++;
    });
  const publishLater = throttle(LARGE_INTERVAL_MS, publish);
  // One rendering a frame, however many revisions arrive in it.
  const publishInFrame = () => {
    if (!scheduled) requestAnimationFrame(publish);
    scheduled = true;
  };
  const schedulePublish = () =>
    (live.peek()?.devices.size ?? 0) < LARGE_DEVICES ? publishInFrame() : publishLater();

  void watchNetwork(
    store.client,
    {
      onReplaced(network) {
        performance.mark("network-loaded");
        live.value = network;
      },
      onChanged(changes) {
        received = [...received, ...changes].slice(-MAX_RECEIVED);
        addRecent(changes);
        reloadComparison();
        schedulePublish();
      },
      onEarlierChanges(changes) {
        recent = new ChangeGroups();
        const newest = changes.at(-1)?.revision ?? 0;
        addRecent([...changes, ...received.filter(({ revision }) => revision > newest)]);
        schedulePublish();
      },
      onConnection: (next) => setConnection(store, next),
      onError(error) {
        if (error instanceof ClientError && error.status === 401) location.reload();
      },
    },
    new AbortController().signal,
  );
}

/** An attempt to connect again does not end the time without a connection. */
export function setConnection(
  { connection, lostSince }: Pick<Store, "connection" | "lostSince">,
  next: ConnectionState,
): void {
  batch(() => {
    connection.value = next;
    if (next.state === "connected") lostSince.value = undefined;
    else if (next.state !== "connecting") lostSince.value ??= Date.now();
  });
}
