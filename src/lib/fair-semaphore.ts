/**
 * A semaphore that grants slots to owners in turn: at most `maxRunning` tasks run, and each time one ends, the owner that
 * has waited longest is next. So an owner with a hundred tasks delays another one by a single task. Tasks of one owner run
 * in order. It bounds work that runs off the event loop, such as compression; with `maxRunning` 1 it is a lock.
 *
 * The length of each queue is bounded by the limit on requests in flight.
 */

/** The right to run a task. It is requested at once and granted in turn. */
export interface Slot {
  readonly granted: Promise<void>;
  /** Gives the slot back, or leaves the queue. Any further call does nothing. */
  release(): void;
}

class QueuedSlot implements Slot {
  readonly owner: string;
  readonly granted: Promise<void>;
  readonly grant: () => void;
  readonly #onRelease: (slot: QueuedSlot) => void;
  #isReleased = false;

  constructor(owner: string, onRelease: (slot: QueuedSlot) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.owner = owner;
    this.granted = promise;
    this.grant = resolve;
    this.#onRelease = onRelease;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#onRelease(this);
  }
}

export class FairSemaphore {
  readonly #maxRunning: number;
  /** The queues by owner, in the order in which the owners are next. No queue is empty. */
  readonly #queues = new Map<string, QueuedSlot[]>();
  #running = 0;

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  request(owner: string): Slot {
    const slot = new QueuedSlot(owner, (released) => this.#release(released));
    if (this.#running < this.#maxRunning) {
      this.#running++;
      slot.grant();
    } else this.#enqueue(slot);
    return slot;
  }

  async run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    const slot = this.request(owner);
    await slot.granted;
    try {
      return await task();
    } finally {
      slot.release();
    }
  }

  #enqueue(slot: QueuedSlot): void {
    const queue = this.#queues.get(slot.owner);
    if (queue) queue.push(slot);
    else this.#queues.set(slot.owner, [slot]);
  }

  #release(slot: QueuedSlot): void {
    const queue = this.#queues.get(slot.owner);
    const place = queue?.indexOf(slot) ?? -1;
    if (!queue || place < 0) {
      this.#grantNext();
      return;
    }
    queue.splice(place, 1);
    if (queue.length === 0) this.#queues.delete(slot.owner);
  }

  /** Passes the slot directly to the next task, so that a new task cannot get it in between. */
  #grantNext(): void {
    for (const [owner, queue] of this.#queues) {
      this.#queues.delete(owner);
      const next = queue.shift();
      if (queue.length > 0) this.#queues.set(owner, queue);
      next?.grant();
      return;
    }
    this.#running--;
  }
}
