/**
 * Notices that the process runs out of file descriptors. The runtime reports no error when `accept` fails for lack of a
 * descriptor: it tries again at once, without end, at full CPU. So a server must not come that far.
 *
 * The kernel assigns the lowest free descriptor, so the number of a new one tells how many are left.
 */
import { closeSync, openSync, readFileSync } from "node:fs";

/** "low": a reserve for files and other listeners is left. "exhausted": nothing is left. */
export type DescriptorState = "enough" | "low" | "exhausted";

export interface DescriptorMonitorOptions {
  /** Called once when descriptors run low and once when there are enough again. */
  readonly onChange: (state: DescriptorState, limit: number) => void;
  readonly limit?: number;
  /** Returns the lowest free descriptor, or undefined when there is none. */
  readonly lowestFree?: () => number | undefined;
}

const MIN_RESERVE = 16;
const MAX_RESERVE = 128;

export class DescriptorMonitor {
  readonly #onChange: DescriptorMonitorOptions["onChange"];
  readonly #lowestFree: () => number | undefined;
  readonly #limit: number;
  readonly #reserve: number;
  #isLow = false;

  constructor({ onChange, limit = softLimit(), lowestFree = probe }: DescriptorMonitorOptions) {
    this.#onChange = onChange;
    this.#limit = limit;
    this.#lowestFree = lowestFree;
    this.#reserve = Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, Math.floor(limit / 16)));
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

  /** To be called periodically. */
  check(): DescriptorState {
    if (this.#limit === Number.POSITIVE_INFINITY) return "enough";
    const lowest = this.#lowestFree();
    if (lowest === undefined) {
      this.#setLow("exhausted");
      return "exhausted";
    }
    if (this.isReserved(lowest)) return "low";
    // Twice the reserve, so that a number that goes up and down at the bound is one incident.
    if (this.#isLow && lowest < this.#limit - 2 * this.#reserve) {
      this.#isLow = false;
      this.#onChange("enough", this.#limit);
    }
    return "enough";
  }

  #setLow(state: DescriptorState): void {
    if (this.#isLow) return;
    this.#isLow = true;
    this.#onChange(state, this.#limit);
  }
}

function probe(): number | undefined {
  try {
    const descriptor = openSync("/dev/null", "r");
    closeSync(descriptor);
    return descriptor;
  } catch {
    return undefined;
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
