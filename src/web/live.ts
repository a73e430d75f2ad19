/**
 * The live network: reads the lists, then follows the change stream from the revision of the lists, so that no change
 * is missed and none is applied twice. Lists come first because they are compressed and arrive at once. Hosts come last
 * and in pages, so that the map is drawn before the last of 100,000 hosts is there.
 */
import type { Change, Client, ConnectionState, WatchEvent } from "../client/client.ts";
import type { RecentChange } from "./change-groups.ts";
import type { EntityChange } from "./change-text.ts";
import { Network } from "./network.ts";

export interface LiveHandlers {
  /** Another object is the live network: at the start, and after the stream sent a snapshot. */
  onReplaced(network: Network): void;
  /** The live network was changed in place; `changes` is empty while the first hosts are loaded. */
  onChanged(changes: readonly RecentChange[]): void;
  /** The changes of the last minutes before the page was opened, oldest first. */
  onEarlierChanges(changes: readonly RecentChange[]): void;
  onConnection(state: ConnectionState): void;
  onError(error: unknown): void;
}

/** A change of a device, link or host. Ports are not part of the page's network; the panel reads them on demand. */
export type NetworkChange = EntityChange & { readonly revision: number; readonly time: number };

const HOSTS_PER_PAGE = 5000;
const RETRY_MS = 3000;

export async function watchNetwork(
  client: Client,
  handlers: LiveHandlers,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await loadAndStream(client, handlers, signal);
    } catch (error) {
      if (signal.aborted) return;
      handlers.onConnection({ state: "reconnecting", afterMs: RETRY_MS, reason: String(error) });
      handlers.onError(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function loadAndStream(client: Client, handlers: LiveHandlers, signal: AbortSignal): Promise<void> {
  handlers.onConnection({ state: "connecting" });
  const [devices, links] = await Promise.all([
    client.list("devices", {}, { signal }),
    client.list("links", {}, { signal }),
  ]);
  const network = Network.of(devices.items, links.items);
  handlers.onReplaced(network);
  let since = Math.min(devices.revision, links.revision);
  for await (const page of client.pages("hosts", { limit: HOSTS_PER_PAGE }, { signal })) {
    for (const value of page.items) network.set({ resource: "hosts", value });
    since = Math.min(since, page.revision);
    handlers.onChanged([]);
  }
  network.setHostsLoaded();
  handlers.onChanged([]);
  void loadEarlierChanges(client, signal).then(
    (changes) => handlers.onEarlierChanges(changes.filter((change) => change.revision <= since)),
    () => {}, // The list of recent changes starts empty then.
  );
  await stream(client, network, since, handlers, signal);
}

const EARLIER_MS = 10 * 60_000;
const EARLIER_SPANS = 60;
/** Where there were more changes, those of a shorter time are shown, but at least of its last span. */
const MAX_EARLIER = 2000;

async function loadEarlierChanges(client: Client, signal: AbortSignal): Promise<readonly Change[]> {
  const { oldest, newest } = await client.timeline(1, {}, { signal });
  const fromMs = Math.max(oldest.time, newest.time - EARLIER_MS);
  const range = { from: new Date(fromMs), to: new Date(newest.time + 1) };
  const { counts } = await client.timeline(EARLIER_SPANS, range, { signal });
  let [first, total] = [counts.length, 0];
  while (first > 0 && (total === 0 || total + (counts[first - 1] ?? 0) <= MAX_EARLIER))
    total += counts[--first] ?? 0;
  const from = new Date(fromMs + ((newest.time - fromMs) * first) / EARLIER_SPANS);
  const start = await client.diff("devices", from, undefined, { limit: 1 }, { signal });
  return (await client.changes("topology", start.from.revision, {}, { signal })).changes;
}

async function stream(
  client: Client,
  start: Network,
  since: number,
  handlers: LiveHandlers,
  signal: AbortSignal,
): Promise<void> {
  let network = start;
  let snapshot: Network | undefined;
  let revisionChanges: RecentChange[] = [];
  const onState = (state: ConnectionState) => handlers.onConnection(state);
  for await (const event of client.watch("topology", {}, { since, signal, onState })) {
    switch (event.type) {
      case "reset":
        snapshot = new Network();
        break;
      case "snapshot":
        if (event.resource !== "ports") snapshot?.set(event);
        break;
      case "synced":
        if (snapshot) {
          network = snapshot;
          network.setHostsLoaded();
          snapshot = undefined;
          handlers.onReplaced(network);
        }
        break;
      default: {
        const change = changeOf(event);
        if (change.resource !== "ports") applyChange(network, change);
        revisionChanges.push(change);
        if (!event.last || revisionChanges.length === 0) break;
        handlers.onChanged(revisionChanges);
        revisionChanges = [];
      }
    }
  }
}

type ChangeEvent = Extract<WatchEvent, { type: "added" | "updated" | "removed" }>;

const changeOf = (event: ChangeEvent): RecentChange => ({ ...event, event: event.type });

/** The stream repeats changes that a list already contains. An older value must not replace a newer one. */
export function applyChange(network: Network, change: NetworkChange): void {
  const known = network[change.resource].get(change.value.id);
  if (known !== undefined && known.revision > change.revision) return;
  if (change.event === "removed") network.remove(change.resource, change.value.id);
  else network.set(change);
}
