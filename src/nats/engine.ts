/**
 * The connection of a node to NATS. The client connects again by itself, for as long as the node runs; what is published
 * meanwhile fails, and whoever publishes tries again.
 */
import { readFileSync } from "node:fs";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from "@nats-io/transport-node";
import { errorMessage } from "../lib/error-message.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 250;
/** A server that does not answer for twice this time is left. */
const PING_INTERVAL_MS = 3_000;
const REQUEST_TIMEOUT_MS = 3_000;

export interface EngineOptions {
  readonly servers: readonly string[];
  /** Of the node, shown in lists of connections. */
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

export interface Engine {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  close(): Promise<void>;
}

/** NATS cannot be used. The message is for the operator. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** Rejects with `EngineError` when no server can be reached. */
export async function connectEngine(options: EngineOptions): Promise<Engine> {
  const { servers } = options;
  try {
    const connection = await connect(connectOptions(options));
    const apiOptions = { timeout: REQUEST_TIMEOUT_MS };
    return {
      connection,
      jetstream: jetstream(connection, apiOptions),
      // Not checked: at a start of all servers together JetStream answers later than the servers.
      manager: await jetstreamManager(connection, { ...apiOptions, checkAPI: false }),
      close: () => connection.close(),
    };
  } catch (error) {
    throw new EngineError(
      `cannot connect to NATS at ${servers.map(withoutUser).join(", ")}: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

function connectOptions({ servers, clientName, credentialsFile, tls }: EngineOptions): NodeConnectionOptions {
  return {
    servers: [...servers],
    name: clientName,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    ...(credentialsFile !== undefined && {
      authenticator: credsAuthenticator(readFileSync(credentialsFile)),
    }),
    ...(tls && {
      tls: {
        ...(tls.ca !== undefined && { caFile: tls.ca }),
        ...(tls.cert !== undefined && { certFile: tls.cert }),
        ...(tls.key !== undefined && { keyFile: tls.key }),
      },
    }),
  };
}

/** Without the password that an address may contain. */
export const withoutUser = (url: string): string => url.replace(/\/\/[^@/]*@/, "//");
