/**
 * Notices that the process runs out of file descriptors. The runtime reports no error when `accept` fails for lack of a
 * descriptor: it tries again at once, without end, at full CPU. So a server must not come that far.
 *
 * The kernel assigns the lowest free descriptor, so no more are left than those from its number to the limit and the ones
 * that were closed below. So a high number means too few, but a low one does not mean enough: closing a listener gives one.
 * The end of an incident is noticed by opening as many as should be left.
 */
import { closeSync, openSync, readFileSync } from "node:fs";

/** "low": a reserve for files and other listeners is left. "exhausted": nothing is left. */
export type DescriptorState = "enough" | "low" | "exhausted";

export interface DescriptorMonitorOptions {
  /** Called once when descriptors run low and once when there are enough again. */
  readonly onChange: (state: DescriptorState, limit: number) => void;
  /** How many times the usual reserve is kept: a server that is less important leaves some to the others. Default 1. */
  readonly reserves?: number;
  readonly limit?: number;
  /** Returns the lowest free descriptor, or undefined when there is none. */
  readonly lowestFree?: () => number | undefined;
  /** Whether so many are free. */
  readonly areFree?: (count: number) => boolean;
}

const MIN_RESERVE = 16;
const MAX_RESERVE = 128;

export class DescriptorMonitor {
  readonly #onChange: DescriptorMonitorOptions["onChange"];
  readonly #lowestFree: () => number | undefined;
  readonly #areFree: (count: number) => boolean;
  readonly #limit: number;
  readonly #reserve: number;
  #isLow = false;

  constructor(options: DescriptorMonitorOptions) {
    const { onChange, reserves = 1, limit = softLimit(), lowestFree = openOne, areFree = canOpen } = options;
    this.#onChange = onChange;
    this.#limit = limit;
    this.#lowestFree = lowestFree;
    this.#areFree = areFree;
    this.#reserve = reserves * usualReserve(limit);
  }

  /** Connections to close at once when nothing is left. */
  get reserve(): number {
    return this.#reserve;
  }

  /** Whether a descriptor with this number was taken from the reserve. */
  isReserved(descriptor: number): boolean {
    const isReserved = descriptor >= this.#limit - this.#reserve;
    if (isReserved) this.#setLow("low");
    return isReserved;
  }

  /** Whether the descriptor of a socket was. The types of the runtime do not have the property. */
  isSocketReserved(socket: object): boolean {
    return "fd" in socket && typeof socket.fd === "number" && this.isReserved(socket.fd);
  }

  /** To be called periodically. */
  check(): DescriptorState {
    if (this.#limit === Number.POSITIVE_INFINITY) return "enough";
    const lowest = this.#lowestFree();
    if (lowest === undefined) {
      this.#setLow("exhausted");
      return "exhausted";
    }
    if (this.isReserved(lowest)) return "low";
    if (!this.#isLow) return "enough";
    // One reserve more, so that a number that goes up and down at the bound is one incident.
    if (!this.#areFree(this.#reserve + usualReserve(this.#limit))) return "low";
    this.#isLow = false;
    this.#onChange("enough", this.#limit);
    return "enough";
  }

  #setLow(state: DescriptorState): void {
    if (this.#isLow) return;
    this.#isLow = true;
    this.#onChange(state, this.#limit);
  }
}

const usualReserve = (limit: number) => Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, Math.floor(limit / 16)));

function openOne(): number | undefined {
  try {
    const descriptor = openSync("/dev/null", "r");
    closeSync(descriptor);
    return descriptor;
  } catch {
    return undefined;
  }
}

/** At most a few hundred, which takes less than a millisecond. */
function canOpen(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync("/dev/null", "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Without /proc the limit is not known, and not enforced. */
function softLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
