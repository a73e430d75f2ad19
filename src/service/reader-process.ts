/**
 * A reader process: serves requests on the same port as the writer, from a replica of the view. It follows the writer
 * through the same event stream that any client may read, and listens only once the replica is complete. It drains
 * on a message of the writer or on a signal. When the writer is gone it ends at once, because a replica that is no longer
 * updated must not be served.
 */

import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { INTERNAL_USER, internalAuthorization } from "../api/auth/authenticate.ts";
import { createLoginRelay } from "../api/auth/login-relay.ts";
import { PushedUsers, type User } from "../api/auth/users.ts";
import type { ClusterView } from "../api/cluster-status.ts";
import { Drawings } from "../api/endpoints/drawings.ts";
import { createRelay } from "../api/forwarding/relay.ts";
import { openServer, type Server } from "../api/server.ts";
import { type Client, createClient, idOf } from "../client/client.ts";
import type { WatchSnapshot } from "../client/types.ts";
import type { Limits } from "../config/schema.ts";
import { LiveTlsIdentity } from "../http1/tls-identity.ts";
import { aborted } from "../lib/aborted.ts";
import { systemClock } from "../lib/clock.ts";
import { jsonLine, jsonLines } from "../lib/json-lines.ts";
import { createLogger } from "../lib/logger.ts";
import { Scheduler } from "../lib/scheduler.ts";
import { Problems } from "../query/problems/problems.ts";
import { missingKey } from "../view/indexes.ts";
import { createReplicaLog, Replica, type ReplicatedKind } from "../view/replica.ts";
import { parseWriterMessage, type ReaderMessage, type ReaderStart } from "./reader-protocol.ts";
import { DRAIN_TIMEOUT_MS, sharedServerOptions } from "./server-options.ts";
import { StartupError } from "./startup-error.ts";

const REPORT_INTERVAL_MS = 1000;

export interface ReaderOptions {
  /** The pipe from the writer. */
  readonly input: ReadableStream<Uint8Array>;
  /** The pipe to the writer. */
  readonly write: (line: string) => Promise<void>;
  /** Signal that stops the reader after it has drained. */
  readonly signal: AbortSignal;
  /** Callback that must end the process at once, without draining. */
  readonly onWriterGone: () => void;
}

type Send = (message: ReaderMessage) => Promise<void>;

/** Runs the reader, and returns when it has drained. Throws `StartupError` when the other end of `input` is not a writer. */
export async function runReader({ input, write, signal, onWriterGone }: ReaderOptions): Promise<void> {
  const messages = jsonLines(input);
  const first = await Promise.race([receiveStart(messages), aborted(signal)]);
  if (!first) return;
  const { start } = first;
  const users = new PushedUsers(first.users);
  const stop = new AbortController();
  const onInputEnd = () => {
    // The writer is gone and can no longer remove its socket folder.
    rmSync(dirname(start.socket), { recursive: true, force: true });
    onWriterGone();
  };
  const send: Send = (message) => write(jsonLine(message));
  const controlled: Controlled = {
    users,
    limits: { ...start.limits },
    tls: start.tls && new LiveTlsIdentity(start.tls),
    cluster: start.cluster && { staleSince: start.cluster.staleSince },
    stop,
    onLimitsChanged() {},
    onReopenAccessLog() {},
  };
  receiveMessages(messages, controlled).then(onInputEnd, onInputEnd);
  await serveReplica(start, controlled, AbortSignal.any([signal, stop.signal]), send);
}

async function receiveStart(
  messages: AsyncGenerator<unknown>,
): Promise<{ start: ReaderStart; users: readonly User[] }> {
  try {
    const { value } = await messages.next();
    const { start, users } = parseWriterMessage(value);
    if (start && users) return { start, users };
  } catch {
    // Input that is not JSON, or not a message of the protocol, is reported below like an empty input.
  }
  throw new StartupError("no-writer", "is started by gazetteer serve --readers N only");
}

/** The state of this process that messages of the writer change. */
interface Controlled {
  readonly users: PushedUsers;
  /** The limits for clients. They are read at each use, and a message changes them in place. */
  readonly limits: Limits;
  readonly tls: LiveTlsIdentity | undefined;
  /** The state of the cluster's view; undefined on a single node. */
  readonly cluster: PushedClusterView | undefined;
  readonly stop: AbortController;
  onLimitsChanged: () => void;
  onReopenAccessLog: () => void;
}

/** The state of the cluster's view. The writer sets it, because it follows the log of the cluster. */
interface PushedClusterView extends ClusterView {
  staleSince: number | undefined;
}

/** Applies messages until the writer closes the pipe. */
async function receiveMessages(messages: AsyncGenerator<unknown>, controlled: Controlled): Promise<void> {
  const { users, limits, tls, cluster, stop } = controlled;
  for await (const line of messages) {
    const message = parseWriterMessage(line);
    if (message.users) users.replace(message.users);
    if (message.limits) {
      Object.assign(limits, message.limits);
      controlled.onLimitsChanged();
    }
    if (message.reopenAccessLog) controlled.onReopenAccessLog();
    if (message.tls) tls?.replace(message.tls);
    if (message.cluster && cluster) cluster.staleSince = message.cluster.staleSince;
    if (message.stop) stop.abort();
  }
}

async function serveReplica(
  start: ReaderStart,
  controlled: Controlled,
  signal: AbortSignal,
  send: Send,
): Promise<void> {
  const { socket, password, config, port } = start;
  const { users, limits, tls, cluster } = controlled;
  const clock = systemClock;
  const logger = createLogger(undefined, config.logFormat, { reader: start.reader });
  const checkRemotely = createLoginRelay(socket, internalAuthorization(password), clock);
  const client = createClient({
    url: "http://localhost",
    credentials: { user: INTERNAL_USER, password },
    fetch: (url, init) => fetch(url, { ...init, unix: socket }),
  });
  const log = createReplicaLog(start.epoch, Buffer.from(start.secret, "base64"));
  const scheduler = new Scheduler();
  const replica = new Replica(log, limits.streamBufferBytes, scheduler);
  const followingStop = new AbortController();
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  const following = followWriter(client, replica, followingStop.signal, onSynced);
  const stopped = aborted(signal);
  try {
    // Before the stop, `following` settles only by rejecting. Then this process fails, and the writer starts another one.
    await Promise.race([synced, following, stopped]);
    if (signal.aborted) return;
    const server = openServer({
      ...sharedServerOptions({ config, limits, users, tls, clock, logger, checkRemotely }),
      port,
      sharedPort: true,
      context: {
        view: replica.view,
        history: replica.history,
        log,
        scheduler,
        problems: new Problems(replica.history, clock),
        drawings: new Drawings(),
      },
      relay: createRelay(socket, replica.history, clock, internalAuthorization(password)),
      cluster,
      sources: () => [],
      rejectedRecords: () => ({}),
      site: undefined,
    });
    controlled.onReopenAccessLog = () => server.reopenAccessLog();
    controlled.onLimitsChanged = () => {
      replica.history.maxRingBytes = limits.streamBufferBytes;
      server.onLimitsChanged();
    };
    try {
      await send({ listening: true });
      await Promise.race([following, stopped, reportMetrics(server, send, signal)]);
    } finally {
      await server.stop(DRAIN_TIMEOUT_MS);
      await send({ metrics: server.metrics() });
    }
  } finally {
    followingStop.abort();
    await following.catch(() => {});
  }
}

/** Sends the metrics when they have changed, so that `/metrics` of the writer can sum those of all processes. */
async function reportMetrics(server: Server, send: Send, signal: AbortSignal): Promise<void> {
  let sent = "";
  while (!signal.aborted) {
    const metrics = server.metrics();
    const text = JSON.stringify(metrics);
    if (text !== sent) await send({ metrics });
    sent = text;
    await systemClock.sleep(REPORT_INTERVAL_MS, signal);
  }
}

/** Applies the writer's event stream to the replica. `onSynced` is called whenever the replica is complete. */
async function followWriter(
  client: Client,
  replica: Replica,
  signal: AbortSignal,
  onSynced: () => void,
): Promise<void> {
  const onRevision = (revision: number) => void replica.commitUpTo(revision);
  for await (const event of client.watch("topology", {}, { signal, onRevision })) {
    switch (event.type) {
      case "reset":
        replica.beginSync();
        break;
      case "snapshot":
        await replica.setEntity(...placeOf(event), JSON.stringify(event.value));
        break;
      case "synced":
        if (!event.facts) throw new Error("the writer's synced event lacks the facts of the revision");
        await replica.completeSync({
          revision: event.revision,
          time: event.facts.time,
          graphTime: event.facts.graphTime,
          versions: event.facts.marks,
        });
        onSynced();
        break;
      default: {
        const json = event.type === "removed" ? null : JSON.stringify(event.value);
        const changed = event.type === "updated" ? event.changed : [];
        replica.addChange(...placeOf(event), json, changed);
        if (event.last) await replica.commitUpTo(event.revision, event.time);
      }
    }
  }
}

/** The collection of an entity in the view, and its id there. The writer's stream also contains missing entities. */
function placeOf({ resource, value }: Pick<WatchSnapshot, "resource" | "value">): [ReplicatedKind, string] {
  const id = idOf(value);
  return value.drift?.state === "missing" ? ["missing", missingKey(resource, id)] : [resource, id];
}
