/**
 * The reader processes of a service (`--readers N`): processes that serve requests on the same port, so that reads use
 * more cores. This process, the writer, serves requests too. A reader that ends is started again after a backoff.
 * Readers stop when the writer sends a stop message, or when their input pipe closes because the writer is gone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { internalAuthorization } from "../api/auth/authenticate.ts";
import type { Users } from "../api/auth/users.ts";
import type { ReaderMetrics } from "../api/metrics/metrics.ts";
import { addMetrics, endedMetrics, type ProcessMetrics } from "../api/metrics/process-metrics.ts";
import type { Config, Limits } from "../config/schema.ts";
import type { LiveTlsIdentity } from "../http1/tls-identity.ts";
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { inheritedEnvironment } from "../lib/inherited-environment.ts";
import { jsonLine, jsonLines } from "../lib/json-lines.ts";
import type { Logger } from "../lib/logger.ts";
import type { StreamHealth } from "../log/jetstream/stream-health.ts";
import type { Log } from "../log/log.ts";
import { readerCommandLine } from "./reader-command.ts";
import { parseReaderMessage, type ReaderStart, type WriterMessage } from "./reader-protocol.ts";
import { DRAIN_TIMEOUT_MS } from "./server-options.ts";
import { StartupError } from "./startup-error.ts";

/** Environment variables that a reader inherits. Others may be secrets of sources; its settings come from the writer. */
const READER_VARIABLES = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Time after the stop message after which a reader is killed. */
const STOP_TIMEOUT_MS = DRAIN_TIMEOUT_MS + 1000;
/** Time for which the readers of a killed service may hold the port until they notice. */
const PORT_RELEASE_TIMEOUT_MS = 1000;
const PORT_RETRY_INTERVAL_MS = 50;
/** The size of `sun_path` on Linux, without the terminating NUL. */
const MAX_SOCKET_PATH_BYTES = 107;
const SOCKET_NAME = "writer";
const PASSWORD_BYTES = 32;

export interface ReadersOptions {
  readonly config: Config;
  /** The current limits for clients. */
  readonly limits: Limits;
  readonly users: Users;
  readonly tls: LiveTlsIdentity | undefined;
  readonly log: Log;
  /** The health of a cluster's log; undefined on a single node. */
  readonly health: StreamHealth | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

function processCount({ readers }: Config): number {
  return readers === "auto" ? availableParallelism() : readers;
}

/** Creates the folder of the private socket, which `dispose` removes. With one process no folder is created. */
export function openReaders(options: ReadersOptions): Readers {
  const processes = processCount(options.config);
  if (processes === 1) return new Readers(options, processes, undefined);
  if (process.platform !== "linux") throw new StartupError("readers", "more than one reader needs Linux");
  // mkdtemp creates the folder with mode 0700, so that no other user can reach the socket.
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-readers-"));
  if (Buffer.byteLength(join(folder, SOCKET_NAME)) > MAX_SOCKET_PATH_BYTES) {
    rmSync(folder, { recursive: true });
    throw new StartupError(
      "readers",
      `the path of ${tmpdir()} is too long for a socket; set TMPDIR to a shorter one`,
    );
  }
  return new Readers(options, processes, folder);
}

export class Readers implements ReaderMetrics, Disposable {
  /** Number of processes that serve requests, including this one. */
  readonly processes: number;
  readonly #options: ReadersOptions;
  readonly #folder: string | undefined;
  /** The password of the internal user. It is random at every start and sent to the readers only. */
  readonly #password = Buffer.from(crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES))).toString(
    "base64url",
  );
  readonly #children = new Set<Child>();
  /** The last report of each running reader. */
  readonly #metrics = new Map<Child, ProcessMetrics>();
  /** The sum of the metrics of ended readers, because counters in `/metrics` must not decrease. */
  #endedMetrics: ProcessMetrics = {};
  #listening = 0;

  constructor(options: ReadersOptions, processes: number, folder: string | undefined) {
    this.#options = options;
    this.processes = processes;
    this.#folder = folder;
  }

  /** The Unix socket on which this process serves its readers; undefined without readers. */
  get socket(): string | undefined {
    return this.#folder === undefined ? undefined : join(this.#folder, SOCKET_NAME);
  }

  /** The Authorization header that readers send on that socket; undefined without readers. */
  get internalAuthorization(): string | undefined {
    return this.#folder === undefined ? undefined : internalAuthorization(this.#password);
  }

  count(): { configured: number; alive: number } {
    return { configured: this.processes, alive: 1 + this.#listening };
  }

  metrics(): ProcessMetrics {
    return [...this.#metrics.values()].reduce(addMetrics, this.#endedMetrics);
  }

  /**
   * Throws when another service has the port, because SO_REUSEPORT alone would let both listen. The readers of a service that
   * was killed may hold the port for a short time, so an address in use is retried for PORT_RELEASE_TIMEOUT_MS.
   */
  async checkPortIsFree(hostname: string, port: number): Promise<void> {
    if (this.processes === 1 || port === 0) return;
    const { clock } = this.#options;
    const deadline = clock.monotonic() + PORT_RELEASE_TIMEOUT_MS;
    for (;;) {
      try {
        Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
        return;
      } catch (error) {
        const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
        if (!inUse || clock.monotonic() > deadline) throw error;
        await clock.sleep(PORT_RETRY_INTERVAL_MS);
      }
    }
  }

  /**
   * Runs the readers on `port` until `signal` aborts and all have ended. Once `stopping` aborts, a reader that ends is
   * not started again, because a terminal and a service manager send their signal to all processes of the service.
   */
  async run(port: number, signal: AbortSignal, stopping: AbortSignal): Promise<void> {
    const { users, tls, health } = this.#options;
    const unsubscribe = [
      users.onChange(() => this.#sendAll({ users: users.all() })),
      tls?.onChange(() => this.#sendAll({ tls: tls.current })),
      health?.onStale(() => this.#sendAll({ cluster: staleness(health) })),
    ];
    const numbers = Array.from({ length: this.processes - 1 }, (_, i) => i + 2);
    await Promise.all(numbers.map((number) => this.#superviseReader(number, port, signal, stopping)));
    for (const end of unsubscribe) end?.();
  }

  /** Sends the limits to all readers, after a reload. Readers that start later get them when they start. */
  sendLimits(): void {
    this.#sendAll({ limits: this.#options.limits });
  }

  reopenAccessLogs(): void {
    this.#sendAll({ reopenAccessLog: true });
  }

  #sendAll(message: WriterMessage): void {
    for (const child of this.#children) send(child, message);
  }

  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  async #superviseReader(
    reader: number,
    port: number,
    signal: AbortSignal,
    stopping: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.#options;
    const backoff = createBackoff(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
    const noRestart = AbortSignal.any([signal, stopping]);
    while (!noRestart.aborted) {
      const startedAt = clock.monotonic();
      let status: string;
      try {
        status = await this.#runReader(reader, port, signal);
      } catch (error) {
        status = errorMessage(error);
      }
      if (noRestart.aborted) return;
      if (clock.monotonic() - startedAt > MAX_BACKOFF_MS) backoff.reset();
      const againInMs = backoff.nextMs();
      logger.warn("reader ended", { reader, status, againInMs });
      await clock.sleep(againInMs, noRestart);
    }
  }

  /** Runs one process until it ends. Returns its exit status or the signal that ended it. */
  async #runReader(reader: number, port: number, signal: AbortSignal): Promise<string> {
    const child = this.#spawn(reader, port);
    const onAbort = () => void this.#stop(child);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#children.add(child);
    let listening = false;
    try {
      for await (const line of jsonLines(child.stdout)) {
        const message = parseReaderMessage(line);
        if (message.metrics) this.#metrics.set(child, message.metrics);
        if (!message.listening || listening) continue;
        listening = true;
        this.#listening++;
        this.#options.logger.info("reader listens", { reader, pid: child.pid });
      }
      await child.exited;
      return String(child.signalCode ?? child.exitCode);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#children.delete(child);
      const last = this.#metrics.get(child) ?? {};
      this.#endedMetrics = addMetrics(this.#endedMetrics, endedMetrics(last));
      this.#metrics.delete(child);
      if (listening) this.#listening--;
      killIfRunning(child);
    }
  }

  #spawn(reader: number, port: number): Child {
    const { config, limits, users, tls, log, health } = this.#options;
    const { host, aliases, onos, cors, trustedProxies, auth, hosts, accessLog, logFormat } = config;
    const child = Bun.spawn(readerCommandLine(), {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      // Every relayed stream is an open request of the reader, and Bun limits those to 256 by default.
      env: { ...inheritedEnvironment(READER_VARIABLES), BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" },
    });
    const start: ReaderStart = {
      reader,
      port,
      socket: this.socket ?? "",
      password: this.#password,
      epoch: log.id,
      secret: Buffer.from(log.signingKey).toString("base64"),
      config: {
        host,
        aliases,
        onos,
        cors,
        trustedProxies,
        auth,
        hosts,
        logFormat,
        ...(accessLog !== undefined && { accessLog }),
      },
      limits,
      ...(tls && { tls: tls.current }),
      ...(health && { cluster: staleness(health) }),
    };
    send(child, { start, users: users.all() });
    return child;
  }

  async #stop(child: Child): Promise<void> {
    send(child, { stop: true });
    await Promise.race([child.exited, this.#options.clock.sleep(STOP_TIMEOUT_MS)]);
    killIfRunning(child);
  }
}

const staleness = ({ staleSince }: StreamHealth) => (staleSince === undefined ? {} : { staleSince });

function killIfRunning(child: Child): void {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
}

/** Sends a message. Errors are ignored, because the end of the child is handled where its output ends. */
function send(child: Child, message: WriterMessage): void {
  try {
    child.stdin.write(jsonLine(message));
    Promise.resolve(child.stdin.flush()).catch(() => {});
  } catch {
    return;
  }
}
