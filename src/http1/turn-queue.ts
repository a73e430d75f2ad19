/**
 * Limits the work that connections do in one turn of the event loop. Each unit of work (a request, or a slice of a body)
 * is taken from a quota that the connections share. When the quota is used up, connections wait in the order in which they
 * came and continue in the next turn, so that timers and other sockets are not delayed.
 *
 * The quota is refilled only when a connection waits, not in each turn, because a timer in each turn would cost more than
 * a small response. So a quota may span several turns, and the unit that finds it used up waits for a turn needlessly.
 */

/* The share of one connection in the work of a turn of the event loop. */

/** Number of units of work of one connection (pipelined requests, slices of bodies) after which others get their turn. */
const AUTHENTICATED_UNITS = 16;
const ANONYMOUS_UNITS = 1;

export class TurnShare {
  #queue: TurnQueue;
  #units = ANONYMOUS_UNITS;
  #left = 0;
  #waiting = false;

  constructor(anonymousTurns: TurnQueue) {
    this.#queue = anonymousTurns;
  }

  onAuthenticated(authenticatedTurns: TurnQueue): void {
    this.#queue = authenticatedTurns;
    this.#units = AUTHENTICATED_UNITS;
    this.#left = AUTHENTICATED_UNITS;
  }

  get waiting(): boolean {
    return this.#waiting;
  }

  /** Called when the runtime calls the connection, because the loop has then turned since its last work. */
  start(): void {
    this.#left = this.#units;
  }

  /** Returns whether one more unit of work may be done now. If not, the caller must call `wait`. */
  take(): boolean {
    if (this.#left === 0 || !this.#queue.take()) return false;
    this.#left--;
    return true;
  }

  /** Enqueues the connection for a later turn. Its `onTurn` must call `onTurn` of this object. */
  wait(taker: TurnTaker): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#queue.enqueue(taker);
  }

  onTurn(): void {
    this.#waiting = false;
    this.start();
  }
}

export interface TurnTaker {
  /** Called once for each call of `enqueue`, in a later turn. */
  onTurn(): void;
}

export class TurnQueue {
  readonly #quota: number;
  #left: number;
  #waiting: TurnTaker[] = [];
  #scheduled = false;

  constructor(quota: number) {
    this.#quota = quota;
    this.#left = quota;
  }

  /** Returns whether one more unit of work may be done now. If not, the caller must call `enqueue`. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  enqueue(taker: TurnTaker): void {
    this.#waiting.push(taker);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#runTurn();
    });
  }

  #runTurn(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#left = this.#quota;
    let next = 0;
    while (next < waiting.length && this.#left > 0) waiting[next++]?.onTurn();
    // Connections that had no part of this turn come before those that were enqueued again during it.
    if (next < waiting.length) this.#waiting = waiting.slice(next).concat(this.#waiting);
    if (this.#waiting.length > 0) this.#schedule();
  }
}
