/**
 * The log of a cluster: a stream that all nodes append to, and this node's copy of it in SQLite.
 *
 * The stream decides order and durability. A batch is published with an expected sequence, that of the last message which
 * this node has applied. When another node was first, the append rejects with `overtaken`, and the committer takes the
 * foreign batches and computes again. A batch is stored in the copy once the stream has it, later and together with others. So a
 * crash at any moment loses nothing: batches that the copy lacks are read from the stream again.
 *
 * Every attempt to publish a batch has the same message id, and this node follows the stream at the same time. The messages
 * that arrive show whether an attempt without an answer was stored.
 */
import { randomUUID } from "node:crypto";
import { aborted } from "../../lib/aborted.ts";
import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import type { EmbeddedLog } from "../embedded.ts";
import {
  type Batch,
  type ForeignBatches,
  type LocalHistory,
  type Log,
  LogError,
  type LogStats,
} from "../log.ts";
import { Arrivals } from "./arrivals.ts";
import { type Applied, BatchAssembler } from "./batch-assembler.ts";
import { ChainCheck } from "./chain-check.ts";
import type { LogStream } from "./log-stream.ts";
import {
  encodeBatch,
  encodeTakeover,
  encodeTurn,
  joinPayload,
  type MessageWriter,
  type StreamMessage,
} from "./messages.ts";
import type { ClockGuard, OpenedCopy, OpenOptions } from "./open-options.ts";
import { COPY_TO_DELETE, COPY_TO_MOVE_AWAY, encodePosition, type StreamPosition } from "./position.ts";
import { closed, Publisher } from "./publisher.ts";
import { StreamError } from "./stream-error.ts";
import { StreamHealth } from "./stream-health.ts";
import { StreamMonitor } from "./stream-monitor.ts";
import { Turns } from "./turns.ts";

/** Pause before a log that was just loaded is loaded again, so that another node can write a snapshot meanwhile. */
const LOAD_AGAIN_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface JetStreamLogOptions
  extends OpenedCopy,
    Pick<OpenOptions, "stream" | "node" | "clockCheck" | "clock" | "logger"> {
  /** Whether a complete state with message `beyond` can be loaded, so that opening the log again repairs this copy. */
  readonly canLoad: (beyond: number) => Promise<boolean>;
}

export class JetStreamLog implements Log, ForeignBatches {
  readonly id: string;
  readonly signingKey: Uint8Array;
  /** The reads of historical states, which a node answers from its copy of the log, and the pruning and snapshots of the copy. */
  readonly read: LocalHistory["read"];
  readonly snapshotAtOrBefore: LocalHistory["snapshotAtOrBefore"];
  readonly writeSnapshot: LocalHistory["writeSnapshot"];
  readonly dropSnapshot: LocalHistory["dropSnapshot"];
  readonly revisionAt: LocalHistory["revisionAt"];
  readonly timeOf: LocalHistory["timeOf"];
  readonly histogram: LocalHistory["histogram"];
  readonly prune: LocalHistory["prune"];
  /** Adds a listener that is called with true when the copy cannot be written, and with false when it can again. */
  readonly onWriteFailing: EmbeddedLog["onFailing"];
  readonly node: string;
  readonly foreign: ForeignBatches = this;
  readonly stream: LogStream;
  readonly health: StreamHealth;
  /** Whether the log was opened from its copy alone, because the stream could not be used. */
  readonly isOpenedWithoutStream: boolean;
  readonly #local: EmbeddedLog;
  readonly #clock: Clock;
  readonly #clockCheck: ClockGuard | undefined;
  readonly #monitor: StreamMonitor;
  /** Sequence of the last takeover that was applied since the start, by source. */
  readonly #takeovers = new Map<string, number>();
  readonly #assembler: BatchAssembler;
  readonly #chain: ChainCheck;
  readonly #publisher: Publisher;
  readonly #turns: Turns;
  readonly #closing = new AbortController();
  readonly #arrivalListeners = new Set<() => void>();
  /** The messages that have arrived after `#sequence`. */
  readonly #arrivals = new Arrivals();
  /** Sequence of the last message that is applied, or collected as a part of an incomplete batch. */
  #sequence: number;
  #overtakenAppends = 0;
  /** Whether `#sequence` is the sequence of a message that is being read, or of a batch that the copy does not have yet. */
  #isStoring = false;
  /** The current attempt to follow the stream. Aborting it begins another one. */
  #following = new AbortController();
  #background: Promise<unknown> = Promise.resolve();
  readonly #isFresh: boolean;
  #isCopyUsable = true;

  constructor(options: JetStreamLogOptions) {
    const {
      local,
      stream,
      node,
      position,
      trouble,
      isFresh = false,
      canLoad,
      clockCheck,
      clock,
      logger,
    } = options;
    this.id = local.id;
    this.signingKey = local.signingKey;
    this.read = local.read.bind(local);
    this.snapshotAtOrBefore = local.snapshotAtOrBefore.bind(local);
    this.writeSnapshot = local.writeSnapshot.bind(local);
    this.dropSnapshot = local.dropSnapshot.bind(local);
    this.revisionAt = local.revisionAt.bind(local);
    this.timeOf = local.timeOf.bind(local);
    this.histogram = local.histogram.bind(local);
    this.prune = local.prune.bind(local);
    this.onWriteFailing = local.onFailing.bind(local);
    this.node = node;
    this.stream = stream;
    const openedAt = clock.now();
    this.health = new StreamHealth(clock, logger, () => {
      const { newest } = local.stats();
      // An empty log has no time of a last revision.
      return (newest === 0 ? undefined : local.timeOf(newest)) ?? openedAt;
    });
    this.#local = local;
    this.#clock = clock;
    this.#clockCheck = clockCheck;
    this.#isFresh = isFresh;
    this.#turns = new Turns(node, clock);
    this.#sequence = position.sequence;
    this.#assembler = new BatchAssembler(local, local.stats().newest, position);
    const closing = this.#closing.signal;
    const chain = new ChainCheck({
      stream,
      clock,
      links: () => this.#assembler.remembered,
      onDiverged: (error) => void this.#block(error).catch(() => {}),
      signal: closing,
    });
    this.#chain = chain;
    const { health } = this;
    this.#publisher = new Publisher({ stream, arrivals: this.#arrivals, chain, health, clock, closing });
    this.#monitor = new StreamMonitor(
      {
        stream,
        connection: stream.nats,
        health,
        clock,
        chain,
        created: position.created,
        canLoad,
        // Loading the snapshot that was just loaded once more would repair nothing.
        loadedTo: isFresh ? position.sequence : -1,
      },
      {
        applied: () => (this.#isStoring ? this.#sequence - 1 : this.#sequence),
        arrived: () => this.#lastArrived,
        isFull: () => this.#arrivals.isFull,
        followAgain: () => this.#following.abort(),
      },
    );
    this.blocked.addEventListener("abort", () => this.#arrivals.wake(), { once: true });
    this.isOpenedWithoutStream = trouble !== undefined;
    if (trouble) health.report("follow", trouble);
    local.onFailing((isFailing) => {
      if (isFailing) health.report("store", cannotStore(local));
      else if (!closing.aborted) health.clear("store");
    });
  }

  /** Aborts when the stream can no longer be followed from this copy. The user of the log closes it and opens it again. */
  get lost(): AbortSignal {
    return this.#monitor.lost;
  }

  /** Number of messages that the stream has and this node has not applied, as far as the end of the stream is known. */
  get lag(): number {
    return this.#monitor.lag;
  }

  /** Sequence of the last message that is applied. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Number of messages that are not a part of the log and were ignored. */
  get foreignMessages(): number {
    return this.#assembler.foreign;
  }

  /** Number of appends that were refused because another node was first. */
  get overtakenAppends(): number {
    return this.#overtakenAppends;
  }

  async #overtaken(): Promise<LogError> {
    this.#overtakenAppends++;
    if (this.#turns.onRefused()) {
      const message = encodeTurn(this.#writer, randomUUID(), this.#sequence);
      // If the turn request fails, this node tries to append again without a turn.
      await this.stream.publish(message).catch(() => {});
    }
    return new LogError("overtaken", "another node has appended to the log");
  }

  /** The node that runs a source, according to the applied messages. */
  holderOf(source: string): string | undefined {
    return this.#assembler.holders.get(source);
  }

  holds(source: string): boolean {
    return this.holderOf(source) === this.node;
  }

  /**
   * Generation of the last takeover of a source that was applied since the start. Each takeover has a larger one: it is the
   * time at which the stream was created, in microseconds, plus a sequence. A stream that was made again has lower sequences
   * but a later creation, and no stream gets one message each microsecond.
   */
  generationOf(source: string): bigint {
    return BigInt(Date.parse(this.#monitor.created)) * 1000n + BigInt(this.#takeovers.get(source) ?? 0);
  }

  get position(): StreamPosition {
    return this.#positionOf(this.#assembler.applied);
  }

  /** The position of a snapshot of `revision`; undefined unless that is the last revision or the one before it. */
  positionAt(revision: number): StreamPosition | undefined {
    const applied = this.#assembler.appliedAt(revision);
    return applied && this.#positionOf(applied);
  }

  #positionOf({ revision, ...applied }: Applied): StreamPosition {
    return { created: this.#monitor.created, ...applied };
  }

  /** Resolves when the stream is known to have all messages that this node has applied. Rejects with `StreamError` otherwise. */
  ensureApplied(): Promise<void> {
    return this.#chain.ensure();
  }

  /** Aborts when this node can apply no more messages, and therefore append no more batches. */
  get blocked(): AbortSignal {
    return this.#monitor.blocked;
  }

  /** Begins to follow the stream. */
  start(): void {
    this.#background = Promise.all([this.#follow(), this.#monitor.run(this.#closing.signal)]);
  }

  onArrival(listener: () => void): void {
    this.#arrivalListeners.add(listener);
  }

  async append(batch: Batch, source?: string): Promise<void> {
    await this.#untilReached();
    if (!this.#local.hasRoom) await this.#local.untilRoom();
    await this.#turns.untilOwn(this.#arrivals, this.#closing.signal);
    await this.#checkClock(batch, source);
    const expected = this.#sequence;
    const { signature } = this.#assembler.last;
    const messages = await encodeBatch(batch, this.#writer, randomUUID(), signature, this.stream.maxPayload);
    if (!this.#arrivals.isEmpty || this.#sequence !== expected) throw await this.#overtaken();
    if (source !== undefined && !this.holds(source))
      throw new LogError("not-holder", `another node runs the source ${source}`);
    if (!(await this.#publisher.publishAll(messages, expected))) throw await this.#overtaken();
    this.#sequence = expected + messages.length;
    this.#assembler.skip(batch.revision, messages, expected);
    this.#turns.onAppended(this.node);
    this.#arrivals.drop(this.#sequence);
    this.#monitor.onArrival();
    await this.#store(batch, joinPayload(messages));
  }

  /** Rejects at once while the clock is wrong, so that the committer goes on with the batches of other nodes meanwhile. */
  async #checkClock({ revision, time }: Batch, source: string | undefined): Promise<void> {
    const guard = this.#clockCheck;
    if ((await guard?.check()) === "wrong")
      throw new LogError(
        source === undefined ? "write-failed" : "not-holder",
        "the clock of this node differs from that of NATS: nothing is written until it is right",
      );
    // The batch was computed while the clock was ahead, so it is computed again; unless the log already has such a time.
    if (guard?.isAhead(time) && time > (this.#local.timeOf(revision - 1) ?? 0)) throw await this.#overtaken();
  }

  /** Stores a batch that the stream has, with the position after it, in the copy. */
  async #store(batch: Batch, payload: Uint8Array): Promise<void> {
    const { position } = this;
    this.#isStoring = true;
    await this.#local.storeLater(batch, payload, () =>
      this.#isCopyUsable ? encodePosition(position) : COPY_TO_MOVE_AWAY,
    );
    this.#isStoring = false;
    this.#arrivals.wake();
  }

  /** Newest revision in the file of the copy. Other nodes rely on it when the stream is gone. */
  get newestStored(): number {
    return this.#local.newestStored;
  }

  /**
   * Appends a takeover: from there on this node runs `source`. Does so only while `isEntitled` returns true. Resolves once the
   * takeover is applied, to whether this node still runs the source.
   */
  async takeOver(
    source: string,
    signal: AbortSignal,
    isEntitled: () => boolean = () => true,
  ): Promise<boolean> {
    const isEnding = () => signal.aborted || this.#closing.signal.aborted || this.blocked.aborted;
    for (;;) {
      // While a batch is stored, `#sequence` is that of a message not applied yet. Storing the next one may begin meanwhile.
      while (this.#isStoring && !isEnding())
        await this.#arrivals.until(() => !this.#isStoring || isEnding(), signal);
      if (isEnding()) return false;
      // Read before the check: if another node takes over after the check, the stream refuses this expected sequence.
      const expected = this.#sequence;
      if (!isEntitled()) return false;
      const message = encodeTakeover(source, this.#writer, randomUUID(), this.#assembler.last.signature);
      const outcome = await this.#publisher.publish(message, expected, signal);
      const awaited = outcome.stored ? outcome.sequence : expected + 1;
      const isReached = () => (this.#sequence >= awaited && !this.#isStoring) || isEnding();
      await (outcome.stored
        ? this.#arrivals.until(isReached, signal)
        : this.#publisher.awaitOther(isReached, signal));
      if (outcome.stored) return this.#sequence >= awaited && this.holds(source);
    }
  }

  get #writer(): MessageWriter {
    return { log: this.id, key: this.signingKey, node: this.node };
  }

  async #untilReached(): Promise<void> {
    // A blocked log applies nothing more, so every commit would be computed from an old view.
    if (this.blocked.aborted) {
      await aborted(this.#closing.signal);
      throw closed();
    }
    if (this.stream.nats.isConnected) return;
    await Promise.race([this.stream.nats.reached, aborted(this.#closing.signal)]);
    if (this.#closing.signal.aborted) throw closed();
  }

  async take(): Promise<Batch | undefined> {
    for (;;) {
      if (!this.#local.hasRoom) await this.#local.untilRoom();
      const message = this.blocked.aborted ? undefined : this.#arrivals.shift();
      if (!message) return undefined;
      const sequence = this.#sequence;
      this.#sequence = message.sequence;
      this.#isStoring = true;
      const accepted = await this.#assembler.accept(message);
      if (accepted?.type === "unusable") {
        this.#sequence = sequence;
        this.#isStoring = false;
        await this.#block(accepted.error);
        return undefined;
      }
      if (accepted?.type === "unlinked") await this.#checkOwn();
      if (accepted?.type === "takeover") this.#takeovers.set(accepted.source, message.sequence);
      if (accepted?.type === "turn") this.#turns.onWanted(accepted.node);
      if (accepted?.type === "batch") {
        this.#turns.onAppended(accepted.node);
        await this.#store(accepted.batch, accepted.payload);
      }
      this.#isStoring = false;
      this.#arrivals.wake();
      if (accepted?.type === "batch") return accepted.batch;
    }
  }

  /** Checks this node's messages after another node applied others. The other's message is ignored unless this node diverged. */
  async #checkOwn(): Promise<void> {
    this.#chain.onContradiction();
    await this.#publisher.untilSure(this.blocked).catch((error) => {
      if (!(error instanceof LogError)) throw error;
    });
  }

  async #block(error: StreamError): Promise<void> {
    if (this.blocked.aborted) return;
    this.#monitor.block(error);
    if (error.condition === "newer") return;
    this.#isCopyUsable = false;
    try {
      await this.#local.storePosition(this.#isFresh ? COPY_TO_DELETE : COPY_TO_MOVE_AWAY);
    } finally {
      // Done also if the position was not stored, because the next attempt finds the same error. A gap waits for a snapshot.
      if (error.condition !== "gap") void this.#loseAfter(this.#isFresh ? LOAD_AGAIN_PAUSE_MS : 0);
    }
  }

  async #loseAfter(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#closing.signal);
    this.#monitor.lose();
  }

  async #follow(): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.lost, this.blocked]);
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    while (!signal.aborted) {
      try {
        await this.#monitor.check();
        this.#following = new AbortController();
        const following = AbortSignal.any([signal, this.#following.signal]);
        for await (const message of this.stream.follow(this.#lastArrived + 1, following)) {
          backoff.reset();
          if (message.sequence > this.#lastArrived + 1) await this.#readSkipped(message.sequence);
          if (signal.aborted) return;
          this.#onMessage(message);
          while (this.#arrivals.isFull && !signal.aborted) await this.#arrivals.next(signal);
        }
      } catch (error) {
        if (!this.#closing.signal.aborted) this.#monitor.onTrouble(error);
      }
      await this.#clock.sleep(backoff.nextMs(), signal);
    }
  }

  /** Reads the messages before `end` that did not arrive. If it missed a takeover, this node would write for another's source. */
  async #readSkipped(end: number): Promise<void> {
    await this.#monitor.check(); // Messages may have been purged since.
    for await (const skipped of this.stream.messages(this.#lastArrived + 1, end)) this.#onMessage(skipped);
  }

  get #lastArrived(): number {
    return this.#arrivals.lastSequence ?? this.#sequence;
  }

  #onMessage(message: StreamMessage): void {
    if (message.sequence <= this.#lastArrived) return;
    this.#arrivals.push(message);
    this.#monitor.onArrival();
    for (const listener of this.#arrivalListeners) listener();
  }

  /** Resolves once all messages that the stream has now are applied, or when the log is lost, blocked or closed. */
  async caughtUp(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#closing.signal, this.lost, this.blocked]);
    const last = await this.#monitor.lastSequence(ended);
    while (this.#sequence < last && !ended.aborted) await this.#arrivals.next(ended);
    // If the stream has lost its last messages, nothing can be compared, and this node serves the view that it has.
    if (last >= this.#sequence)
      await this.#publisher.untilSure(ended).catch((error) => {
        if (!(error instanceof LogError)) throw error;
      });
    this.#monitor.isCaughtUp ||= !ended.aborted;
  }

  stats(): LogStats {
    const { writeFailure } = this.health;
    return { ...this.#local.stats(), ...(writeFailure && { writeFailure }) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#arrivals.wake();
    await this.#background;
    if (!this.#isStoring && this.#isCopyUsable)
      await this.#local.storePosition(encodePosition(this.position)).catch(() => {});
    await this.#local.close();
  }
}

const cannotStore = (local: EmbeddedLog): StreamError =>
  new StreamError(
    "disk",
    `this node cannot write its copy of the log: ${local.stats().writeFailure?.error ?? "the disk fails"}`,
  );
