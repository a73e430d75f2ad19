/** Records of what was received on ports. Their number is limited per port, per switch and in total. */
import { Multimap } from "../../../lib/multimap.ts";
import { Quota } from "../../../lib/quota.ts";
import type { PortRef } from "../codec/port.ts";

interface PortRecordLimits {
  readonly perPort: number;
  /** The limit of one switch, so that no switch uses up the total. */
  readonly perSwitch: number;
  readonly total: number;
}

export class PortRecords<Item> {
  readonly #maxPerPort: number;
  readonly #ofSwitches: Quota;
  readonly #byPort = new Multimap<string, Item>();

  constructor({ perPort, perSwitch, total }: PortRecordLimits) {
    this.#maxPerPort = perPort;
    this.#ofSwitches = new Quota({ perKey: perSwitch, total });
  }

  at(ref: PortRef): ReadonlySet<Item> {
    return this.#byPort.of(ref.key);
  }

  /** Returns false when a limit is reached. The record is then not stored. */
  add(ref: PortRef, item: Item): boolean {
    if (this.at(ref).size >= this.#maxPerPort || this.#ofSwitches.exceededBy(ref.device) !== undefined)
      return false;
    this.#byPort.add(ref.key, item);
    this.#ofSwitches.add(ref.device);
    return true;
  }

  remove(ref: PortRef, item: Item): void {
    if (this.#byPort.remove(ref.key, item)) this.#ofSwitches.remove(ref.device);
  }

  /** Removes and returns the records of a port. */
  takeAt(ref: PortRef): ReadonlySet<Item> {
    const items = this.at(ref);
    this.#byPort.delete(ref.key);
    this.#ofSwitches.remove(ref.device, items.size);
    return items;
  }
}
