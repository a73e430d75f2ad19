/**
 * Publishes at an expected sequence of the stream, and finds out whether the message was stored: by the answer, or by the
 * messages that arrive. Publishes nothing while it is unknown whether the stream has all messages that this node has applied.
 */

import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { within } from "../../lib/within.ts";
import { LogError } from "../log.ts";
import type { Arrivals } from "./arrivals.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { LogStream, PublishOutcome } from "./log-stream.ts";
import type { EncodedMessage } from "./messages.ts";
import { StreamError } from "./stream-error.ts";
import type { StreamHealth } from "./stream-health.ts";

/** Maximum wait for the message that caused a refusal. Newer servers refuse for one not stored yet, and it may be lost. */
const REFUSED_WAIT_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface PublisherParts {
  readonly stream: LogStream;
  readonly arrivals: Arrivals;
  readonly chain: ChainCheck;
  readonly health: StreamHealth;
  readonly clock: Clock;
  /** Aborts when the log is closed. */
  readonly closing: AbortSignal;
}

export class Publisher {
  readonly #parts: PublisherParts;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** Publishes the messages after `expected`. Resolves to whether the stream has them; tries again until that is known. */
  async publishAll(messages: readonly EncodedMessage[], expected: number): Promise<boolean> {
    const { stream, arrivals, closing } = this.#parts;
    const attempt = async () => {
      const outcomes = await Promise.all(messages.map((message, i) => stream.publish(message, expected + i)));
      const areStored = outcomes.every((each, i) => each.stored && each.sequence === expected + 1 + i);
      return areStored ? "stored" : "refused";
    };
    const decided = () => (arrivals.beginWith(messages) === undefined ? undefined : ("arrived" as const));
    for (;;) {
      if ((await this.#untilAnswered(attempt, closing, decided)) === "stored") return true;
      // A refusal means that another message is at this sequence, or that an earlier attempt was stored after all.
      await this.awaitOther(() => decided() !== undefined, closing);
      const hasArrived = arrivals.beginWith(messages);
      if (hasArrived !== undefined) return hasArrived;
      if (closing.aborted) throw closed();
    }
  }

  publish(message: EncodedMessage, expected: number, signal: AbortSignal): Promise<PublishOutcome> {
    return this.#untilAnswered(() => this.#parts.stream.publish(message, expected), signal);
  }

  /** Waits after a refusal until the message that caused it arrives, for a limited time because that message may be lost. */
  awaitOther(isThere: () => boolean, signal: AbortSignal): Promise<void> {
    const { arrivals, clock } = this.#parts;
    return within(clock, REFUSED_WAIT_MS, signal, (limited) => arrivals.until(isThere, limited));
  }

  /** Resolves when the stream is known to have all messages that this node has applied. Rejects when the log is closed. */
  async untilSure(signal: AbortSignal): Promise<void> {
    await this.#untilAnswered(async () => true, signal);
  }

  /**
   * Makes attempts until one is answered or `decided` returns a result, each after a check of the chain. Meanwhile the reason for
   * the failures is reported as the condition of publishing. Rejects when `signal` aborts or the log is closed.
   */
  async #untilAnswered<Result>(
    attempt: () => Promise<Result>,
    signal: AbortSignal,
    decided: () => Result | undefined = () => undefined,
  ): Promise<Result> {
    const { chain, health, clock, arrivals, closing } = this.#parts;
    const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
    let result: Result | undefined;
    while (result === undefined) {
      try {
        if (!chain.isSure) await chain.ensure();
        result = await attempt();
      } catch (error) {
        chain.requireCheck();
        if (!(error instanceof StreamError)) throw error;
        const ended = AbortSignal.any([signal, closing]);
        if (ended.aborted) throw closed();
        health.report("publish", error);
        await Promise.race([clock.sleep(backoff.nextMs(), ended), arrivals.next(ended)]);
        if (ended.aborted) throw closed();
        result = decided();
      }
    }
    health.clear("publish");
    return result;
  }
}

export const closed = () => new LogError("write-failed", "the log is closed");
