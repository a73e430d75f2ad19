/**
 * Drawings are rendered in a thread, one at a time, and users take turns, so that a user with many drawings delays another
 * one by a single drawing. A drawing whose client is gone is removed from the queue, or is not drawn any further.
 *
 * Two limits apply to each user: the number of drawings that wait, and the bytes of those that are drawn and not read yet.
 * The thread holds these bytes, so that a slow client does not delay others.
 */
import { SvgThread, type SvgThreadOptions } from "../../formats/svg-thread.ts";
import { FairSemaphore } from "../../lib/fair-semaphore.ts";
import { Quota } from "../../lib/quota.ts";
import { type Arriving, type Paced, type Steps, waitFor } from "../../lib/steps.ts";
import type { Topology } from "../../model/entity.ts";
import { ProblemDetails } from "../response/problem.ts";

/** Maximum number of drawings of one user that wait or are being drawn. */
const MAX_DRAWINGS_PER_USER = 16;
/** Number of unread bytes of drawings above which no further one is drawn for the user. */
const MAX_UNREAD_BYTES_PER_USER = 32 * 1024 * 1024;
const RETRY_AFTER_SECONDS = "5";

/** The content of a drawing, as JSON texts. */
export interface DrawingInput {
  readonly topology: Topology;
  readonly revision: number;
  /** The devices. Each is an array of the device and the number of its hosts. */
  readonly devices: Paced<string>;
  /** The links between these devices. */
  readonly links: Paced<string>;
  /** The lost cables between these devices. */
  readonly lost: Paced<string>;
}

export class Drawings implements Disposable {
  readonly #thread: SvgThread;
  readonly #turns = new FairSemaphore(1);
  /** Number of drawings that wait or are being drawn, by user. */
  readonly #underWay = new Quota({ perKey: MAX_DRAWINGS_PER_USER, total: Number.POSITIVE_INFINITY });

  constructor(options?: SvgThreadOptions) {
    this.#thread = new SvgThread(options);
  }

  /** Number of threads started since the process started. */
  get threadsStarted(): number {
    return this.#thread.started;
  }

  /**
   * Returns the bytes of a drawing, which must be read to their end or closed. The input is rendered on the scheduler before
   * the drawing waits for its turn.
   */
  *draw(owner: string, input: Steps<DrawingInput>): Steps<Arriving<Uint8Array>> {
    if (this.#underWay.exceededBy(owner)) throw tooMany("Too many drawings wait for this user");
    this.#underWay.add(owner);
    try {
      return yield* this.#drawInTurn(owner, yield* input);
    } finally {
      this.#underWay.remove(owner);
    }
  }

  [Symbol.dispose](): void {
    this.#thread[Symbol.dispose]();
  }

  *#drawInTurn(owner: string, input: DrawingInput): Steps<Arriving<Uint8Array>> {
    const slot = this.#turns.request(owner);
    try {
      yield* waitFor(slot.granted);
      if (this.#thread.heldBytes(owner) > MAX_UNREAD_BYTES_PER_USER)
        throw tooMany("Other drawings of this user are not read yet");
      return yield* this.#drawInThread(owner, input);
    } finally {
      slot.release();
    }
  }

  *#drawInThread(owner: string, { topology, revision, devices, links, lost }: DrawingInput) {
    const drawing = this.#thread.begin(owner);
    let isDrawn = false;
    try {
      yield* drawing.send("devices", devices);
      yield* drawing.send("links", links);
      yield* drawing.send("lost", lost);
      yield* drawing.draw(topology, revision);
      isDrawn = true;
      return drawing;
    } finally {
      if (!isDrawn) drawing.return();
    }
  }
}

const tooMany = (reason: string): ProblemDetails =>
  new ProblemDetails("overloaded", `${reason}; try again in a moment.`, {
    "Retry-After": RETRY_AFTER_SECONDS,
  });
