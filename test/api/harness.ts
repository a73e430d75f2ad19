/**
 * The whole HTTP layer on a real socket, in this process: a network made of claims, a clock that stands still, one
 * user. For tests of what the service answers; tests of starting, stopping and dying use the real process.
 */
import { type Authenticator, createAuthenticator } from "../../src/api/auth/authenticate.ts";
import { openUsers, type Users } from "../../src/api/auth/users.ts";
import type { ServerLimits } from "../../src/api/handler.ts";
import type { SourceReport } from "../../src/api/health.ts";
import { openServer, type Server } from "../../src/api/server.ts";
import type { StaticSite } from "../../src/api/static-site.ts";
import { ManualClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Log } from "../../src/log/log.ts";
import type { ClaimChange, Claims } from "../../src/model/claim.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { History } from "../../src/view/history.ts";
import { View } from "../../src/view/view.ts";

export const CREDENTIALS = "reader:secret";
export const AUTHORIZATION = `Basic ${btoa(CREDENTIALS)}`;
export const API = "/controller/v1";
export const VERSION = "1.2.3";

const LIMITS: ServerLimits = {
  urlBytes: 8192,
  headerBytes: 16_384,
  connections: 10_000,
  streamsPerUser: 100,
  pageLimit: 10_000,
  requestsPerSecond: 0,
  idleTimeoutSeconds: 60,
};

export interface HarnessOptions {
  readonly limits?: Partial<ServerLimits>;
  readonly ringBytes?: number;
  readonly aliases?: readonly string[];
  readonly origins?: readonly string[];
  /** A file, to open again after `close`; without it, memory. */
  readonly data?: string;
  readonly users?: Users;
  readonly clock?: ManualClock;
  readonly sources?: () => readonly SourceReport[];
  readonly page?: StaticSite;
  readonly host?: string;
}

export interface Harness extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly clock: ManualClock;
  readonly view: View;
  readonly log: Log;
  readonly history: History;
  readonly users: Users;
  readonly server: Server;
  /** Claims of the source `first` (or another of `first`, `second`), a second after the last. */
  apply(changes: readonly ClaimChange[], source?: string): Promise<void>;
  replace(all: Claims, source?: string): Promise<void>;
  /** With the right credentials unless the headers bring their own; a path under /controller/v1 may be relative. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The body of an answer that must be 200. */
  json<T = Record<string, unknown>>(path: string, init?: RequestInit): Promise<T>;
  stop(): Promise<void>;
}

interface Door {
  readonly users: Users;
  readonly authenticator: Authenticator;
}
let shared: Promise<Door> | undefined;

/** One password hash, checked once, for all harnesses of a test file. */
function sharedDoor(): Promise<Door> {
  const clock = new ManualClock();
  shared ??= openUsers({ environment: CREDENTIALS, clock, logger: silentLogger }).then((users) => ({
    users,
    authenticator: createAuthenticator({ users, clock }),
  }));
  return shared;
}

function doorOf(users: Users, clock: ManualClock): Door {
  return { users, authenticator: createAuthenticator({ users, clock }) };
}

export async function openHarness(options: HarnessOptions = {}): Promise<Harness> {
  const clock = options.clock ?? new ManualClock();
  const { users, authenticator } = options.users ? doorOf(options.users, clock) : await sharedDoor();
  const log = openEmbeddedLog(options.data ?? ":memory:");
  const view = new View();
  const snapshot = log.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER);
  if (snapshot) view.load(snapshot);
  for (const batch of log.read(view.revision)) view.apply(batch);
  const names = ["first", "second"];
  const ledger = new Committer(view, log, clock, names);
  const history = new History(ledger, options.ringBytes ?? 64 * 1024 * 1024);
  const intakes = new Map(names.map((name) => [name, new ClaimIngest(ledger, name, silentLogger)]));
  const server = openServer({
    host: options.host ?? "127.0.0.1",
    port: 0,
    aliases: options.aliases ?? [],
    origins: options.origins ?? [],
    limits: { ...LIMITS, ...options.limits },
    version: VERSION,
    context: { view, history, log },
    authenticator,
    users,
    sources: options.sources ?? (() => []),
    refusedRecords: () => ({}),
    site: options.page,
    clock,
    logger: silentLogger,
  });
  const url = `http://127.0.0.1:${server.port}`;

  function intake(source: string): ClaimIngest {
    const found = intakes.get(source);
    if (!found) throw new Error(`no source ${source}`);
    return found;
  }

  function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", AUTHORIZATION);
    return fetch(url + (path.startsWith("/") ? path : `${API}/${path}`), { ...init, headers });
  }

  let stopped: Promise<void> | undefined;
  async function close(): Promise<void> {
    const ended = server.stop(1000);
    await clock.advance(1000); // the drain is over at once where nobody keeps it up
    await ended;
    log.close();
  }
  const stop = () => {
    stopped ??= close();
    return stopped;
  };

  return {
    url,
    port: server.port,
    clock,
    view,
    log,
    history,
    users,
    server,
    async apply(changes, source = "first") {
      await clock.advance(1000);
      await intake(source).apply(changes);
    },
    async replace(all, source = "first") {
      await clock.advance(1000);
      await intake(source).replace(all);
    },
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

/** How long a property may take on a busy machine; it ends a hang and measures nothing. */
export const PROPERTY_MS = 120_000;
