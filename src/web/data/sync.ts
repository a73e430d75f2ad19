/**
 * Keeps the store up to date until the page is closed: the live network, the readiness of the service, the settings and
 * metrics of the map, drift from the plan, the opened hosts, the past and the paths. Each function writes the signals of
 * one of these. A request is aborted when the address no longer needs it, and sent again when a lost connection is back.
 */
import { batch, computed, effect, untracked } from "@preact/signals";
import type { ConnectionState } from "../../client/client.ts";
import type { MapMetric, MetricValues } from "../../model/map-settings.ts";
import { syncViews } from "../arrange/view-actions.ts";
import { syncProblems } from "../problems/sync-problems.ts";
import { parseFilter } from "../table/table-filter.ts";
import { syncPlay } from "../timeline/play-controls.tsx";
import { ChangeGroups, type RecentChange } from "./change-groups.ts";
import { syncCutOff } from "./cut-off.ts";
import { type DriftList, loadDriftAt, watchDrift } from "./drift-list.ts";
import { CONFLICTING_HOSTS, type HostSelection, type Hosts, hostsAtDevice, hostWithId } from "./hosts.ts";
import type { OverlayResult } from "./link-overlay.ts";
import { watchNetwork } from "./live.ts";
import { loadComparison, loadPast, type Past } from "./load-network.ts";
import { abortPrevious, loadWithRetry, mayRetry, reasonOf, reloadLater, Slices, throttle } from "./pacing.ts";
import { type PageStore, readNetwork } from "./page-store.ts";
import type { PageSession } from "./session.ts";
import { type LoadedPath, loadPortNames, pathEndId } from "./shown-path.ts";
import type { EntityRef } from "./view-state.ts";

const READINESS_INTERVAL_MS = 10_000;
/** Maximum number of changes that are held until the earlier ones are loaded. */
const MAX_RECEIVED = 10_000;
/** Number of changes that are grouped between two pauses. */
const GROUPED_AT_ONCE = 200;
/** In a network with at least this many devices, changes are shown at most once in `LARGE_INTERVAL_MS`. */
const LARGE_DEVICES = 2000;
const LARGE_INTERVAL_MS = 400;

export function startSync(store: PageStore): void {
  syncReadiness(store);
  syncDrift(store);
  syncSettings(store);
  syncViews(store);
  syncOverlay(store);
  syncHosts(store);
  syncPath(store);
  syncProblems(store);
  syncCutOff(store);
  const reloadComparison = syncHistory(store);
  syncLive(store, reloadComparison);
  syncPlay(store);
}

/**
 * Calls `load` now, at intervals, and when there is a connection again after it was lost or `load` failed. Failures are
 * ignored, because the state of the stream shows that the connection is lost. There is one load at a time, because loads wait
 * while the page shows the form for a login.
 */
export function loadRepeatedly(
  { connection }: Pick<PageStore, "connection">,
  intervalMs: number,
  load: () => Promise<void>,
): void {
  let isLoading = false;
  let isStale = false;
  const tryLoad = async () => {
    if (isLoading) return;
    isLoading = true;
    isStale = false;
    await load().catch(() => {
      isStale = true;
    });
    isLoading = false;
  };
  effect(() => {
    const { state } = connection.value;
    isStale ||= state === "reconnecting";
    if (isStale && state === "connected") void tryLoad();
  });
  void tryLoad();
  setInterval(() => void tryLoad(), intervalMs);
}

function syncReadiness(store: PageStore): void {
  loadRepeatedly(store, READINESS_INTERVAL_MS, async () => {
    store.readiness.value = await store.client.ready();
  });
}

function syncLive(store: PageStore, reloadComparison: () => void): void {
  const { live } = store;
  let recent = new ChangeGroups(Date.now());
  /** The changes since the network was loaded, while the earlier ones, which must be grouped first, are being loaded. */
  let received: RecentChange[] | undefined;
  let scheduled = false;
  /** When the network was last known to be current. A silent connection is noticed only some time after that. */
  let receivedMs: number | undefined;
  const onReceived = () => {
    receivedMs = Date.now();
  };
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
  // The page renders once per frame, however many revisions arrive in it.
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
        onReceived();
        // Changes may have been missed, so the list starts again.
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
      onConnection: (next) => setConnection(store, next, receivedMs),
      onReceived,
    },
    new AbortController().signal,
  );
}

/**
 * Sets the state of the connection. It is lost since data was last received from it, or else since now. An attempt to
 * reconnect does not reset `lostSince`.
 */
export function setConnection(
  { connection, lostSince }: Pick<PageStore, "connection" | "lostSince">,
  next: ConnectionState,
  receivedMs?: number,
): void {
  batch(() => {
    connection.value = next;
    if (next.state === "connected") lostSince.value = undefined;
    else if (next.state !== "connecting") lostSince.value ??= receivedMs ?? Date.now();
  });
}

const SETTINGS_INTERVAL_MS = 60_000;

/**
 * Loads the map settings from the configuration of the service: links out, saved views and metrics. A reload of the
 * configuration may change them.
 */
function syncSettings(store: PageStore): void {
  loadRepeatedly(store, SETTINGS_INTERVAL_MS, async () => {
    const response = await store.session.fetch("/map/settings.json", {});
    if (response.ok) store.settings.value = await response.json();
  });
}

/** The maximum pause after a failure of the connection to the service itself. */
const METRIC_RETRY_MS = 5000;

/**
 * Loads the values of the metric on links while one is chosen and the page is visible. When they cannot be read there
 * are no values, and the reason is kept for display.
 */
function syncOverlay({ state, settings, overlayResult, session }: PageStore): void {
  const chosen = computed(() => state.value.metric);
  // The metric as text, which stays equal when the settings are loaded again.
  const about = computed(() =>
    JSON.stringify(settings.value?.metrics.find(({ name }) => name === chosen.value)),
  );
  const isLoaded = computed(() => settings.value !== undefined);
  effect(() => {
    overlayResult.value = undefined;
    const name = chosen.value;
    if (name === undefined || !isLoaded.value) return;
    if (about.value === undefined) {
      overlayResult.value = { ok: false, reason: `${name} is no metric of this service.` };
      return;
    }
    return followMetric(session, JSON.parse(about.value), (result) => {
      overlayResult.value = result;
    });
  });
}

/** Loads the values once per interval. Returns the function that stops that. */
function followMetric(
  session: PageSession,
  metric: MapMetric,
  publish: (result: OverlayResult) => void,
): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async (): Promise<void> => {
    clearTimeout(timer);
    if (document.hidden) return;
    const result = await loadMetric(session, metric, end.signal);
    if (end.signal.aborted) return;
    publish(result.result);
    timer = setTimeout(() => void next(), result.retryMs);
  };
  const onVisible = () => {
    if (!document.hidden) void next();
  };
  document.addEventListener("visibilitychange", onVisible, { signal: end.signal });
  void next();
  return () => {
    clearTimeout(timer);
    end.abort();
  };
}

async function loadMetric(
  session: PageSession,
  metric: MapMetric,
  signal: AbortSignal,
): Promise<{ readonly result: OverlayResult; readonly retryMs: number }> {
  const { name, unit, max, intervalSeconds } = metric;
  const retryMs = intervalSeconds * 1000;
  try {
    const response = await session.fetch(`/map/metrics/${encodeURIComponent(name)}`, { signal });
    const body = await response.json();
    if (!response.ok)
      return { result: { ok: false, reason: String(body.detail ?? response.status) }, retryMs };
    const { values, ...facts }: MetricValues = body;
    const overlay = { name, unit, max, values: new Map(Object.entries(values)) };
    return { result: { ok: true, overlay, facts }, retryMs };
  } catch {
    const reason = `${name}: the service does not respond.`;
    return { result: { ok: false, reason }, retryMs: Math.min(retryMs, METRIC_RETRY_MS) };
  }
}

/** The list is shown at most this often while it changes. */
const PUBLISH_INTERVAL_MS = 100;

/**
 * Keeps `store.drift` up to date while the page needs it: for the drift layer, for a table that is filtered by drift,
 * and for a selected entity that the network does not have, which may be a planned one. At other times it sends no
 * requests.
 */
function syncDrift(store: PageStore): void {
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
    const onFailed = (error: string) => publish({ entities: new Map(), error });
    if (at.value === undefined) {
      let newest: DriftList | undefined;
      const publishLater = throttle(PUBLISH_INTERVAL_MS, () => newest && publish(newest));
      const onChange = (list: DriftList) => {
        newest = list;
        publishLater();
      };
      watchDrift(client, onChange, signal).catch((error: unknown) => onFailed(reasonOf(error)));
    } else {
      const moment = at.value;
      const load = () => loadDriftAt(client, moment, signal);
      void loadWithRetry(store.connection, signal, load, { onLoaded: publish, onFailed });
    }
    return () => {
      request.abort();
      drift.value = undefined;
    };
  });
}

function needsDrift(store: PageStore): boolean {
  const { layer, view, filter, selected } = store.state.value;
  if (layer === "drift") return true;
  if (view !== "map" && parseFilter(filter).some(([name]) => name === "drift")) return true;
  const network = readNetwork(store);
  if (!selected || !network?.isKnown(selected.kind, selected.id)) return false;
  return !network[selected.kind].has(selected.id);
}

/**
 * Loads the hosts that the page shows, and no others: those of devices whose hosts are drawn or whose ports are listed, the
 * selected host, the hosts at the ends of a path, and those in conflict while their layer is shown. A group that is no
 * longer shown is closed, and its request is aborted. A group that the service refuses, such as for a moment that it no
 * longer has, is not requested again until another moment is shown.
 */
function syncHosts(store: PageStore): void {
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

function shownGroups({ state, pathStart }: PageStore): ReadonlyMap<string, HostSelection> {
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

async function loadGroup(
  store: PageStore,
  hosts: Hosts,
  group: HostSelection,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // The list must not be older than the changes that the stream has already applied.
    const moment: { at?: string; "min-revision"?: number } =
      hosts.at === undefined ? { "min-revision": hosts.revision } : { at: hosts.at };
    try {
      const { items, next } = await store.client.list("hosts", { ...group.query, ...moment }, { signal });
      if (signal.aborted) return;
      // The page has moved to another moment meanwhile.
      if (moment.at !== hosts.at) continue;
      hosts.setLoaded(group.key, items, next === undefined);
      store.networkVersion.value++;
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (moment.at !== hosts.at) continue;
      if (await mayRetry(store.connection, error, signal)) continue;
      if (signal.aborted) return;
      hosts.setFailed(group.key, reasonOf(error));
      store.networkVersion.value++;
      return;
    }
  }
}

/** A comparison with the present is loaded again at most this often while the network changes. */
const COMPARISON_INTERVAL_MS = 2000;

type HistoryStore = Pick<
  PageStore,
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

/**
 * Loads the past network and the comparison of the address. A request is aborted when the address changes to another
 * moment before it has ended, and sent again when a lost connection is back. For a moment near the one that is shown, only
 * the differences are loaded. Returns a function to be called when the live network has changed.
 */
export function syncHistory(store: HistoryStore): () => void {
  const { client, state, live, past, pastMoment, comparison, problem, loading, shownMoments } = store;
  const nextSignal = abortPrevious();
  let shown: Past | undefined;

  const load = (): void => {
    const signal = nextSignal();
    const { at, compare } = state.peek();
    const loadMoments = async () => {
      problem.value = undefined;
      loading.value = at !== undefined || compare !== undefined;
      const next = at === undefined ? undefined : await loadPast(client, at, shown, signal);
      signal.throwIfAborted();
      shown = next;
      const base = shown?.network ?? live.peek();
      if (compare === undefined || !base) return undefined;
      return loadComparison(client, compare, at, base, signal);
    };
    void loadWithRetry(store.connection, signal, loadMoments, {
      onLoaded: (compared) =>
        batch(() => {
          past.value = shown?.network;
          pastMoment.value = shown?.moment;
          comparison.value = compared;
          shownMoments.value = { at, compare };
          loading.value = false;
          // A network that moved to another moment is the same object.
          store.networkVersion.value++;
        }),
      onFailed: (reason) =>
        batch(() => {
          problem.value = reason;
          loading.value = false;
        }),
    });
  };

  const moments = computed(() => `${state.value.at} ${state.value.compare}`);
  effect(() => {
    void moments.value;
    if (live.value) untracked(load);
  });
  return reloadLater(
    COMPARISON_INTERVAL_MS,
    () => loading.peek(),
    () => {
      const { at, compare } = state.peek();
      if (compare !== undefined && at === undefined) load();
    },
  );
}

/** Maximum number of paths that are listed. The union contains all of them. */
const MAX_LISTED_PATHS = 32;
const PATH_RELOAD_MS = 2000;

type PathStore = Pick<
  PageStore,
  "client" | "state" | "path" | "pathLoading" | "pathFault" | "network" | "networkVersion" | "connection"
>;

/**
 * Loads the shortest paths between the ends of the address at its moment, and loads them again some time after the network
 * changed and when a lost connection is back. A request is aborted when the address changes. The paths of one moment stay
 * until those of the next one are loaded, so that playback does not hide them at each step.
 */
export function syncPath(store: PathStore): void {
  const { client, state, path, pathLoading, pathFault } = store;
  const nextSignal = abortPrevious();
  const load = (): void => {
    const signal = nextSignal();
    const { path: ends, at } = state.peek();
    pathLoading.value = ends !== undefined;
    if (!ends) return;
    const loadPaths = async () => {
      pathLoading.value = true;
      const network = store.network.peek();
      const [src, dst] = [pathEndId(network, ends[0], "src"), pathEndId(network, ends[1], "dst")];
      const explanation = await client.explainPaths(src, dst, { at }, { signal });
      const limit = Math.min(MAX_LISTED_PATHS, explanation.count);
      const { paths } = limit === 0 ? { paths: [] } : await client.paths(src, dst, { at, limit }, { signal });
      const passed = [...paths.flatMap(({ links }) => links), ...(explanation.none?.obstacles ?? [])];
      const points = passed.flatMap((link) => [link.src, link.dst]);
      return { explanation, paths, portNames: await loadPortNames(client, points, at, signal) };
    };
    const publish = (found: LoadedPath | undefined, fault: string | undefined) =>
      batch(() => {
        path.value = found;
        pathFault.value = fault;
        pathLoading.value = false;
      });
    void loadWithRetry(store.connection, signal, loadPaths, {
      onLoaded: (found) => publish(found, undefined),
      onFailed: (reason) => publish(undefined, reason),
    });
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
      load();
    });
  });
  const reload = reloadLater(PATH_RELOAD_MS, () => pathLoading.peek(), load);
  effect(() => {
    void store.networkVersion.value;
    untracked(() => {
      if (state.peek().path && state.peek().at === undefined && hasNetwork.peek()) reload();
    });
  });
}
