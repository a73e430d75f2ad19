/**
 * The network now: lists first, because they come compressed and at once, then the stream from where they end, so that
 * nothing is missed and nothing comes twice. Hosts come last and in pages: the map stands before the last of a
 * hundred thousand is there.
 */
import type { Change, Client, ConnectionState, WatchEvent } from "../client/client.ts";
import type { EntityChange } from "./change-text.ts";
import { Network } from "./network.ts";

export interface LiveEvents {
  /** Another network is the live one: at the start, and when the service could not say what had changed. */
  replaced(network: Network): void;
  /** Some of it changed; `changes` is empty while the first hosts come in. */
  changed(changes: readonly NetworkChange[]): void;
  /** What happened shortly before, oldest first. */
  recalled(changes: readonly NetworkChange[]): void;
  connection(state: ConnectionState): void;
  failed(error: unknown): void;
}

/** Changes of what the page shows; ports are read when somebody looks at a device. */
export type NetworkChange = EntityChange & { readonly revision: number; readonly time: number };

const HOSTS_A_PAGE = 5000;
const RETRY_MS = 3000;

export async function watchNetwork(client: Client, events: LiveEvents, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow(client, events, signal);
    } catch (error) {
      if (signal.aborted) return;
      events.connection({ state: "reconnecting", afterMs: RETRY_MS, reason: String(error) });
      events.failed(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function follow(client: Client, events: LiveEvents, signal: AbortSignal): Promise<void> {
  events.connection({ state: "connecting" });
  const [devices, links] = await Promise.all([
    client.list("devices", {}, { signal }),
    client.list("links", {}, { signal }),
  ]);
  const network = new Network();
  for (const value of devices.items) network.set({ resource: "devices", value });
  for (const value of links.items) network.set({ resource: "links", value });
  events.replaced(network);
  let since = Math.min(devices.revision, links.revision);
  for await (const page of client.pages("hosts", { limit: HOSTS_A_PAGE }, { signal })) {
    for (const value of page.items) network.set({ resource: "hosts", value });
    since = Math.min(since, page.revision);
    events.changed([]);
  }
  network.setHostsLoaded();
  events.changed([]);
  void recall(client, signal).then(
    (changes) => events.recalled(changes.filter((change) => change.revision <= since)),
    () => {}, // a list without a past is no reason to say anything
  );
  await stream(client, network, since, events, signal);
}

/** What happened in the last minutes, unless that is more than anybody would read, as after a start. */
const RECALL_MS = 10 * 60_000;
const MAX_RECALLED = 1000;

async function recall(client: Client, signal: AbortSignal): Promise<NetworkChange[]> {
  const { oldest, newest } = await client.timeline(1, {}, { signal });
  const from = new Date(Math.max(oldest.time, newest.time - RECALL_MS));
  const { counts } = await client.timeline(1, { from }, { signal });
  if ((counts[0] ?? 0) > MAX_RECALLED) return [];
  const start = await client.diff("devices", from, undefined, {}, { signal });
  const { changes } = await client.changes("topology", start.from.revision, {}, { signal });
  return changes.filter(isShown);
}

const isShown = (change: Change): change is Extract<Change, EntityChange> => change.resource !== "ports";

async function stream(
  client: Client,
  start: Network,
  since: number,
  events: LiveEvents,
  signal: AbortSignal,
): Promise<void> {
  let network = start;
  let coming: Network | undefined;
  let batch: NetworkChange[] = [];
  const onState = (state: ConnectionState) => events.connection(state);
  for await (const event of client.watch("topology", {}, { since, signal, onState })) {
    switch (event.type) {
      case "reset":
        coming = new Network();
        break;
      case "snapshot":
        if (event.resource !== "ports") coming?.set(event);
        break;
      case "synced":
        if (coming) {
          network = coming;
          network.setHostsLoaded();
          coming = undefined;
          events.replaced(network);
        }
        break;
      default: {
        const change = changeOf(event);
        if (change) {
          applyChange(network, change);
          batch.push(change);
        }
        if (!event.last || batch.length === 0) break;
        events.changed(batch);
        batch = [];
      }
    }
  }
}

type Happening = Extract<WatchEvent, { type: "added" | "updated" | "removed" }>;

function changeOf(event: Happening): NetworkChange | undefined {
  if (event.resource === "ports") return undefined;
  return { ...event, event: event.type };
}

/** What a list already told comes again with the stream; the older telling must not undo the newer. */
export function applyChange(network: Network, change: NetworkChange): void {
  const known = network[change.resource].get(change.value.id);
  if (known !== undefined && known.revision > change.revision) return;
  if (change.event === "removed") network.remove(change.resource, change.value.id);
  else network.set(change);
}
