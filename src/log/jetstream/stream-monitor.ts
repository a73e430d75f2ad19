/**
 * Checks that the stream continues where this node is. The client of NATS goes on silently after an interruption, so this
 * monitor detects interruptions, another stream of the same name, and a view that falls behind. It checks at intervals, and
 * when the connection to NATS is lost or restored. While no messages arrive, it reads the end of the stream, to detect that
 * messages were lost on the way or that the sending server is gone.
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
/** Time for the client to connect to another server before a lost connection is reported. */
const RECONNECT_MS = 500;
/** Number of messages that a view may be behind. Beyond it the view is stale until it is within `MAX_LAG_AFTER_TROUBLE`. */
const MAX_LAG = 5_000;
const MAX_LAG_AFTER_TROUBLE = 100;
/** Number of checks that must agree, because a new leader of the stream may lack the last messages for a moment. */
const CHECKS_UNTIL_TRUNCATED = 5;
/** Time without arrivals after which the end of the stream is read. It is also the interval and the timeout of these reads. */
const QUIET_MS = 1_000;
/** Number of reads without an answer after which the end of the stream is unknown. */
const UNANSWERED_READS = 2;
/** Number of reads between two attempts to follow the stream anew, because making a consumer takes time. */
const READS_UNTIL_FOLLOWED = 5;

interface Monitored {
  readonly stream: Pick<LogStream, "info" | "hasAllAfter">;
  readonly connection: Pick<NatsClient, "isConnected" | "onConnection">;
  readonly health: StreamHealth;
  readonly clock: Clock;
  readonly chain: Pick<ChainCheck, "check" | "requireCheck">;
  /** The creation time of the stream that this node follows. */
  readonly created: string;
  /** Whether a complete state with message `beyond` can be loaded. Rejects with `StreamError`. */
  readonly canLoad: (beyond: number) => Promise<boolean>;
  /** Sequence of the last message in the snapshot that this node has just loaded; -1 where its copy is older. */
  readonly loadedTo: number;
}

/** The progress of this node: sequences of the last applied and arrived messages, and the control of following. */
interface Progress {
  readonly applied: () => number;
  readonly arrived: () => number;
  /** Whether the queue of messages is full, so that no further messages are read from the stream. */
  readonly isFull: () => boolean;
  /**
   * Follows the stream anew, from after the last arrived message. Messages sent on a broken connection are lost, and the client
   * of NATS notices that only when another message arrives.
   */
  readonly followAgain: () => void;
}

export class StreamMonitor {
  readonly created: string;
  /** Whether the view has been as new as the stream once since the start. */
  isCaughtUp = false;
  readonly #monitored: Monitored;
  readonly #progress: Progress;
  readonly #lost = new AbortController();
  #lastSequence = 0;
  #checksTruncated = 0;
  /** The time of the last arrival, or of the last check at which none was possible, by the monotonic clock. */
  #arrivedAt = 0;
  /** The last sequence of the stream when missing arrivals were detected; undefined while messages arrive. */
  #missing: number | undefined;
  /** An end of the stream and the time it was read. A view that has applied this message was complete at that time. */
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

  /** Aborts when no more messages can be applied. */
  get blocked(): AbortSignal {
    return this.#blocked.signal;
  }

  /** Number of messages that are not applied yet. */
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
      // Messages that were sent on the broken connection are lost.
      if (connection.isConnected) this.#progress.followAgain();
    });
    while (!signal.aborted) {
      changed = new AbortController();
      // The checks end when the connection is lost or restored, so that they do not wait for an answer that cannot come.
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

  /** Called when a message has arrived, or was stored by this node itself. */
  onArrival(): void {
    this.#arrivedAt = this.#monitored.clock.monotonic();
    if (this.#missing !== undefined && this.#progress.arrived() >= this.#missing) this.#endSilence();
  }

  #endSilence(): void {
    this.#missing = undefined;
    this.#monitored.health.clear("receive");
  }

  /** Reads the end of the stream while nothing arrives. Only messages that have not arrived by the next read count as missing. */
  async #watchArrivals(signal: AbortSignal): Promise<void> {
    const { clock } = this.#monitored;
    const { arrived, isFull } = this.#progress;
    let [end, unanswered, silentReads] = [0, 0, 0];
    while (!signal.aborted) {
      // A full queue or a blocked log explains why nothing arrives, and each is reported as another condition.
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
      // The missing messages are no longer in the stream.
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

  /** Reads the sequence of the stream's last message; undefined if no answer comes in time or the stream is another one. */
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

  /** Records that the stream ended at `sequence` at a time, in epoch milliseconds. */
  #onEnd(sequence: number, at: number): void {
    this.#lastSequence = sequence;
    // A stream that has lost its last messages ends before the awaited sequence.
    if (!this.#awaited || sequence < this.#awaited.sequence) this.#awaited = { sequence, at };
    this.#noteComplete();
  }

  #noteComplete(): void {
    if (this.#awaited && this.#progress.applied() >= this.#awaited.sequence) {
      this.#monitored.health.setComplete(this.#awaited.at);
      this.#awaited = undefined;
    }
  }

  /** Stops applying messages until the log is opened again. */
  block(error: StreamError): void {
    this.#blockedBy ??= error;
    this.#blocked.abort();
    this.onTrouble(error);
  }

  /** Always rejects: with the error that blocks this node, or with one that makes it open the log again where that helps. */
  async #checkBlocked(error: StreamError): Promise<never> {
    const { stream, canLoad, loadedTo } = this.#monitored;
    if ((await stream.info()).created !== this.created) throw replaced();
    throw error.condition === "gap" && (await canLoad(loadedTo + 1)) ? passed() : error;
  }

  /** Signals that the log must be opened again. */
  lose(): void {
    this.#lost.abort();
  }

  onTrouble(error: unknown): void {
    if (!(error instanceof StreamError)) throw error;
    this.#monitored.chain.requireCheck();
    // A new leader is usually elected soon. If no messages arrive meanwhile, `#watchArrivals` reports that.
    if (error.condition === "unanswered") return;
    this.#noteComplete();
    this.#monitored.health.report("follow", error.condition === "deleted" ? withRemedy(error) : error);
    if (error.condition === "replaced" || error.condition === "passed") this.lose();
    if (error.condition === "gap" && !this.#blockedBy) this.block(error);
  }

  /** Rejects with `StreamError` when the stream does not continue where this node is. */
  async check(): Promise<void> {
    const { applied, arrived } = this.#progress;
    const before = applied();
    const at = this.#monitored.clock.now();
    const { stream, canLoad } = this.#monitored;
    const info = await stream.info();
    const { created, firstSequence, lastSequence } = info;
    if (created !== this.created) throw replaced();
    const isPassed = firstSequence > arrived() + 1;
    // If the last messages of the stream were deleted, no later message arrives that would show the gap.
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

  /** Reads the last sequence of the stream. Tries again until it is answered; 0 when `signal` aborts before. */
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

/** Running nodes do not make a deleted stream again, because it may be missing only briefly. A starting node checks first. */
const withRemedy = (error: StreamError): StreamError =>
  new StreamError(
    "deleted",
    `${error.message}; restart one node with a complete copy of the log: it makes the stream again`,
    { cause: error },
  );
