/**
 * A reader: a process beside the one that writes, which answers requests on the same port from a copy of the network.
 * It follows the writer through the stream that any client may read. It takes connections only once it has everything,
 * ends in good order when it is told to, and at once when the writer is gone: a network that nobody keeps up to date
 * must not be shown.
 */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { PushedUsers } from "../api/auth/pushed-users.ts";
import { createRelay } from "../api/relay.ts";
import { openServer, type Server } from "../api/server.ts";
import type { Context } from "../cli/command.ts";
import { STATUS, usageFailure } from "../cli/failure.ts";
import { catchStopSignals } from "../cli/stop-signals.ts";
import { type Client, createClient, idOf } from "../client/client.ts";
import { aborted } from "../lib/aborted.ts";
import { systemClock } from "../lib/clock.ts";
import { jsonLine, jsonLines } from "../lib/json-lines.ts";
import { createLogger } from "../lib/logger.ts";
import { logElsewhere, Replica } from "../view/replica.ts";
import { type FromReader, type Orders, readToReader, type ToReader } from "./reader-protocol.ts";
import { answeringOptions, DRAIN_MS } from "./server-options.ts";

const REPORT_EVERY_MS = 1000;

export async function runReader(context: Context): Promise<number> {
  const told = jsonLines(Bun.stdin.stream());
  const { orders, users: first } = await firstWord(told);
  const users = new PushedUsers(first);
  const stop = catchStopSignals(() => context.exit(STATUS.failed));
  const ordered = new AbortController();
  const stopping = AbortSignal.any([stop.signal, ordered.signal]);
  // The pipe is the writer's as long as it lives. Once it is gone it cannot tidy up, and its network is of the past.
  const orphaned = () => {
    rmSync(dirname(orders.socket), { recursive: true, force: true });
    context.exit(STATUS.failed);
  };
  obey(told, users, ordered).then(orphaned, orphaned);
  try {
    await answer(orders, users, stopping, context);
  } finally {
    stop.release();
  }
  return STATUS.ok;
}

async function firstWord(
  told: AsyncGenerator<unknown>,
): Promise<Required<Pick<ToReader, "orders" | "users">>> {
  try {
    const { value } = await told.next();
    const { orders, users } = readToReader(value);
    if (orders && users) return { orders, users };
  } catch {
    // Somebody else is at the other end; what they said does not matter.
  }
  throw usageFailure("is started by gazetteer serve --readers N, and by nobody else");
}

/** Does what the writer says, until there is none. */
async function obey(told: AsyncGenerator<unknown>, users: PushedUsers, stop: AbortController): Promise<void> {
  for await (const line of told) {
    const { users: now, stop: end } = readToReader(line);
    if (now) users.adopt(now);
    if (end) stop.abort();
  }
}

async function answer(
  orders: Orders,
  users: PushedUsers,
  stop: AbortSignal,
  context: Context,
): Promise<void> {
  const { socket, password, config, port } = orders;
  const clock = systemClock;
  const logger = createLogger(config.logLevel, (line) => {
    process.stderr.write(line.replace(/\n$/, ` reader=${orders.reader}\n`));
  });
  const client = createClient({
    url: "http://localhost",
    credentials: { user: "", password },
    fetch: (url, init) => fetch(url, { ...init, unix: socket }),
  });
  const log = logElsewhere(orders.epoch, Buffer.from(orders.secret, "base64"));
  const replica = new Replica(log, config.limits.streamBufferBytes);
  const followed = new AbortController();
  const { promise: whole, resolve: isWhole } = Promise.withResolvers<void>();
  const following = follow(client, replica, followed.signal, isWhole);
  const stopped = aborted(stop);
  try {
    // Following never ends by itself; when it fails, this process does, and is started again.
    await Promise.race([whole, following, stopped]);
    if (stop.aborted) return;
    const server = openServer({
      ...answeringOptions({ config, users, clock, logger }),
      port,
      sharedPort: true,
      context: replica,
      relay: createRelay(socket, replica.history, clock),
      sources: () => [],
      refusedRecords: () => ({}),
      page: undefined,
    });
    try {
      await context.out(jsonLine({ listening: true } satisfies FromReader));
      await Promise.race([following, stopped, report(server, context, stop)]);
    } finally {
      await server.stop(DRAIN_MS);
      await context.out(jsonLine({ tally: server.tally() } satisfies FromReader));
    }
  } finally {
    followed.abort();
    await following.catch(() => {});
  }
}

/** Says from time to time how much was answered here, so that one place can tell it for all. */
async function report(server: Server, context: Context, signal: AbortSignal): Promise<void> {
  for (let said = ""; !signal.aborted; await systemClock.sleep(REPORT_EVERY_MS, signal)) {
    const line = jsonLine({ tally: server.tally() } satisfies FromReader);
    if (line !== said) await context.out(line);
    said = line;
  }
}

/** Feeds the copy with what the writer streams. */
async function follow(
  client: Client,
  replica: Replica,
  signal: AbortSignal,
  isWhole: () => void,
): Promise<void> {
  const onRevision = (revision: number) => replica.reach(revision);
  for await (const event of client.watch("topology", {}, { signal, onRevision })) {
    switch (event.type) {
      case "reset":
        replica.begin();
        break;
      case "snapshot":
        replica.tell(event.resource, idOf(event.value), JSON.stringify(event.value));
        break;
      case "synced":
        if (!event.facts) throw new Error("the writer does not say when its collections last changed");
        replica.told({ revision: event.revision, ...event.facts });
        isWhole();
        break;
      default: {
        const text = event.type === "removed" ? null : JSON.stringify(event.value);
        replica.change(
          event.resource,
          idOf(event.value),
          text,
          event.type === "updated" ? event.changed : [],
        );
        if (event.last) replica.reach(event.revision, event.time);
      }
    }
  }
}
