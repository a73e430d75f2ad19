/**
 * The readers of a service: processes beside this one that answer requests on the same port, so that more cores answer.
 * This process writes and answers too. Readers are started, told what they must know, and started again when they end;
 * they end when they are told to, or by themselves when this process is gone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Users } from "../api/auth/users.ts";
import { NOTHING, type ProcessCounters, type ReaderMetrics, sumOf } from "../api/metrics.ts";
import { reasonOf, usageFailure } from "../cli/failure.ts";
import { READER_COMMAND } from "../cli/reader.ts";
import type { Config } from "../config/schema.ts";
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { jsonLine, jsonLines } from "../lib/json-lines.ts";
import type { Logger } from "../lib/logger.ts";
import type { Log } from "../log/log.ts";
import { readFromReader, type ToReader } from "./reader-protocol.ts";
import { DRAIN_MS } from "./server-options.ts";

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A reader that does not end in good order by then is ended. */
const STOP_MS = DRAIN_MS + 1000;
/** How long those of a service that was killed may take to notice. */
const LEAVING_MS = 1000;
const LOOK_EVERY_MS = 50;
/** The longest path of a socket that Linux takes. */
const MAX_SOCKET_BYTES = 107;
const PASSWORD_BYTES = 32;

export interface ReadersOptions {
  readonly config: Config;
  readonly users: Users;
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

/** How many processes answer. */
export function processesOf({ readers }: Config): number {
  return readers === "auto" ? availableParallelism() : readers;
}

/** Makes the folder of the private socket, which is removed when the readers are disposed of. With one process there is nothing to make. */
export function openReaders(options: ReadersOptions): Readers {
  const processes = processesOf(options.config);
  if (processes === 1) return new Readers(options, processes, undefined);
  if (process.platform !== "linux") throw usageFailure("more than one reader needs Linux");
  // For this user alone: mkdtemp gives nobody else a way in.
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-readers-"));
  if (Buffer.byteLength(join(folder, "writer")) > MAX_SOCKET_BYTES) {
    rmSync(folder, { recursive: true });
    throw usageFailure(`the path of ${tmpdir()} is too long for a socket; set TMPDIR to a shorter one`);
  }
  return new Readers(options, processes, folder);
}

export class Readers implements ReaderMetrics, Disposable {
  readonly processes: number;
  readonly #options: ReadersOptions;
  readonly #folder: string | undefined;
  /** Known to these processes alone, and new at every start. */
  readonly #password = Buffer.from(crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES))).toString(
    "base64url",
  );
  readonly #children = new Set<Child>();
  /** What those alive have counted so far, and what those that ended had. */
  readonly #tallies = new Map<Child, ProcessCounters>();
  #ended = NOTHING;
  #listening = 0;

  constructor(options: ReadersOptions, processes: number, folder: string | undefined) {
    this.#options = options;
    this.processes = processes;
    this.#folder = folder;
  }

  /** Where this process serves its readers; undefined when there are none. */
  get socket(): string | undefined {
    return this.#folder === undefined ? undefined : join(this.#folder, "writer");
  }

  /** The header with which they ask there. */
  get ourselves(): string | undefined {
    if (this.#folder === undefined) return undefined;
    return `Basic ${Buffer.from(`:${this.#password}`).toString("base64")}`;
  }

  count(): { configured: number; alive: number } {
    return { configured: this.processes, alive: 1 + this.#listening };
  }

  tally(): ProcessCounters {
    return [...this.#tallies.values()].reduce(sumOf, this.#ended);
  }

  /**
   * Throws when somebody else has the port: shared ports are given to all that ask, also to another service. Readers of
   * one that was killed may still be on their way out.
   */
  async tryPort(hostname: string, port: number): Promise<void> {
    if (this.processes === 1 || port === 0) return;
    const { clock } = this.#options;
    for (const until = clock.now() + LEAVING_MS; ; ) {
      try {
        Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
        return;
      } catch (error) {
        const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
        if (!inUse || clock.now() > until) throw error;
        await clock.sleep(LOOK_EVERY_MS);
      }
    }
  }

  /**
   * Keeps readers on `port` until the signal aborts and all have ended. Whoever ends once the service is `stopping` is
   * let go: a terminal and a service manager send the same signal to all processes.
   */
  async run(port: number, signal: AbortSignal, stopping: AbortSignal): Promise<void> {
    const { users } = this.#options;
    const untell = users.onChange(() => {
      for (const child of this.#children) say(child, { users: users.all() });
    });
    const numbers = Array.from({ length: this.processes - 1 }, (_, i) => i + 2);
    await Promise.all(numbers.map((number) => this.#keep(number, port, signal, stopping)));
    untell();
  }

  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  async #keep(reader: number, port: number, signal: AbortSignal, stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    const enough = AbortSignal.any([signal, stopping]);
    while (!enough.aborted) {
      const began = clock.now();
      let status: string;
      try {
        status = await this.#life(reader, port, signal);
      } catch (error) {
        status = reasonOf(error);
      }
      if (enough.aborted) return;
      if (clock.now() - began > MAX_PAUSE_MS) backoff.reset();
      const againInMs = backoff.nextMs();
      logger.warn("reader ended", { reader, status, againInMs });
      await clock.sleep(againInMs, enough);
    }
  }

  /** One process, from start to end. */
  async #life(reader: number, port: number, signal: AbortSignal): Promise<string> {
    const child = this.#start(reader, port);
    const stop = () => void this.#stop(child);
    signal.addEventListener("abort", stop, { once: true });
    this.#children.add(child);
    let listening = false;
    try {
      for await (const line of jsonLines(child.stdout)) {
        const { tally, listening: now } = readFromReader(line);
        if (tally) this.#tallies.set(child, tally);
        if (!now || listening) continue;
        listening = true;
        this.#listening++;
        this.#options.logger.info("reader listens", { reader, pid: child.pid });
      }
      await child.exited;
      return String(child.signalCode ?? child.exitCode);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#children.delete(child);
      this.#ended = sumOf(this.#ended, { ...(this.#tallies.get(child) ?? NOTHING), streamsOpen: 0 });
      this.#tallies.delete(child);
      if (listening) this.#listening--;
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    }
  }

  #start(reader: number, port: number): Child {
    const { config, users, log } = this.#options;
    const { host, aliases, cors, limits, logLevel } = config;
    const { GAZETTEER_CREDENTIALS: _, ...env } = process.env;
    const child = Bun.spawn(command(), {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      // Each stream that is relayed is a request of the reader's; Bun would let 256 of them be open at a time.
      env: { ...env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" },
    });
    const orders = {
      reader,
      port,
      socket: this.socket ?? "",
      password: this.#password,
      epoch: log.epoch,
      secret: Buffer.from(log.secret).toString("base64"),
      config: { host, aliases, cors, limits, logLevel },
    };
    say(child, { orders, users: users.all() });
    return child;
  }

  async #stop(child: Child): Promise<void> {
    say(child, { stop: true });
    await Promise.race([child.exited, this.#options.clock.sleep(STOP_MS)]);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  }
}

/** A child that is gone hears nothing; that it is gone is noticed elsewhere. */
function say(child: Child, what: ToReader): void {
  try {
    child.stdin.write(jsonLine(what));
    Promise.resolve(child.stdin.flush()).catch(() => {});
  } catch {
    return;
  }
}

/** This program again: with its script, or, where it is one executable, without. */
function command(): string[] {
  const script = Bun.main.includes("$bunfs") ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...script, READER_COMMAND];
}
