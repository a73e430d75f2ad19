/**
 * Keeps the store up to date: follows the live network, starts what loads the rest, and polls the readiness of
 * the service. Runs until the page is closed.
 */
import { batch, computed, effect } from "@preact/signals";
import { ClientError, type ConnectionState } from "../../client/client.ts";
import { syncViews } from "../arrange/sync-views.ts";
import { syncProblems } from "../problems/sync-problems.ts";
import { syncPlay } from "../timeline/sync-play.ts";
import { ChangeGroups, type RecentChange } from "./change-groups.ts";
import { watchNetwork } from "./live.ts";
import type { Store } from "./page-store.ts";
import { Slices } from "./slices.ts";
import { syncDrift } from "./sync-drift.ts";
import { syncHistory } from "./sync-history.ts";
import { syncHosts } from "./sync-hosts.ts";
import { syncOverlay } from "./sync-overlay.ts";
import { syncPath } from "./sync-path.ts";
import { syncSettings } from "./sync-settings.ts";
import { throttle } from "./throttle.ts";

const READINESS_INTERVAL_MS = 10_000;
/** Largest number of changes that are held until the earlier ones are loaded. */
const MAX_RECEIVED = 10_000;
/** Changes that are grouped between two pauses. */
const GROUPED_AT_ONCE = 200;
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
  let recent = new ChangeGroups(Date.now());
  /** The changes since the network was loaded, while the earlier ones, which must be grouped first, are being loaded. */
  let received: RecentChange[] | undefined;
  let scheduled = false;
  const publish = () =>
    batch(() => {
      scheduled = false;
      const network = live.peek();
      if (network) {
        store.recentChanges.value = recent.list(network);
        store.recentSince.value = recent.since;
      }
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
        // Changes may have been missed: the list begins again.
        recent = new ChangeGroups(Date.now());
        received = [];
      },
      onChanged(changes) {
        received?.push(...changes);
        if (received && received.length > MAX_RECEIVED) received = undefined;
        const network = live.peek();
        if (network) recent.add(network, changes);
        reloadComparison();
        schedulePublish();
      },
      async onEarlierChanges({ sinceMs, changes }) {
        const [network, later] = [live.peek(), received];
        const groups = new ChangeGroups(sinceMs);
        const slices = new Slices();
        for (let i = 0; network && i < changes.length; i += GROUPED_AT_ONCE) {
          groups.add(network, changes.slice(i, i + GROUPED_AT_ONCE));
          await slices.pause();
        }
        if (!network || !later || later !== received) return;
        groups.add(network, later);
        recent = groups;
        received = undefined;
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
