/**
 * Detects that the process runs out of file descriptors. The runtime reports no error when `accept` fails for lack of a
 * descriptor: it retries at once, without end, at full CPU. So a server must act before that happens.
 *
 * The kernel assigns the lowest free descriptor. So a high number means that few are left. A low number does not mean that
 * enough are left, because one closed listener frees one low descriptor. Therefore the end of a shortage is detected by
 * opening as many descriptors as should be left.
 */
import { closeSync, openSync, readFileSync } from "node:fs";

/** "low": only the reserve for files and other listeners is left. "exhausted": no descriptor is left. */
export type DescriptorState = "enough" | "low" | "exhausted";

export interface DescriptorMonitorOptions {
  /** Called once when descriptors run low and once when there are enough again. */
  readonly onChange: (state: DescriptorState, limit: number) => void;
  /** Multiple of the usual reserve to keep, so that a less important server leaves some to the others. Default 1. */
  readonly reserves?: number;
  readonly limit?: number;
  /** Returns the lowest free descriptor, or undefined when there is none. */
  readonly lowestFree?: () => number | undefined;
  /** Returns whether `count` descriptors are free. */
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

  /** Number of connections to close at once when no descriptor is left. */
  get reserve(): number {
    return this.#reserve;
  }

  /** Whether a descriptor with this number belongs to the reserve. */
  isReserved(descriptor: number): boolean {
    const isReserved = descriptor >= this.#limit - this.#reserve;
    if (isReserved) this.#setLow("low");
    return isReserved;
  }

  /** Whether the descriptor of a socket belongs to the reserve. The types of the runtime do not declare `fd`. */
  isSocketReserved(socket: object): boolean {
    return "fd" in socket && typeof socket.fd === "number" && this.isReserved(socket.fd);
  }

  /** The caller calls this periodically. */
  check(): DescriptorState {
    if (this.#limit === Number.POSITIVE_INFINITY) return "enough";
    const lowest = this.#lowestFree();
    if (lowest === undefined) {
      this.#setLow("exhausted");
      return "exhausted";
    }
    if (this.isReserved(lowest)) return "low";
    if (!this.#isLow) return "enough";
    // One usual reserve more is required, so that a number that oscillates around the bound is one incident.
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

/** Opens at most a few hundred descriptors, which takes less than a millisecond. */
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

/** The limit is unknown without /proc, and is not enforced then. */
function softLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
