/**
 * The connection of a node to NATS. The client reconnects by itself for as long as the node runs. Publishing fails meanwhile,
 * and the publishers try again. A node that has a copy of the log starts before NATS is reached.
 */
import { readFileSync } from "node:fs";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  type Authenticator,
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  UserAuthenticationExpiredError,
} from "@nats-io/transport-node";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { parseNatsUrl } from "../../lib/nats-url.ts";
import { NatsError } from "./nats-error.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 250;
const FIRST_CONNECT_WAIT_MS = 1_000;
/** Interval of pings. The client leaves a server that does not answer for twice this time. */
const PING_INTERVAL_MS = 3_000;
const REQUEST_TIMEOUT_MS = 3_000;
const FOR_OPERATORS =
  "; a credentials file is for servers with an operator: where the servers have accounts and users in their own file, remove " +
  "cluster.credentialsFile and write tls://USER:PASSWORD@HOST in cluster.servers";

export interface NatsOptions {
  readonly servers: readonly string[];
  /** Name of the node in NATS's lists of connections. */
  readonly clientName: string;
  readonly credentialsFile?: string | undefined;
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
}

/** The client of a node. `connection`, `jetstream` and `manager` throw `NatsError` until NATS is reached for the first time. */
export interface NatsClient {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Whether a server is connected now. */
  readonly isConnected: boolean;
  /** The reason why a server has refused this node since the last connection; undefined if none has. */
  readonly refusal: string | undefined;
  /** Resolves when NATS is reached for the first time. Never settles if the client is closed before. */
  readonly reached: Promise<void>;
  /** Adds a listener that is called when the connection is lost or restored. Returns the function that removes it. */
  onConnection(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Connects to NATS. Rejects with `NatsError` when no server can be reached. */
export async function connectNats(options: NatsOptions): Promise<NatsClient> {
  const nats = new ReconnectingNatsClient(options);
  await nats.connect();
  return nats;
}

/** Connects in the background, and tries until it succeeds. `onFailure` is called after each failed attempt. */
export function openNats(
  options: NatsOptions,
  clock: Clock,
  onFailure: (error: NatsError) => void = () => {},
): NatsClient {
  const nats = new ReconnectingNatsClient(options);
  void nats.keepConnecting(clock, onFailure);
  return nats;
}

type Api = Pick<NatsClient, "connection" | "jetstream" | "manager">;

class ReconnectingNatsClient implements NatsClient {
  readonly reached: Promise<void>;
  readonly #options: NatsOptions;
  readonly #closing = new AbortController();
  readonly #onReached: () => void;
  #api: Api | undefined;
  #isConnected = false;
  #refusal: string | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(options: NatsOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reached = promise;
    this.#onReached = resolve;
  }

  get connection(): NatsConnection {
    return this.#reachedApi.connection;
  }

  get jetstream(): JetStreamClient {
    return this.#reachedApi.jetstream;
  }

  get manager(): JetStreamManager {
    return this.#reachedApi.manager;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  get #reachedApi(): Api {
    if (!this.#api) throw new NatsError("unreachable", `NATS at ${this.#addresses} is not reached yet`);
    return this.#api;
  }

  get #addresses(): string {
    return this.#options.servers.map((url) => parseNatsUrl(url).address).join(", ");
  }

  async connect(): Promise<void> {
    try {
      const connection = await connect(connectOptions(this.#options));
      if (this.#closing.signal.aborted) return await connection.close();
      const apiOptions = { timeout: REQUEST_TIMEOUT_MS };
      // JetStream is not checked, because it answers later than the servers when all of them start together.
      const manager = await jetstreamManager(connection, { ...apiOptions, checkAPI: false });
      this.#api = { connection, jetstream: jetstream(connection, apiOptions), manager };
      void this.#watch(connection);
      this.#onReached();
      this.#setConnected(true);
    } catch (error) {
      const isRefused = isRefusal(error);
      const hint = isRefused && this.#options.credentialsFile !== undefined ? FOR_OPERATORS : "";
      throw new NatsError(
        isRefused ? "refused" : "unreachable",
        `cannot connect to NATS at ${this.#addresses}: ${errorMessage(error)}${hint}`,
        { cause: error },
      );
    }
  }

  async keepConnecting(clock: Clock, onFailure: (error: NatsError) => void): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        return await this.connect();
      } catch (error) {
        if (!(error instanceof NatsError)) throw error;
        onFailure(error);
        await clock.sleep(FIRST_CONNECT_WAIT_MS, signal);
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      const { type } = status;
      if (type === "error" && isRefusal(status.error)) this.#refusal = errorMessage(status.error);
      if (type === "disconnect" || type === "staleConnection" || type === "close") this.#setConnected(false);
      else if (type === "reconnect") this.#setConnected(true);
    }
  }

  onConnection(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #setConnected(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    if (isConnected) this.#refusal = undefined;
    for (const listener of this.#listeners) listener();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#isConnected = false;
    await this.#api?.connection.close();
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError;

/** Reads the file at each connection, because operators replace it before it expires. If that fails, uses the last content. */
export function authenticatorOf(file: string): Authenticator {
  let content = readFileSync(file);
  return (nonce) => {
    try {
      content = readFileSync(file);
    } catch {
      // The file may be in the course of being replaced.
    }
    return credsAuthenticator(content)(nonce);
  };
}

function connectOptions({ servers, clientName, credentialsFile, tls }: NatsOptions): NodeConnectionOptions {
  const addresses = servers.map(parseNatsUrl);
  return {
    servers: addresses.map(({ address }) => address),
    name: clientName,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    // Without this, the library gives up at the second refusal, but expired credentials are replaced later.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    ...(credentialsFile !== undefined && {
      authenticator: authenticatorOf(credentialsFile),
    }),
    // The client takes user and password from its options only. The configuration requires the same ones in all addresses.
    ...addresses.find(({ login }) => login)?.login,
    // With this, the library leaves a server that does not offer TLS before it sends anything.
    ...((tls || addresses.some(({ isTls }) => isTls)) && {
      tls: {
        ...(tls?.ca !== undefined && { caFile: tls.ca }),
        ...(tls?.cert !== undefined && { certFile: tls.cert }),
        ...(tls?.key !== undefined && { keyFile: tls.key }),
      },
    }),
  };
}

/** The newest release of nats-server with known losses: see docs/cluster.md, "Losses that are the engine's own". */
const NEWEST_LOSSY = [2, 9] as const;

/** Whether servers of this version (such as `2.9.10`) are known to lose delivered messages when some of them fail. */
export function losesMessages(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return major < NEWEST_LOSSY[0] || (major === NEWEST_LOSSY[0] && minor <= NEWEST_LOSSY[1]);
}
