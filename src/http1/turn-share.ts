/** The part of one connection in the work of a turn of the event loop (`turn-queue.ts`). */
import type { TurnQueue, TurnTaker } from "./turn-queue.ts";

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
