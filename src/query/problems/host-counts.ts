/** The number of hosts of each device, by their first location. */
import type { Steps } from "../../lib/steps.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";

const HOSTS_PER_STEP = 100;

export class HostCounts {
  readonly #counts = new Map<string, number>();

  /** An arrow function, so that it can be passed on. */
  readonly at = (device: string): number => this.#counts.get(device) ?? 0;

  /** A host that is added, moves or is removed. */
  replace(from: string | undefined, to: string | undefined): void {
    if (from === to) return;
    this.#add(from, -1);
    this.#add(to, 1);
  }

  #add(device: string | undefined, change: number): void {
    if (device === undefined) return;
    const count = this.at(device) + change;
    if (count === 0) this.#counts.delete(device);
    else this.#counts.set(device, count);
  }
}

export function* countHosts(state: NetworkState): Steps<HostCounts> {
  const counts = new HostCounts();
  let left = HOSTS_PER_STEP;
  for (const page of yield* state.pages("hosts")) {
    for (let i = 0; i < page.length; i++) {
      counts.replace(undefined, parseStored("hosts", page.value(i)).location.elementId);
      if (--left > 0) continue;
      left = HOSTS_PER_STEP;
      yield;
    }
  }
  return counts;
}
