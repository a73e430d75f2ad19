/** The messages of the stream that have arrived and are not applied yet, in order, and what waits for them. */
import { type EncodedMessage, messageId, type StreamMessage } from "./messages.ts";

/** Bytes of payloads that wait. While there are more, the stream is not read on. */
const MAX_BYTES = 32 * 1024 * 1024;

export class Arrivals {
  /** Called at each arrival and each change of what has arrived. */
  readonly #waiting = new Set<() => void>();
  #messages: StreamMessage[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  /** Sequence of the last message that waits; undefined where none does. */
  get lastSequence(): number | undefined {
    return this.#messages.at(-1)?.sequence;
  }

  /** Whether these messages are the first ones; undefined while that is not known. */
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

  /** Drops the messages up to a sequence. */
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
