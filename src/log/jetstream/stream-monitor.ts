/**
 * Checks that the stream goes on where this node is. The client of NATS follows the stream by itself after an interruption,
 * so an interruption, another stream of the same name, messages that were lost on the way, and a view that falls behind are
 * found here: at intervals, and when the connection to NATS is lost or there again.
 */
import { orAborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Engine } from "../../nats/engine.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { LogStream } from "./log-stream.ts";
import { StreamError } from "./stream-error.ts";
import type { StreamHealth } from "./stream-health.ts";

const INTERVAL_MS = 2_000;
const RETRY_MS = 500;
/** A client that loses a server connects to another one, if there is one. */
const RECONNECT_MS = 500;
/** In messages: a view that is further behind is old, and is so until it is nearly up to date. */
const MAX_LAG = 5_000;
const MAX_LAG_AFTER_TROUBLE = 100;
/** A new leader of the stream may know less than the one before, for a moment. */
const CHECKS_UNTIL_TRUNCATED = 5;
/** As often in turn, the stream has more than has arrived, and nothing arrives. */
const CHECKS_UNTIL_STUCK = 3;

interface Monitored {
  readonly stream: Pick<LogStream, "info">;
  readonly connection: Pick<Engine, "isConnected" | "onConnection">;
  readonly health: StreamHealth;
  readonly clock: Clock;
  readonly chain: Pick<ChainCheck, "check" | "suspect">;
  /** When the stream was created that this node follows. */
  readonly created: string;
}

/** Sequences of the last messages. */
interface Progress {
  readonly applied: () => number;
  readonly arrived: () => number;
  /**
   * Follows the stream anew after what has arrived. What was sent on a connection that broke is lost, and the client of NATS
   * notices that only when another message arrives.
   */
  readonly followAgain: () => void;
}

export class StreamMonitor {
  readonly created: string;
  /** Whether the view has been as new as the stream. */
  isCaughtUp = false;
  readonly #monitored: Monitored;
  readonly #progress: Progress;
  readonly #lost = new AbortController();
  #lastSequence = 0;
  #checksTruncated = 0;
  #checksStuck = 0;
  #arrivedBefore = 0;
  #blocked: StreamError | undefined;

  constructor(monitored: Monitored, progress: Progress) {
    this.created = monitored.created;
    this.#monitored = monitored;
    this.#progress = progress;
  }

  /** Aborts when the stream cannot be followed any more. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Messages that are not applied. */
  get lag(): number {
    const { applied, arrived } = this.#progress;
    return Math.max(0, Math.max(this.#lastSequence, arrived()) - applied());
  }

  async run(signal: AbortSignal): Promise<void> {
    const { connection, chain } = this.#monitored;
    let changed = new AbortController();
    const unlisten = connection.onConnection(() => {
      changed.abort();
      chain.suspect();
      // What was sent to a connection that broke is lost.
      if (connection.isConnected) this.#progress.followAgain();
    });
    while (!signal.aborted) {
      changed = new AbortController();
      await this.#runUntilChanged(signal, changed.signal);
    }
    unlisten();
  }

  /** Until the connection is lost, or there again: an answer that cannot come is not waited for. */
  async #runUntilChanged(signal: AbortSignal, changed: AbortSignal): Promise<void> {
    const { connection, clock } = this.#monitored;
    const ended = AbortSignal.any([signal, changed]);
    if (!connection.isConnected) await clock.sleep(RECONNECT_MS, ended);
    while (!ended.aborted) {
      let pauseMs = INTERVAL_MS;
      try {
        if (this.#blocked) throw this.#blocked;
        await orAborted(this.check(), ended);
        if (ended.aborted) return;
        this.#checkArrivals();
        this.#checkLag();
      } catch (error) {
        if (ended.aborted) return;
        this.onTrouble(error);
        pauseMs = RETRY_MS;
      }
      await clock.sleep(pauseMs, ended);
    }
  }

  #checkLag(): void {
    const { health } = this.#monitored;
    const isWell = health.staleSince === undefined;
    if (this.lag <= (isWell ? MAX_LAG : MAX_LAG_AFTER_TROUBLE)) health.clear("follow");
    else if (isWell && this.isCaughtUp)
      throw new StreamError("slow", `this node is ${this.lag} messages behind the stream`);
  }

  #checkArrivals(): void {
    const { arrived, followAgain } = this.#progress;
    const isStuck = this.#lastSequence > arrived() && arrived() === this.#arrivedBefore;
    this.#checksStuck = isStuck ? this.#checksStuck + 1 : 0;
    this.#arrivedBefore = arrived();
    if (this.#checksStuck < CHECKS_UNTIL_STUCK) return;
    this.#checksStuck = 0;
    followAgain();
  }

  /** Nothing of the stream can be applied any more, until the log is opened again. */
  block(error: StreamError): void {
    this.#blocked = error;
    this.onTrouble(error);
  }

  /** The log must be opened again. */
  lose(): void {
    this.#lost.abort();
  }

  onTrouble(error: unknown): void {
    if (!(error instanceof StreamError)) throw error;
    this.#monitored.chain.suspect();
    this.#monitored.health.report("follow", error.condition === "deleted" ? withRemedy(error) : error);
    if (error.condition === "replaced" || error.condition === "passed") this.lose();
  }

  /** Rejects with `StreamError` when the stream does not go on where this node is. */
  async check(): Promise<void> {
    const { applied, arrived } = this.#progress;
    const before = applied();
    const info = await this.#monitored.stream.info();
    const { created, firstSequence, lastSequence } = info;
    if (created !== this.created)
      throw new StreamError("replaced", "the stream was deleted and made again: this node opens the new one");
    if (firstSequence > arrived() + 1)
      throw new StreamError("passed", "the stream has gone on without this node, which loads a snapshot");
    this.#lastSequence = lastSequence;
    this.#checksTruncated = lastSequence < before ? this.#checksTruncated + 1 : 0;
    if (this.#checksTruncated >= CHECKS_UNTIL_TRUNCATED)
      throw new StreamError(
        "truncated",
        `NATS has lost messages: the stream ends at ${lastSequence}, this node has ${before}; delete the stream and restart this node, which makes another one from its copy`,
      );
    if (lastSequence >= before) await this.#monitored.chain.check(info);
  }

  /** That of the stream now. Tries again until it answers; 0 when `signal` aborts before. */
  async lastSequence(signal: AbortSignal): Promise<number> {
    const { stream, clock } = this.#monitored;
    while (!signal.aborted) {
      try {
        return (await stream.info()).lastSequence;
      } catch (error) {
        if (!(error instanceof StreamError)) throw error;
        await clock.sleep(RETRY_MS, signal);
      }
    }
    return 0;
  }
}

/** A stream that may only be missing for a moment is not made again by nodes that run; one that starts checks that first. */
const withRemedy = (error: StreamError): StreamError =>
  new StreamError(
    "deleted",
    `${error.message}; restart one node with a complete copy of the log: it makes the stream again`,
    { cause: error },
  );
