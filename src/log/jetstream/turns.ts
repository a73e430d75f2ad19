/**
 * Turns for nodes whose appends are refused again and again, because others append meanwhile. Such a node publishes a turn
 * request, which needs no expected sequence. The others then append nothing until it has appended or `TURN_MS` has passed.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Arrivals } from "./arrivals.ts";

/** Number of refused appends in a row after which a node requests a turn. */
const MAX_REFUSALS = 4;
/** Maximum duration of a turn: time to compute and publish a large batch. A node that needs longer may be dead. */
const TURN_MS = 5_000;

export class Turns {
  readonly #node: string;
  readonly #clock: Clock;
  /** Requested turns, in the order of the stream. */
  #wanted: { readonly node: string; readonly until: number }[] = [];
  #refused = 0;

  constructor(node: string, clock: Clock) {
    this.#node = node;
    this.#clock = clock;
  }

  /** Waits while it is another node's turn. Returns when a message arrives, because it must be applied before the append. */
  async untilOwn(arrivals: Arrivals, signal: AbortSignal): Promise<void> {
    while (this.#waitMs > 0 && arrivals.isEmpty && !signal.aborted) {
      const waiting = new AbortController();
      const ended = AbortSignal.any([signal, waiting.signal]);
      await Promise.race([this.#clock.sleep(this.#waitMs, ended), arrivals.next(ended)]);
      waiting.abort();
    }
  }

  /** Maximum time for which this node waits for another node's turn; 0 where it need not wait. */
  get #waitMs(): number {
    const now = this.#clock.monotonic();
    this.#wanted = this.#wanted.filter(({ until }) => until > now);
    const [first] = this.#wanted;
    return !first || first.node === this.#node ? 0 : first.until - now;
  }

  /** Called when an append of this node was refused. Returns whether it should request a turn now. */
  onRefused(): boolean {
    this.#refused++;
    if (this.#refused < MAX_REFUSALS || this.#wanted.some(({ node }) => node === this.#node)) return false;
    this.#refused = 0;
    return true;
  }

  onWanted(node: string): void {
    this.#wanted.push({ node, until: this.#clock.monotonic() + TURN_MS });
  }

  onAppended(node: string): void {
    if (node === this.#node) this.#refused = 0;
    const had = this.#wanted.findIndex((turn) => turn.node === node);
    if (had >= 0) this.#wanted.splice(had, 1);
  }
}
