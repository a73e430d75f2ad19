/**
 * The bytes that a session has received and not handled yet. They are handled in steps on the scheduler, where the owner
 * is the peer's address: the first step runs at once, the others take turns with other peers. The socket is paused while
 * many bytes are left. The socket of a session that must wait is paused until the next tick.
 *
 * The bytes that sessions hold are limited per peer address and in total. A session that would exceed the limit is closed.
 */
import { errorMessage } from "../../../lib/error-message.ts";
import { type Quota, QuotaAccount } from "../../../lib/quota.ts";
import type { Scheduler } from "../../../lib/scheduler.ts";
import type { Steps } from "../../../lib/steps.ts";
import type { MessageFramer } from "../codec/framing.ts";
import type { Channel } from "./openflow-listener.ts";

const FULL_BYTES = 64 * 1024;

/** The session that the bytes belong to. */
interface InboxSession {
  readonly channel: Channel;
  readonly isClosed: boolean;
  /** Handles the messages of the framer. Returns `wait` when not all of them can be handled now. */
  handleMessages(): Steps<"wait" | "done">;
  close(reason: string): void;
  /** Called when the socket is paused. */
  paused(): void;
}

export class Inbox {
  readonly #session: InboxSession;
  readonly #framer: MessageFramer;
  readonly #scheduler: Scheduler;
  readonly #account: QuotaAccount;
  /** Set while messages are being handled on the scheduler. */
  #isWorking = false;
  /** Set while the session waits for the next tick. */
  #isPaused = false;
  /** Set while the socket is paused until the held bytes are handled. */
  #isSocketPaused = false;

  constructor(session: InboxSession, framer: MessageFramer, scheduler: Scheduler, quota: Quota) {
    this.#session = session;
    this.#framer = framer;
    this.#scheduler = scheduler;
    this.#account = new QuotaAccount(quota, session.channel.remoteAddress);
  }

  push(chunk: Uint8Array): void {
    this.#framer.push(chunk);
    // A paused socket may still deliver bytes that were read before.
    if (this.#isWorking || this.#isPaused) {
      this.#hold();
      this.#pauseWhenFull();
    } else this.#work();
  }

  tick(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#session.channel.resume();
    this.#work();
  }

  /** To be called when the session is closed. Its bytes are no longer counted. */
  clear(): void {
    this.#count(0);
  }

  #work(): void {
    const { channel } = this.#session;
    const outcome = this.#scheduler.run(channel.remoteAddress, this.#session.handleMessages());
    if (!(outcome instanceof Promise)) {
      this.#end(outcome);
      return;
    }
    this.#isWorking = true;
    this.#hold();
    this.#pauseWhenFull();
    outcome.then(
      (end) => {
        this.#isWorking = false;
        if (this.#isSocketPaused && !this.#session.isClosed) channel.resume();
        this.#isSocketPaused = false;
        this.#end(end);
      },
      (error: unknown) => this.#session.close(`internal error: ${errorMessage(error)}`),
    );
  }

  #end(outcome: "wait" | "done"): void {
    if (this.#session.isClosed) return;
    if (outcome === "wait") {
      this.#isPaused = true;
      this.#session.channel.pause();
      this.#session.paused();
      this.#hold();
    } else this.#count(this.#framer.bufferedBytes);
  }

  /** Pauses the socket only when many bytes are held, because pausing and resuming costs more than storing a few bytes. */
  #pauseWhenFull(): void {
    if (this.#isSocketPaused || this.#framer.bufferedBytes < FULL_BYTES || this.#session.isClosed) return;
    this.#isSocketPaused = true;
    this.#session.channel.pause();
    this.#session.paused();
  }

  #hold(): void {
    this.#framer.hold();
    this.#count(this.#framer.bufferedBytes);
  }

  #count(bytes: number): void {
    if (!this.#account.set(bytes))
      this.#session.close("its peer holds too many bytes that cannot be handled");
  }
}
