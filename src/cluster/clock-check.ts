/**
 * Compares the clock of this node with that of NATS. The times of revisions never decrease, so all nodes would have to use the
 * time of one node whose clock is ahead for every later revision.
 *
 * NATS stamps the entries that this node writes. Between two writes the time of NATS is extrapolated by the monotonic clock, so
 * that a changed clock is noticed before the next commit. A node whose clock differs by more than two seconds writes nothing, if
 * another node agrees with NATS. If none does, the clock of NATS is suspect, and this node goes on.
 */
import { aborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";

const MAX_OFFSET_MS = 2_000;

/** The result of the comparison. `wrong`: this node writes nothing. `suspect`: NATS may be wrong, and this node goes on. */
export type ClockState = "right" | "wrong" | "suspect";

/** The clock offset that another node publishes. */
export interface ShownClock {
  readonly clockOffsetMs?: number | undefined;
}

/** Reads the clock offsets of the other live nodes. Rejects when NATS cannot be used now. */
export type ReadOthers = () => Promise<readonly ShownClock[]>;

export class ClockCheck {
  /** The clock of NATS; the clock of this node before the first comparison. */
  readonly natsClock: Clock;
  readonly #clock: Clock;
  readonly #readOthers: ReadOthers;
  readonly #measure: () => Promise<boolean>;
  #isMeasured = false;
  readonly #listeners = new Set<(state: ClockState, message: string) => void>();
  /** The bounds of the time of NATS minus the monotonic clock. */
  #natsOffset: { readonly lowest: number; readonly highest: number } | undefined;
  #state: ClockState = "right";
  #left = new AbortController();

  /** `measure` causes a call of `observe`, and resolves to false where NATS is not connected. It does not reject. */
  constructor(clock: Clock, readOthers: ReadOthers, measure: () => Promise<boolean> = async () => true) {
    this.#clock = clock;
    this.#readOthers = readOthers;
    this.#measure = measure;
    this.natsClock = {
      now: () => clock.now() - (this.offsetMs ?? 0),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
  }

  /** Adds a listener that is called when the state has changed. */
  onChange(listener: (state: ClockState, message: string) => void): void {
    this.#listeners.add(listener);
  }

  /** The minimum by which this node's clock is ahead; 0 within the accuracy. Undefined before the first comparison. */
  get offsetMs(): number | undefined {
    if (!this.#natsOffset) return undefined;
    const { lowest, highest } = this.#natsOffset;
    const own = this.#clock.now() - this.#clock.monotonic();
    return Math.round(own > highest ? own - highest : own < lowest ? own - lowest : 0);
  }

  /** Records that NATS stamped an entry `created` (epoch ms), sent and acknowledged at these times of the monotonic clock. */
  async observe(created: number, sentAt: number, receivedAt: number): Promise<void> {
    this.#natsOffset = { lowest: created - receivedAt, highest: created - sentAt };
    await this.check();
  }

  /** Determines whether this node may write. Await it before each commit. It reads nothing while the clock is right. */
  async check(): Promise<ClockState> {
    // A node that started without NATS has not compared yet. It measures once, so that commits do not wait for the nodes list.
    if (!this.#natsOffset && !this.#isMeasured) this.#isMeasured = await this.#measure();
    const others = this.#isWithin ? [] : await this.#readOthers().catch(() => undefined);
    // The clock may have been corrected while the others were read.
    if (this.#isWithin) this.#set("right", "");
    else {
      const isConfirmed = others?.some(({ clockOffsetMs }) => isWithin(clockOffsetMs));
      // While the list of nodes cannot be read, a suspect state stays suspect, and every other state becomes wrong.
      const state = isConfirmed === undefined ? this.#stateOfUnknown : isConfirmed ? "wrong" : "suspect";
      this.#set(state, messageOf(state, this.offsetMs ?? 0));
    }
    return this.#state;
  }

  get #isWithin(): boolean {
    return isWithin(this.offsetMs ?? 0);
  }

  get #stateOfUnknown(): ClockState {
    return this.#state === "suspect" ? "suspect" : "wrong";
  }

  /** Whether `time` was read from the clock while it was ahead. */
  isAhead(time: number): boolean {
    if (!this.#natsOffset || this.#state !== "right") return false;
    return time > this.#natsOffset.highest + this.#clock.monotonic() + MAX_OFFSET_MS;
  }

  /** Resolves when this node may write. */
  async untilRight(): Promise<void> {
    while ((await this.check()) === "wrong") await aborted(this.#left.signal);
  }

  #set(state: ClockState, message: string): void {
    if (state === this.#state) return;
    this.#state = state;
    if (state === "wrong") this.#left = new AbortController();
    else this.#left.abort();
    for (const listener of this.#listeners) listener(state, message);
  }
}

const isWithin = (offsetMs: number | undefined): boolean =>
  offsetMs !== undefined && Math.abs(offsetMs) <= MAX_OFFSET_MS;

function messageOf(state: ClockState, offsetMs: number): string {
  const seconds = `${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${offsetMs > 0 ? "ahead of" : "behind"}`;
  return state === "wrong"
    ? `the clock of this node is ${seconds} that of NATS: it writes nothing and runs no source until the clock is right`
    : `the clock of this node is ${seconds} that of NATS, and no other node agrees with NATS: check the clocks of the NATS servers; sources go on`;
}
