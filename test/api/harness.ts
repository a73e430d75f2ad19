/**
 * The HTTP interface on a real socket, inside the test process: a network made of claims, a manual clock, one user. For
 * tests of responses; tests of start, stop and crashes use the real process.
 */

import { type Authenticator, createAuthenticator } from "../../src/api/auth/authenticate.ts";
import { openUsers, type Users } from "../../src/api/auth/users.ts";
import type { ClusterStatus } from "../../src/api/cluster-status.ts";
import { Drawings } from "../../src/api/endpoints/drawings.ts";
import type { MapSource } from "../../src/api/endpoints/map-source.ts";
import type { ServerLimits } from "../../src/api/limits/admission.ts";
import type { OnosOptions } from "../../src/api/onos/onos-dialect.ts";
import { openServer, type Server } from "../../src/api/server.ts";
import type { StaticSite } from "../../src/api/site/static-site.ts";
import type { LiveTlsIdentity } from "../../src/http1/tls-identity.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { withoutPauses } from "../../src/lib/steps.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Log, LogEntry } from "../../src/log/log.ts";
import type { ClaimChange, Claims } from "../../src/model/claim.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import type { SourceReport } from "../../src/model/source-status.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import type { ProblemWindows } from "../../src/query/problems/recent-changes.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { type BatchListener, History } from "../../src/view/history.ts";
import { View } from "../../src/view/view.ts";
import { ManualClock } from "../support/manual-clock.ts";

export const CREDENTIALS = "reader:secret";
export const AUTHORIZATION = `Basic ${btoa(CREDENTIALS)}`;
export const API = "/controller/v1";
export const VERSION = "1.2.3";

const LIMITS: ServerLimits = {
  headerBytes: 16_384,
  connections: 10_000,
  streamsPerUser: 100,
  pageLimit: 10_000,
  paths: 256,
  requestsPerSecond: 0,
  idleTimeoutSeconds: 60,
  minReadBytesPerSecond: 1024,
  responseBytesPerUser: 64 * 1024 * 1024,
  responseBytes: 256 * 1024 * 1024,
  forwards: 64,
  forwardsPerUser: 16,
};

export interface HarnessOptions {
  readonly limits?: Partial<ServerLimits>;
  readonly ringBytes?: number;
  readonly aliases?: readonly string[];
  readonly onos?: OnosOptions;
  readonly origins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly userHeader?: string;
  readonly hosts?: readonly string[];
  /** The file of the log, for tests that open it again after `stop`; in memory when left out. */
  readonly data?: string;
  /** The module of the log's writer thread. */
  readonly logWriter?: URL;
  readonly users?: Users;
  readonly clock?: ManualClock;
  readonly sources?: () => readonly SourceReport[];
  readonly site?: StaticSite;
  readonly map?: MapSource;
  readonly host?: string;
  readonly tls?: LiveTlsIdentity;
  readonly scheduler?: Scheduler;
  readonly drawings?: Drawings;
  readonly problemWindows?: ProblemWindows;
  /** Makes it a node of a cluster. */
  readonly cluster?: ClusterStatus;
}

export interface Harness extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly clock: ManualClock;
  readonly view: View;
  readonly log: Log;
  readonly history: History;
  readonly scheduler: Scheduler;
  readonly users: Users;
  readonly server: Server;
  /** Advances the clock by a second, then applies claims of a source: `first` (default) or `second`. */
  apply(changes: readonly ClaimChange[], source?: string): Promise<void>;
  replace(all: Claims, source?: string): Promise<void>;
  /** Advances the clock by a second, then commits these entries as one revision, as the view would. */
  write(entries: readonly LogEntry[]): Promise<void>;
  /** The same at the present time. */
  commit(entries: readonly LogEntry[]): Promise<void>;
  /** Sends valid credentials unless the headers have their own. A relative path is below /controller/v1. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The parsed body; throws unless the status is 200. */
  json<T = Record<string, unknown>>(path: string, init?: RequestInit): Promise<T>;
  stop(): Promise<void>;
}

interface AuthSetup {
  readonly users: Users;
  readonly authenticator: Authenticator;
}
let sharedAuth: Promise<AuthSetup> | undefined;

/** Shared by all harnesses of a test file, because hashing a password is slow. */
function getSharedAuth(): Promise<AuthSetup> {
  const clock = new ManualClock();
  sharedAuth ??= openUsers({ environment: CREDENTIALS, clock, logger: silentLogger }).then((users) => ({
    users,
    authenticator: createAuthenticator({ users, clock }),
  }));
  return sharedAuth;
}

function createAuth(users: Users, clock: ManualClock): AuthSetup {
  return { users, authenticator: createAuthenticator({ users, clock }) };
}

export async function openHarness(options: HarnessOptions = {}): Promise<Harness> {
  const clock = options.clock ?? new ManualClock();
  const { users, authenticator } = options.users ? createAuth(options.users, clock) : await getSharedAuth();
  const log = openEmbeddedLog(
    options.data ?? ":memory:",
    options.logWriter ? { worker: options.logWriter } : {},
  );
  const view = new View();
  const snapshot = log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER);
  if (snapshot) view.load(snapshot);
  for (const batch of withoutPauses(log.read(view.revision))) view.apply(batch);
  const names = ["first", "second"];
  const committer = new Committer(view, log, clock, observedSources(names));
  const listeners: BatchListener[] = [];
  const onBatch = (listener: BatchListener) => {
    listeners.push(listener);
    return committer.onBatch(listener);
  };
  const history = new History({ view, log, onBatch }, options.ringBytes ?? 64 * 1024 * 1024);
  const ingestBySource = new Map(names.map((name) => [name, new ClaimIngest(committer, name, silentLogger)]));
  const scheduler = options.scheduler ?? new Scheduler();
  const server = openServer({
    host: options.host ?? "127.0.0.1",
    port: 0,
    aliases: options.aliases ?? [],
    onos: options.onos,
    origins: options.origins ?? [],
    trustedProxies: options.trustedProxies ?? [],
    userHeader: options.userHeader,
    hosts: options.hosts ?? [],
    limits: { ...LIMITS, ...options.limits },
    version: VERSION,
    context: {
      view,
      history,
      log,
      scheduler,
      problems: new Problems(history, clock, options.problemWindows),
      drawings: options.drawings ?? new Drawings(),
    },
    authenticator,
    users,
    sources: options.sources ?? (() => []),
    rejectedRecords: () => ({}),
    site: options.site,
    map: options.map,
    tls: options.tls,
    cluster: options.cluster,
    clusterStatus: options.cluster,
    clock,
    logger: silentLogger,
  });
  const url = `${options.tls ? "https" : "http"}://127.0.0.1:${server.port}`;

  function ingestOf(source: string): ClaimIngest {
    const ingest = ingestBySource.get(source);
    if (!ingest) throw new Error(`no source ${source}`);
    return ingest;
  }

  function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", AUTHORIZATION);
    return fetch(url + (path.startsWith("/") ? path : `${API}/${path}`), { ...init, headers });
  }

  let stopped: Promise<void> | undefined;
  async function close(): Promise<void> {
    const stopping = server.stop(1000);
    await clock.advance(1000); // ends the drain timeout
    await stopping;
    await log.close();
  }
  const stop = () => {
    stopped ??= close();
    return stopped;
  };

  const commit = async (entries: readonly LogEntry[]): Promise<void> => {
    const batch = { revision: view.revision + 1, time: clock.now(), entries };
    await log.append(batch);
    view.apply(batch);
    for (const listener of listeners) listener(batch, JSON.stringify(entries).length);
  };
  return {
    url,
    port: server.port,
    clock,
    view,
    log,
    history,
    scheduler,
    users,
    server,
    async apply(changes, source = "first") {
      await clock.advance(1000);
      await ingestOf(source).apply(changes);
    },
    async replace(all, source = "first") {
      await clock.advance(1000);
      await ingestOf(source).replace(all);
    },
    async write(entries) {
      await clock.advance(1000);
      await commit(entries);
    },
    commit,
    fetch: request,
    async json(path, init) {
      const response = await request(path, init);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Ends a test that hangs. Generous, so that a busy machine does not fail it. */
export const PROPERTY_TIMEOUT_MS = 120_000;
