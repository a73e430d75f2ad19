/**
 * The cables between two devices as one bundle: the map draws one line for it, with the number of its cables. Changes of
 * the network are found by identity: a cable that is the same object as before has not changed.
 */
import type { Cable } from "../../model/cable.ts";
import type { PageNetwork } from "../data/page-network.ts";

export interface Bundle {
  /** The ids of the two devices; `a` is the lower one. */
  readonly a: string;
  readonly b: string;
  /** The cables in order of id; at least one. */
  readonly cables: readonly Cable[];
}

/** The key of a pair of devices, which is also the key of its route in the layout. */
export const pairName = (p: string, q: string): string => (p < q ? `${p}|${q}` : `${q}|${p}`);
const keyOf = ({ from, to }: Cable): string => pairName(from.device, to.device);

export class Bundles {
  readonly byKey = new Map<string, Bundle>();
  /** The cables as they are in `byKey`. */
  readonly #cables = new Map<string, Cable>();

  /** Returns the keys of the bundles that changed. Yields after every cable, so that the caller can pause. */
  *update(network: PageNetwork): Generator<void, Set<string>> {
    const changed = new Set<string>();
    let seen = 0;
    for (const cable of network.cables.values()) {
      yield;
      if (cable.from.device === cable.to.device) continue;
      seen++;
      const known = this.#cables.get(cable.id);
      if (known !== cable) this.#replace(known, cable, changed);
    }
    if (this.#cables.size !== seen)
      for (const known of this.#cables.values()) {
        yield;
        if (!network.cables.has(known.id)) this.#replace(known, undefined, changed);
      }
    return changed;
  }

  #replace(previous: Cable | undefined, next: Cable | undefined, changed: Set<string>): void {
    const cable = next ?? previous;
    if (!cable) return;
    const key = keyOf(cable);
    const others = (this.byKey.get(key)?.cables ?? []).filter(({ id }) => id !== cable.id);
    const cables = next ? [...others, next].sort((p, q) => (p.id < q.id ? -1 : 1)) : others;
    if (next) this.#cables.set(next.id, next);
    else this.#cables.delete(cable.id);
    const [a, b] = [cable.from.device, cable.to.device].sort();
    if (cables.length === 0 || a === undefined || b === undefined) this.byKey.delete(key);
    else this.byKey.set(key, { a, b, cables });
    changed.add(key);
  }
}
