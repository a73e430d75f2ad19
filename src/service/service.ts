/**
 * The composition root: builds a running service from a Config. `runService` returns after an orderly stop, and throws a
 * StartupError for anything that keeps the service from starting.
 *
 * Start: sources are created, users and storage are opened, the server listens, sources and readers run. The service
 * reports that it listens once every source has synced or failed, or after a timeout.
 *
 * Stop, in this order, so that no committed change is lost and no request in flight is cut off:
 * 1. Sources stop, so that there are no new claims. A source that does not stop in time is not awaited.
 * 2. Readers and server drain: streams close, requests in flight finish, the port is released.
 * 3. The compactor writes its last snapshot, so that the next start has nothing to replay; the users file and
 *    the certificate are no longer watched. The tasks of a cluster node end; after a timeout they are not awaited.
 * 4. The socket folder of the readers is removed.
 * 5. The log closes. It is the last step, because the earlier ones may still write to it.
 */

import { isIPv6 } from "node:net";
import { openUsers, type ReloadableUsers, type Users } from "../api/auth/users.ts";
import { Drawings } from "../api/endpoints/drawings.ts";
import { openServer, type Server } from "../api/server.ts";
import { createStaticSite } from "../api/site/static-site.ts";
import type { SharedUsers } from "../cluster/shared-users.ts";
import type { ConfigResult } from "../config/config.ts";
import { isClustered } from "../config/cross-checks.ts";
import type { Config, Limits } from "../config/schema.ts";
import { aborted } from "../lib/aborted.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { createLogger, type Logger } from "../lib/logger.ts";
import { isFailing, type SourceStatus } from "../model/source-status.ts";
import { Problems } from "../query/problems/problems.ts";
import type { ProblemWindows } from "../query/problems/recent-changes.ts";
import type { SourceCluster, SourceContext } from "../sources/source.ts";
import { logUnknownDevices } from "../view/unknown-devices.ts";
import type { View } from "../view/view.ts";
import { loadPage } from "../web/bundle.ts";
import { goOnAlone } from "./cluster/go-on-alone.ts";
import { clusterStatus, shareUsers } from "./cluster/member-parts.ts";
import type { ClusterMember } from "./cluster/open-cluster.ts";
import { ConfiguredMap } from "./configured-map.ts";
import { ControllerForwarder } from "./controller-forwarder.ts";
import { dataDirOf, stateDirOf } from "./data-folder.ts";
import { openReaders, type Readers } from "./readers.ts";
import { Reloader } from "./reload.ts";
import { DRAIN_TIMEOUT_MS, sharedServerOptions } from "./server-options.ts";
import { mergeSettingsOf, requireSources, SourceSet } from "./source-set.ts";
import { asStartupError, StartupError } from "./startup-error.ts";
import { openStorage, type ServiceStorage } from "./storage.ts";
import { openTlsFiles, type WatchedTlsFiles } from "./tls-files.ts";

/** Maximum wait for the first sync, so that fast sources (a file, the demo) are complete before the service says it listens. */
const INITIAL_SYNC_TIMEOUT_MS = 3000;
const INITIAL_SYNC_POLL_MS = 20;
const SOURCES_STOP_TIMEOUT_MS = 2000;
const CLUSTER_STOP_TIMEOUT_MS = 2000;

export interface ListeningFacts {
  /** The URL `http://HOST:PORT` or `https://HOST:PORT`, with the actual port if the configured one is 0. */
  readonly url: string;
  /** The configured address, which may be the wildcard address. */
  readonly host: string;
  readonly users: Pick<Users, "all" | "file" | "generated">;
  /** Names of the configured sources. */
  readonly sources: readonly string[];
  /** What is served at the moment, in one line. */
  readonly summary: () => string;
}

export interface ServiceOptions {
  /** A user besides those of the users file, as `NAME:PASSWORD`. */
  readonly credentials: string | undefined;
  /** Signal that stops the service. */
  readonly signal: AbortSignal;
  /** Called once, when the service serves requests. Not called when `signal` aborts before. */
  readonly onListening: (facts: ListeningFacts) => Promise<void>;
  readonly reload: ReloadOptions;
}

export interface ReloadOptions {
  /** Reads the configuration again. */
  readonly load: () => ConfigResult;
  /** Adds a listener that is called for each requested reload. Returns the function that removes it. */
  readonly onRequest: (listener: () => void) => () => void;
}

interface Parts {
  readonly config: Config;
  /** The limits for clients. They are read at each use, and a reload changes them in place. */
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly users: ReloadableUsers;
  /** The users that nodes share; undefined where they do not. */
  readonly sharedUsers: SharedUsers | undefined;
  readonly store: ServiceStorage;
  readonly sources: SourceSet;
  /** The context that the sources were created with. */
  readonly context: SourceContext;
  readonly readers: Readers;
  readonly tls: WatchedTlsFiles | undefined;
  readonly forwarder: ControllerForwarder;
  readonly map: ConfiguredMap;
}

/** Runs the service until it stops. Runs it again whenever the log of its cluster is lost and must be opened again. */
export async function runService(config: Config, options: ServiceOptions): Promise<void> {
  let { port } = config;
  let latest: ListeningFacts | undefined;
  const onListening = async (facts: ListeningFacts) => {
    const isFirst = latest === undefined;
    latest = facts;
    port = Number(new URL(facts.url).port) || port;
    if (isFirst) await options.onListening({ ...facts, summary: () => latest?.summary() ?? "" });
  };
  let outcome = await runOnce(config, { ...options, onListening });
  while (outcome === "lost-log") {
    const loaded = options.reload.load();
    const next = { ...(loaded.ok ? loaded.config : config), port };
    outcome = await runOnce(next, { ...options, onListening });
  }
}

type Outcome = "stopped" | "lost-log";

async function runOnce(config: Config, serviceOptions: ServiceOptions): Promise<Outcome> {
  const clock = systemClock;
  const limits = { ...config.limits };
  const logger = createLogger(undefined, config.logFormat);
  // The log is opened after the sources are created, because opening it needs their order, which is that of the merge.
  let logId: string | undefined;
  let sourceCluster: SourceCluster | undefined;
  const context = {
    clock,
    log: logger,
    logId: () => logId,
    stateDir: stateDirOf(config),
    cluster: () => sourceCluster,
  };
  const created = requireSources(config, context);
  const dataDir = dataDirOf(config);
  const usersOptions = {
    environment: serviceOptions.credentials,
    file: config.users,
    dataDir,
    clock,
    logger,
  };
  if (!isClustered(config)) await asStartupError(() => goOnAlone(config, logger));
  const users = await asStartupError(() => openUsers(usersOptions));
  const tls = await asStartupError(() => openTlsFiles(config, clock, logger));
  const mergeSettings = mergeSettingsOf(config, created);
  const store = await asStartupError(() =>
    openStorage(config, mergeSettings, clock, logger, serviceOptions.signal),
  ).catch((error: unknown) => {
    // A stopped node that still waits for NATS fails to open its storage, and that is no error.
    if (!serviceOptions.signal.aborted) throw error;
  });
  if (!store) return "stopped";
  logId = store.log.id;
  const lost = store.cluster?.log.lost;
  const options = lost
    ? { ...serviceOptions, signal: AbortSignal.any([serviceOptions.signal, lost]) }
    : serviceOptions;
  const sharedUsers = await shareUsers(users, store.cluster, config, clock, logger);
  const { cluster } = store;
  sourceCluster = cluster && {
    deriveKey: (purpose) => cluster.secret.derive(purpose),
    generationOf: (source) => cluster.log.generationOf(source),
  };
  const forwarder = new ControllerForwarder(config.sources, clock);
  const map = new ConfiguredMap(config, { ...store, clock, logger });
  try {
    using readers = openReaders({
      config,
      limits,
      users,
      tls: tls?.identity,
      log: store.log,
      health: store.cluster?.log.health,
      clock,
      logger,
    });
    const sources = new SourceSet(created, store, context);
    // An unwritable log or a long merge delays this step. The start waits for it for a limited time only.
    const applied = sources.applyConfiguration(config).catch((error: unknown) => {
      logger.error("changed settings of sources were not applied", { why: errorMessage(error) });
    });
    await Promise.race([applied, clock.sleep(INITIAL_SYNC_TIMEOUT_MS)]);
    await serveUntilStopped(
      {
        config,
        limits,
        clock,
        logger,
        users,
        sharedUsers,
        store,
        sources,
        context,
        readers,
        tls,
        forwarder,
        map,
      },
      options,
    );
    // 4. `using` removes the socket folder of the readers.
  } finally {
    // 5. Close the log.
    await store.log.close();
    await store.cluster?.nats.close();
  }
  return lost?.aborted && !serviceOptions.signal.aborted ? "lost-log" : "stopped";
}

async function serveUntilStopped(parts: Parts, options: ServiceOptions): Promise<void> {
  const { signal, onListening, reload } = options;
  const { config, users, store, sources, readers, logger } = parts;
  const applySettings = (next: Config) => {
    Object.assign(parts.limits, next.limits);
    parts.forwarder.update(next.sources);
    parts.map.update(next);
    store.history.maxRingBytes = next.limits.streamBufferBytes;
    server.onLimitsChanged();
    readers.sendLimits();
  };
  const reloader = new Reloader({
    ...parts,
    logId: parts.context.logId,
    stateDir: parts.context.stateDir,
    cluster: parts.context.cluster,
    load: reload.load,
    applySettings,
  });
  const server = await openListeningServer(parts, reloader);
  const sourcesStop = new AbortController();
  const readersStop = new AbortController();
  const backgroundStop = new AbortController();
  let readersEnded = Promise.resolve();
  let stopReloads = () => {};
  const sourcesEnded = sources.run(sourcesStop.signal);
  const backgroundEnded = Promise.all([
    store.compactor.run(backgroundStop.signal),
    users.watch(backgroundStop.signal),
    parts.tls?.run(backgroundStop.signal),
    logUnknownDevices(store.committer, parts.clock, logger, backgroundStop.signal),
  ]);
  const clusterEnded = Promise.all([
    store.snapshots?.run(backgroundStop.signal),
    parts.sharedUsers?.run(backgroundStop.signal),
    store.cluster && runAsNode(store.cluster, parts, formatUrl(config, server.port), backgroundStop.signal),
  ]);
  try {
    await waitForInitialSync(parts, signal);
    await asStartupError(() => users.saveGenerated());
    readersEnded = readers.run(server.port, readersStop.signal, signal);
    if (!signal.aborted) {
      const url = formatUrl(config, server.port);
      const summary = () => summaryOf(store.view, sources.status());
      await onListening({ url, host: config.host, users, sources: sources.names, summary });
    }
    stopReloads = reload.onRequest(() => {
      server.reopenAccessLog();
      readers.reopenAccessLogs();
      reloader.request();
    });
    // Waits for the signal, or for an unhandled error of the sources or the background work.
    const allEnded = Promise.all([sourcesEnded, backgroundEnded, clusterEnded, aborted(signal)]);
    await Promise.race([allEnded, aborted(signal)]);
    logger.info("stopping");
  } finally {
    stopReloads();
    // 1. Stop the sources.
    sourcesStop.abort();
    await Promise.race([sourcesEnded.catch(() => {}), parts.clock.sleep(SOURCES_STOP_TIMEOUT_MS)]);
    // 2. Drain the readers and this server.
    parts.map.stop();
    readersStop.abort();
    await Promise.all([readersEnded, server.stop(DRAIN_TIMEOUT_MS)]);
    // 3. Write the last snapshot.
    backgroundStop.abort();
    const stopTimeout = parts.clock.sleep(CLUSTER_STOP_TIMEOUT_MS);
    await Promise.all([
      backgroundEnded.catch(() => {}),
      Promise.race([clusterEnded.catch(() => {}), stopTimeout]),
    ]);
  }
}

async function openListeningServer(parts: Parts, configReload: Reloader): Promise<Server> {
  const { store, sources, readers } = parts;
  const { config, tls, forwarder, map } = parts;
  const { host, port } = config;
  const cluster = store.cluster && clusterStatus(store.cluster, config);
  try {
    await readers.checkPortIsFree(host, port);
    return openServer({
      ...sharedServerOptions({
        ...parts,
        tls: tls?.identity,
        internalAuthorization: readers.internalAuthorization,
      }),
      port,
      sharedPort: readers.processes > 1,
      unixSocketPath: readers.socket,
      readers,
      context: {
        ...store,
        problems: new Problems(store.history, parts.clock, problemWindowsOf(config)),
        drawings: new Drawings(),
      },
      sources: () => sources.status(),
      rejectedRecords: () => sources.rejectedRecords(),
      configReload,
      forwarder,
      map,
      cluster,
      clusterStatus: cluster,
      clusterOverview: await overviewReader(parts),
      tlsExpiresAt: tls && (() => tls.expiresAt),
      site: createStaticSite(loadPage),
    });
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const reason = inUse
      ? "is in use; give another with --port"
      : `cannot be listened on: ${errorMessage(error)}; give another with --host or --port`;
    throw new StartupError("address", `${formatUrl(config, port)} ${reason}`, { cause: error });
  }
}

const problemWindowsOf = ({ problems: { lostLinkHours, movedHostMinutes } }: Config): ProblemWindows => ({
  lostLinkMs: Math.round(lostLinkHours * 3_600_000),
  movedHostMs: Math.round(movedHostMinutes * 60_000),
});

function summaryOf(view: View, sources: readonly SourceStatus[]): string {
  const failing = sources.filter(isFailing).map(({ name }) => name);
  const failure = failing.length === 0 ? "" : `, of which ${failing.join(", ")} failing`;
  const [devices, links, hosts] = [view.size("devices"), view.size("links"), view.size("hosts")];
  return `Serving ${devices} devices, ${links} links, ${hosts} hosts from ${sources.length} sources${failure}`;
}

/** Runs the tasks of a cluster node. Imports them dynamically, so that a single node does not load the client of NATS. */
async function runAsNode(
  cluster: ClusterMember,
  parts: Parts,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const { runClusterNode } = await import("./cluster/run-node.ts");
  await runClusterNode(cluster, { ...parts, url }, signal);
}

async function overviewReader({ store: { cluster }, config }: Parts) {
  if (!cluster) return undefined;
  const { createOverviewReader } = await import("./cluster/read-overview.ts");
  return createOverviewReader(config.cluster.name, cluster);
}

const formatUrl = ({ host, tls }: Config, port: number) =>
  `${tls.cert === undefined ? "http" : "https"}://${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** Returns when every source has synced or failed, or after INITIAL_SYNC_TIMEOUT_MS. */
async function waitForInitialSync({ sources, clock }: Parts, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + INITIAL_SYNC_TIMEOUT_MS;
  const isSyncing = () =>
    sources.status().some(({ status, error }) => status === "starting" && error === undefined);
  while (isSyncing() && clock.monotonic() < deadline && !signal.aborted) {
    await clock.sleep(INITIAL_SYNC_POLL_MS, signal);
  }
}
