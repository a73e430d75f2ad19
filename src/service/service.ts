/**
 * The service put together, from a Config to an exit status: users, memory, sources and server are opened in that
 * order, and closed in the order that loses nothing. Whatever keeps it from starting is one line and exit status 2.
 */
import { openUsers, type Users } from "../api/auth/users.ts";
import { UsersError } from "../api/auth/users-file.ts";
import { openServer, type Server } from "../api/server.ts";
import { createStaticSite } from "../api/static-site.ts";
import type { Context } from "../cli/command.ts";
import { reasonOf, STATUS, usageFailure } from "../cli/failure.ts";
import { greeting, urlOf } from "../cli/startup-banner.ts";
import { catchStopSignals } from "../cli/stop-signals.ts";
import { faultyConfig } from "../config/config.ts";
import type { ServeOptions } from "../config/flags.ts";
import type { Config } from "../config/schema.ts";
import { makeSources } from "../config/sources.ts";
import { aborted } from "../lib/aborted.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createLogger, type Logger } from "../lib/logger.ts";
import { LogError, STORE_KINDS } from "../log/log.ts";
import { createSupervisor, type Supervisor } from "../sources/supervise.ts";
import { ClaimIngest } from "../view/claim-ingest.ts";
import { openReaders, type Readers } from "./readers.ts";
import { answeringOptions, DRAIN_MS } from "./server-options.ts";
import { MEMORY, openStore, type Store } from "./store.ts";

/** Sources that know what they know at once (a file, the demo) have said it before the service says it listens. */
const FIRST_WORDS_MS = 3000;
const LOOK_EVERY_MS = 20;
const SOURCES_MS = 2000;

interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly users: Users;
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly readers: Readers;
  readonly refusedRecords: () => Readonly<Record<string, number>>;
}

export async function runService({ config, file }: ServeOptions, context: Context): Promise<number> {
  const clock = systemClock;
  const logger = createLogger(config.logLevel);
  const made = makeSources(config, file, { clock, log: logger });
  if (!made.ok) throw faultyConfig(made.faults);
  const stop = catchStopSignals(() => context.exit(STATUS.failed));
  const users = await asStartupError(() => openUsers(usersOptions(config, context, clock, logger)));
  const names = made.sources.map(({ source }) => source.name);
  const store = await asStartupError(() => openStore(config, names, clock, logger));
  try {
    using readers = openReaders({ config, users, log: store.log, clock, logger });
    const intakes = new Map(names.map((name) => [name, new ClaimIngest(store.ledger, name, logger)]));
    const supervisor = createSupervisor({
      sources: made.sources,
      sinkFor: (name) => intakes.get(name) ?? new ClaimIngest(store.ledger, name, logger),
      clock,
      log: logger,
    });
    const refusedRecords = () =>
      Object.fromEntries([...intakes].map(([name, intake]) => [name, intake.refused]));
    await dropRemovedSources(store, names, logger);
    const parts = { config, clock, logger, users, store, supervisor, readers, refusedRecords };
    await serveUntil(stop.signal, parts, context);
  } finally {
    // 4. Last of all the log: until here anything may still have been written.
    store.log.close();
    stop.release();
  }
  return STATUS.ok;
}

/** Runs everything until the signal, and then stops it in the order of the numbers. */
async function serveUntil(signal: AbortSignal, parts: Parts, context: Context): Promise<void> {
  const { users, store, supervisor, readers, logger } = parts;
  const server = await listen(parts);
  const sources = new AbortController();
  const reading = new AbortController();
  let readersEnded = Promise.resolve();
  const rest = new AbortController();
  const sourcesEnded = supervisor.run(sources.signal);
  const restEnded = Promise.all([store.keeper.run(rest.signal), users.follow(rest.signal)]);
  try {
    await waitForInitialSync(parts, signal);
    await asStartupError(() => users.keepGenerated());
    readersEnded = readers.run(server.port, reading.signal, signal);
    const url = urlOf(parts.config.host, server.port);
    const names = supervisor.status().map((source) => source.name);
    if (!signal.aborted) await context.out(greeting({ url, host: parts.config.host, users, sources: names }));
    // None of them should end before it is told to; one that fails takes the service down, loudly.
    await Promise.race([Promise.all([sourcesEnded, restEnded, aborted(signal)]), aborted(signal)]);
    logger.info("stopping");
  } finally {
    // 1. Sources stop, so that nothing new is promised. One that does not listen is not waited for.
    sources.abort();
    await Promise.race([sourcesEnded.catch(() => {}), parts.clock.sleep(SOURCES_MS)]);
    // 2. Streams are ended, requests under way are answered, the port is given back: by the readers and here.
    reading.abort();
    await Promise.all([readersEnded, server.stop(DRAIN_MS)]);
    // 3. The keeper writes its last snapshot, so that the next start has nothing to redo.
    rest.abort();
    await restEnded.catch(() => {});
  }
}

/** Who was a source once and is no longer configured speaks for nothing any more. */
async function dropRemovedSources(
  { view, ledger }: Store,
  names: readonly string[],
  logger: Logger,
): Promise<void> {
  const known = new Set(STORE_KINDS.flatMap((kind) => [...view.indexes(kind).named("source").keys()]));
  for (const name of known.difference(new Set(names))) {
    logger.info("source forgotten", { source: name });
    await new ClaimIngest(ledger, name, logger).replace({});
  }
}

function usersOptions(config: Config, context: Context, clock: Clock, logger: Logger) {
  const environment = context.env.GAZETTEER_CREDENTIALS;
  const dataDir = config.data === MEMORY ? undefined : config.data;
  return { environment, file: config.users, dataDir, clock, logger };
}

async function listen(parts: Parts): Promise<Server> {
  const { store, supervisor, refusedRecords, readers } = parts;
  const { host, port } = parts.config;
  try {
    await readers.tryPort(host, port);
    return openServer({
      ...answeringOptions({ ...parts, ourselves: readers.ourselves }),
      port,
      sharedPort: readers.processes > 1,
      socket: readers.socket,
      readers,
      context: store,
      sources: () => supervisor.status(),
      refusedRecords,
      page: createStaticSite(),
    });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const why =
      code === "EADDRINUSE" ? "is in use; give another with --port" : `cannot be had: ${reasonOf(error)}`;
    throw usageFailure(`${urlOf(host, port)} ${why}`, error);
  }
}

/** Until every source has said what it knows or what keeps it from that, but not for long. */
async function waitForInitialSync({ supervisor, clock }: Parts, signal: AbortSignal): Promise<void> {
  const until = clock.now() + FIRST_WORDS_MS;
  const silent = () =>
    supervisor.status().some(({ status, error }) => status === "starting" && error === undefined);
  while (silent() && clock.now() < until && !signal.aborted) await clock.sleep(LOOK_EVERY_MS, signal);
}

/** What was meant for the operator keeps the service from starting; anything else is a fault of ours. */
async function asStartupError<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof UsersError || error instanceof LogError) throw usageFailure(error.message, error);
    throw error;
  }
}
