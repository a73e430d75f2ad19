/**
 * Bounds the work that connections do in one turn of the event loop. Connections take a unit of work each (a request, or
 * a slice of a body) from a shared quota. When it is used up, the others wait in the order in which they came, and go on
 * after the loop has turned, so that timers and other sockets are not delayed.
 *
 * The quota is refilled only when somebody waits, not in each turn: a timer in each turn would cost more than a small
 * response. So a quota may span several turns, and then one unit waits for a turn without need.
 */

/* The part of one connection in the work of a turn of the event loop (`turn-queue.ts`). */

/** Pipelined requests, and slices of bodies, after which other connections get their turn. */
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

  /** The runtime has called, so the loop has turned since the last work of this connection. */
  start(): void {
    this.#left = this.#units;
  }

  /** Returns whether one more unit may be done now. Otherwise call `wait`. */
  take(): boolean {
    if (this.#left === 0 || !this.#queue.take()) return false;
    this.#left--;
    return true;
  }

  /** Its `onTurn` must call `onTurn` of this object. */
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
  /** Called once for each `enqueue`, in a later turn. */
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

  /** Returns whether one more unit may be done now. Otherwise call `enqueue`. */
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
    // Those that were not reached come before those that had a part of this turn.
    if (next < waiting.length) this.#waiting = waiting.slice(next).concat(this.#waiting);
    if (this.#waiting.length > 0) this.#schedule();
  }
}
