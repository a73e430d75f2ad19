/** The queue of stream messages that have arrived and are not applied yet, in order, and the callers that wait for them. */
import { type EncodedMessage, messageId, type StreamMessage } from "./messages.ts";

/** Maximum bytes of queued payloads. While there are more, no further messages are read from the stream. */
const MAX_BYTES = 32 * 1024 * 1024;

export class Arrivals {
  /** Callbacks for the next arrival or change of the queue. */
  readonly #waiting = new Set<() => void>();
  #messages: StreamMessage[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  /** Sequence of the last queued message; undefined if the queue is empty. */
  get lastSequence(): number | undefined {
    return this.#messages.at(-1)?.sequence;
  }

  /** Whether the queue begins with these messages; undefined while too few have arrived to know. */
  beginWith(messages: readonly EncodedMessage[]): boolean | undefined {
    for (const [i, { id }] of messages.entries()) {
      const arrived = this.#messages[i];
      if (!arrived) return undefined;
      if (messageId(arrived) !== id) return false;
    }
    return true;
  }

  push(message: StreamMessage): void {
    this.#messages.push(message);
    this.#bytes += message.data.length;
    this.wake();
  }

  shift(): StreamMessage | undefined {
    const message = this.#messages.shift();
    this.#bytes -= message?.data.length ?? 0;
    return message;
  }

  /** Drops the messages up to and including a sequence. */
  drop(sequence: number): void {
    this.#messages = this.#messages.filter((message) => message.sequence > sequence);
    this.#bytes = this.#messages.reduce((sum, { data }) => sum + data.length, 0);
    this.wake();
  }

  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves when the condition holds, and when `signal` aborts. */
  async until(isMet: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isMet() && !signal.aborted) await this.next(signal);
  }

  /** Resolves at the next arrival or change, and when `signal` aborts. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
      if (signal.aborted) done();
    });
  }
}
