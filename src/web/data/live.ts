/**
 * The live network: reads the lists of devices and links and the number of hosts at each device, then follows the change
 * stream from their revision, so that no change is missed and none is applied twice. Lists come first because they are
 * compressed and arrive at once. Hosts are loaded when something is opened (`sync.ts`).
 *
 * While the service still reads its sources for the first time, its network may lack links or hosts. The page shows such a
 * network as partial and reads the lists again until it is complete. It follows only a complete network.
 */
import type { Client, ConnectionState } from "../../client/client.ts";
import type { RecentChange, ShownChange } from "./change-groups.ts";
import { type LoadedNetwork, loadNetwork } from "./load-network.ts";
import { reasonOf, throttle } from "./pacing.ts";
import type { PageNetwork } from "./page-network.ts";

interface LiveHandlers {
  /** Called with a new live network: at the start, after a partial one, and after the stream was reset. */
  onReplaced(network: PageNetwork): void;
  /** Called after the live network changed in place; `changes` is empty when only host counts were loaded again. */
  onChanged(changes: readonly RecentChange[]): void;
  /** Called with the changes of the last minutes before the network was loaded. The promise must not reject. */
  onEarlierChanges(earlier: EarlierChanges): Promise<void>;
  onConnection(state: ConnectionState): void;
  /** Called when data of the stream has arrived, also a heartbeat: up to now the live network has every change. */
  onReceived(): void;
}

interface EarlierChanges {
  /** Epoch milliseconds; `changes` has every change after it. */
  readonly sinceMs: number;
  /** The changes, oldest first. */
  readonly changes: readonly RecentChange[];
}

/** A change of a device, link or host. Ports are not part of the page's network; the panel reads them on demand. */
export type NetworkChange = ShownChange & { readonly revision: number; readonly time: number };

const RETRY_MS = 3000;
/** The interval at which the page checks whether all sources have reported. */
const STARTING_INTERVAL_MS = 1000;
const MAX_ASKING_MS = 2000;
/** The pause before a partial network is loaded again, as a multiple of the time that loading took. */
const PARTIAL_PAUSE_FACTOR = 4;
/** The time after which the page no longer waits for sources that have not reported and state no error. */
const MAX_PARTIAL_MS = 60_000;
/** The counts of hosts are loaded again at most this often. */
const RECOUNT_INTERVAL_MS = 1000;

export async function watchNetwork(
  client: Client,
  handlers: LiveHandlers,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  // A network that was shown as complete stays complete, although the sources of a restarted service report again.
  let mayBePartial = true;
  while (!signal.aborted) {
    try {
      mayBePartial &&= performance.now() - start < MAX_PARTIAL_MS;
      handlers.onConnection({ state: "connecting" });
      const loadStart = performance.now();
      // The lists are requested together with the state of the sources, so that the map does not wait for one after the other.
      const sources: Promise<SourcesState> = mayBePartial
        ? stateOfSources(client, signal)
        : Promise.resolve(REPORTED);
      const loaded = await loadNetwork(client, undefined, signal, sources);
      const { isStarting, revision } = await sources;
      mayBePartial = isStarting;
      // The lists are older than the state, so they may lack what the sources have reported in between.
      if (!isStarting && loaded.revision < revision) continue;
      const loadMs = performance.now() - loadStart;
      handlers.onReplaced(loaded.network);
      if (mayBePartial) await pauseWhileStarting(client, loadMs * PARTIAL_PAUSE_FACTOR, signal);
      else await follow(client, loaded, handlers, signal);
    } catch (error) {
      if (signal.aborted) return;
      handlers.onConnection({ state: "reconnecting", afterMs: RETRY_MS, reason: reasonOf(error) });
      await pause(RETRY_MS);
    }
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface SourcesState {
  /** Whether a source of observed entities has not reported yet. */
  readonly isStarting: boolean;
  /** The revision of the network in this state. */
  readonly revision: number;
}

const REPORTED: SourcesState = { isStarting: false, revision: 0 };

/**
 * A source with an error does not count as starting, because it may take any time. All count as reported after
 * `MAX_ASKING_MS`, so that the map does not wait long for the response.
 */
async function stateOfSources(client: Client, signal: AbortSignal): Promise<SourcesState> {
  const answer = client.ready({ signal }).then(({ sources = [], revision = 0 }) => ({
    isStarting: sources.some(
      ({ status, error, role }) => status === "starting" && error === undefined && role !== "intended",
    ),
    revision,
  }));
  const unknown = () => REPORTED;
  return Promise.race([answer.catch(unknown), pause(MAX_ASKING_MS).then(unknown)]);
}

/** Pauses for at most about `ms`; ends early when all sources have reported. */
async function pauseWhileStarting(client: Client, ms: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + ms;
  do await pause(STARTING_INTERVAL_MS);
  while (performance.now() < end && (await stateOfSources(client, signal)).isStarting);
}

const EARLIER_MS = 10 * 60_000;
/** The pause before the earlier changes are loaded, so that they do not delay the first map. */
const EARLIER_PAUSE_MS = 1000;
const EARLIER_SPANS = 60;
/** Maximum number of earlier changes. If there were more, those of a shorter time are loaded. */
const MAX_EARLIER = 10_000;

async function loadEarlierChanges(
  client: Client,
  untilRevision: number,
  signal: AbortSignal,
): Promise<EarlierChanges> {
  await pause(EARLIER_PAUSE_MS);
  const { oldest, newest } = await client.timeline(1, {}, { signal });
  const toMs = newest.time + 1;
  const startMs = Math.max(oldest.time, newest.time - EARLIER_MS);
  const range = { from: new Date(startMs), to: new Date(toMs) };
  const { counts } = await client.timeline(EARLIER_SPANS, range, { signal });
  // The first of the spans whose changes are few enough together with those of all later ones.
  let [first, total] = [counts.length, counts.at(-1) ?? 0];
  while (first > 0 && total <= MAX_EARLIER) total += counts[--first - 1] ?? 0;
  const sinceMs = startMs + ((toMs - startMs) / counts.length) * first;
  const start = await client.diff("devices", new Date(sinceMs), undefined, {}, { signal });
  const { changes } = await client.changes("topology", start.from.revision, {}, { signal });
  return { sinceMs, changes: changes.filter(({ revision }) => revision <= untilRevision) };
}

/** Returns when the service no longer has the changes since the last revision: loading lists is faster than a snapshot. */
async function follow(
  client: Client,
  { network, revision: since }: LoadedNetwork,
  handlers: LiveHandlers,
  signal: AbortSignal,
): Promise<void> {
  // Without them, the list of recent changes begins when the page was opened.
  loadEarlierChanges(client, since, signal).then(handlers.onEarlierChanges, () => {});
  let revisionChanges: RecentChange[] = [];
  const { openedHosts } = network;
  const recount = throttle(RECOUNT_INTERVAL_MS, async () => {
    try {
      await openedHosts.recount((revision) => client.hostCounts({ "min-revision": revision }, { signal }));
      handlers.onChanged([]);
      if (openedHosts.countsAreStale) recount();
    } catch {
      // The next host that moves triggers another attempt. The state of the stream shows a lost connection.
    }
  });
  const options = { since, signal, onState: handlers.onConnection, onRevision: handlers.onReceived };
  for await (const event of client.watch("topology", {}, options)) {
    if (event.type === "reset") return;
    if (event.type === "snapshot" || event.type === "synced") continue;
    const change: RecentChange = { ...event, event: event.type };
    if (change.resource !== "ports") applyChange(network, change);
    revisionChanges.push(change);
    if (!event.last) continue;
    handlers.onChanged(revisionChanges);
    revisionChanges = [];
    if (openedHosts.countsAreStale) recount();
  }
}

/** Applies a change, unless a list already contains a newer value: the stream repeats changes that are in the lists. */
export function applyChange(network: PageNetwork, change: NetworkChange): void {
  if (change.resource === "hosts") {
    network.openedHosts.apply(change);
    return;
  }
  const known = network[change.resource].get(change.value.id);
  if (known !== undefined && known.revision > change.revision) return;
  if (change.event === "removed") network.remove(change.resource, change.value.id);
  else network.set(change);
}
