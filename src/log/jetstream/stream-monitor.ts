/**
 * Checks that the stream goes on where this node is. The client of NATS follows the stream by itself after an interruption,
 * so an interruption, another stream of the same name, and a view that falls behind are found here: at intervals, and when the
 * connection to NATS is lost or there again. That nothing arrives, because messages were lost on the way or the server that
 * sends them is gone, is found by reading the stream's end while nothing does.
 */

import type { NatsClient } from "../../cluster/nats/nats-client.ts";
import { orAborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import { within } from "../../lib/within.ts";
import type { ChainCheck } from "./chain-check.ts";
import { missingSnapshot } from "./load-copy.ts";
import type { LogStream } from "./log-stream.ts";
import { StreamError } from "./stream-error.ts";
import type { StreamHealth } from "./stream-health.ts";

const INTERVAL_MS = 2_000;
const RETRY_MS = 500;
/** A client that loses a server connects to another one, if there is one. */
const RECONNECT_MS = 500;
/** Number of messages: a view that is further behind is stale, until it is nearly up to date. */
const MAX_LAG = 5_000;
const MAX_LAG_AFTER_TROUBLE = 100;
/** A new leader of the stream may know less than the one before, for a moment. */
const CHECKS_UNTIL_TRUNCATED = 5;
/** When nothing has arrived for this time, the stream's end is read: as often, and with this time-out. */
const QUIET_MS = 1_000;
/** Number of reads without an answer after which the end of the stream is unknown. */
const UNANSWERED_READS = 2;
/** Number of reads after which a node to which nothing arrives follows the stream anew again: making a consumer takes time. */
const READS_UNTIL_FOLLOWED = 5;

interface Monitored {
  readonly stream: Pick<LogStream, "info" | "hasAllAfter">;
  readonly connection: Pick<NatsClient, "isConnected" | "onConnection">;
  readonly health: StreamHealth;
  readonly clock: Clock;
  readonly chain: Pick<ChainCheck, "check" | "requireCheck">;
  /** When the stream was created that this node follows. */
  readonly created: string;
  /** Whether there is a complete state to load that has this message. Rejects with `StreamError`. */
  readonly canLoad: (beyond: number) => Promise<boolean>;
  /** The last message of the snapshot that this node has begun with now; -1 where it has a copy from before. */
  readonly loadedTo: number;
}

/** Sequences of the last messages. */
interface Progress {
  readonly applied: () => number;
  readonly arrived: () => number;
  /** Whether so much waits to be applied that the stream is not read on. */
  readonly isFull: () => boolean;
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
  /** When something arrived last, or nothing could; by the monotonic clock. */
  #arrivedAt = 0;
  /** The last sequence of the stream when it was found that nothing arrives; undefined while messages arrive. */
  #missing: number | undefined;
  /** A view that has applied this was complete at that time. */
  #awaited: { readonly sequence: number; readonly at: number } | undefined;
  readonly #blocked = new AbortController();
  #blockedBy: StreamError | undefined;

  constructor(monitored: Monitored, progress: Progress) {
    this.created = monitored.created;
    this.#monitored = monitored;
    this.#progress = progress;
  }

  /** Aborts when the stream cannot be followed any more. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Aborts when nothing more can be applied. */
  get blocked(): AbortSignal {
    return this.#blocked.signal;
  }

  /** Messages that are not applied. */
  get lag(): number {
    const { applied, arrived } = this.#progress;
    return Math.max(0, Math.max(this.#lastSequence, arrived()) - applied());
  }

  async run(signal: AbortSignal): Promise<void> {
    const { connection, clock, chain } = this.#monitored;
    this.#arrivedAt = clock.monotonic();
    let changed = new AbortController();
    const unlisten = connection.onConnection(() => {
      changed.abort();
      chain.requireCheck();
      // What was sent to a connection that broke is lost.
      if (connection.isConnected) this.#progress.followAgain();
    });
    while (!signal.aborted) {
      changed = new AbortController();
      // Waits until the connection is lost or restored: an answer that cannot come is not waited for.
      const ended = AbortSignal.any([signal, changed.signal]);
      await Promise.all([this.#runChecks(ended), connection.isConnected && this.#watchArrivals(ended)]);
    }
    unlisten();
  }

  async #runChecks(ended: AbortSignal): Promise<void> {
    const { connection, clock } = this.#monitored;
    if (!connection.isConnected) await clock.sleep(RECONNECT_MS, ended);
    while (!ended.aborted) {
      let pauseMs = INTERVAL_MS;
      try {
        await orAborted(this.#blockedBy ? this.#checkBlocked(this.#blockedBy) : this.check(), ended);
        if (ended.aborted) return;
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
    const isWell = health.isWell("follow");
    if (this.lag <= (isWell ? MAX_LAG : MAX_LAG_AFTER_TROUBLE)) health.clear("follow");
    else if (isWell && this.isCaughtUp)
      throw new StreamError("slow", `this node is ${this.lag} messages behind the stream`);
  }

  /** Something has arrived, or was stored by this node itself. */
  onArrival(): void {
    this.#arrivedAt = this.#monitored.clock.monotonic();
    if (this.#missing !== undefined && this.#progress.arrived() >= this.#missing) this.#endSilence();
  }

  #endSilence(): void {
    this.#missing = undefined;
    this.#monitored.health.clear("receive");
  }

  /** A message may be on its way when the end is read: what has not arrived at the next read is missing. */
  async #watchArrivals(signal: AbortSignal): Promise<void> {
    const { clock } = this.#monitored;
    const { arrived, isFull } = this.#progress;
    let [end, unanswered, silentReads] = [0, 0, 0];
    while (!signal.aborted) {
      // A node that is busy is slow, and one that is blocked says that.
      if (isFull() || this.#blockedBy) this.#arrivedAt = clock.monotonic();
      const waitMs = this.#arrivedAt + QUIET_MS - clock.monotonic();
      if (waitMs > 0) {
        [end, unanswered, silentReads] = [0, 0, 0];
        await clock.sleep(waitMs, signal);
        continue;
      }
      if (end > arrived() && silentReads++ % READS_UNTIL_FOLLOWED === 0) this.#onSilence(end);
      const readAt = clock.monotonic();
      const lastSequence = await this.#readEnd(signal);
      unanswered = lastSequence === undefined ? unanswered + 1 : 0;
      if (unanswered >= UNANSWERED_READS && !signal.aborted) this.#onUnanswered();
      end = lastSequence ?? end;
      // What was missing is no longer in the stream.
      if (this.#missing !== undefined && lastSequence !== undefined && lastSequence <= arrived())
        this.#endSilence();
      await clock.sleep(Math.max(0, readAt + QUIET_MS - clock.monotonic()), signal);
    }
  }

  #onSilence(end: number): void {
    const { arrived, followAgain } = this.#progress;
    this.#missing ??= end;
    this.#noteComplete();
    const message = `the stream ends at message ${end}, and nothing arrives after ${arrived()}: this node follows it anew`;
    this.#monitored.health.report("receive", new StreamError("silent", message));
    followAgain();
  }

  #onUnanswered(): void {
    const { health } = this.#monitored;
    this.#noteComplete();
    if (health.isWell("follow"))
      health.report(
        "follow",
        new StreamError("unanswered", "nothing arrives, and the stream does not answer"),
      );
  }

  /** The sequence of the stream's last message; undefined where no answer comes in time. */
  async #readEnd(signal: AbortSignal): Promise<number | undefined> {
    const { stream, clock } = this.#monitored;
    const at = clock.now();
    const info = await within(clock, QUIET_MS, signal, (limited) =>
      orAborted(
        stream.info().catch(() => undefined),
        limited,
      ),
    );
    if (info?.created !== this.created) return undefined;
    this.#onEnd(info.lastSequence, at);
    return info.lastSequence;
  }

  /** The stream ended there at a time, epoch milliseconds. */
  #onEnd(sequence: number, at: number): void {
    this.#lastSequence = sequence;
    // A stream that has lost its end has less than was awaited.
    if (!this.#awaited || sequence < this.#awaited.sequence) this.#awaited = { sequence, at };
    this.#noteComplete();
  }

  #noteComplete(): void {
    if (this.#awaited && this.#progress.applied() >= this.#awaited.sequence) {
      this.#monitored.health.setComplete(this.#awaited.at);
      this.#awaited = undefined;
    }
  }

  /** Nothing of the stream can be applied any more, until the log is opened again. */
  block(error: StreamError): void {
    this.#blockedBy ??= error;
    this.#blocked.abort();
    this.onTrouble(error);
  }

  /** Rejects: with what this node is blocked by, unless opening the log again helps. */
  async #checkBlocked(error: StreamError): Promise<never> {
    const { stream, canLoad, loadedTo } = this.#monitored;
    if ((await stream.info()).created !== this.created) throw replaced();
    throw error.condition === "gap" && (await canLoad(loadedTo + 1)) ? passed() : error;
  }

  /** The log must be opened again. */
  lose(): void {
    this.#lost.abort();
  }

  onTrouble(error: unknown): void {
    if (!(error instanceof StreamError)) throw error;
    this.#monitored.chain.requireCheck();
    // Another server leads it in a moment; while messages arrive, nothing is missing. Otherwise it is found above.
    if (error.condition === "unanswered") return;
    this.#noteComplete();
    this.#monitored.health.report("follow", error.condition === "deleted" ? withRemedy(error) : error);
    if (error.condition === "replaced" || error.condition === "passed") this.lose();
    if (error.condition === "gap" && !this.#blockedBy) this.block(error);
  }

  /** Rejects with `StreamError` when the stream does not go on where this node is. */
  async check(): Promise<void> {
    const { applied, arrived } = this.#progress;
    const before = applied();
    const at = this.#monitored.clock.now();
    const { stream, canLoad } = this.#monitored;
    const info = await stream.info();
    const { created, firstSequence, lastSequence } = info;
    if (created !== this.created) throw replaced();
    const isPassed = firstSequence > arrived() + 1;
    // The end of the stream may be deleted: then nothing comes that would show it.
    const isLacking =
      isPassed || (this.#missing !== undefined && !(await stream.hasAllAfter(arrived(), info)));
    if (isLacking && (await canLoad(arrived() + 1))) throw passed();
    if (isPassed) throw missingSnapshot();
    this.#onEnd(lastSequence, at);
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

const replaced = () =>
  new StreamError("replaced", "the stream was deleted and made again: this node opens the new one");
const passed = () =>
  new StreamError("passed", "the stream has gone on without this node, which loads a snapshot");

/** A stream that may only be missing for a moment is not made again by nodes that run; one that starts checks that first. */
const withRemedy = (error: StreamError): StreamError =>
  new StreamError(
    "deleted",
    `${error.message}; restart one node with a complete copy of the log: it makes the stream again`,
    { cause: error },
  );
