/**
 * The MACs of switch ports. Such a MAC is not a host, but a switch can report any MAC. So the MACs of a switch count only for
 * announcements that the same switch reports; those of a switch on the allow list count everywhere. They are removed with
 * their port.
 */
const EVERYWHERE = "";

export class PortMacs {
  /** How many ports have the MAC, by `SWITCH MAC`. */
  readonly #counts = new Map<string, number>();

  add(device: string, isTrusted: boolean, mac: string): void {
    this.#change(device, mac, 1);
    if (isTrusted) this.#change(EVERYWHERE, mac, 1);
  }

  remove(device: string, isTrusted: boolean, mac: string): void {
    this.#change(device, mac, -1);
    if (isTrusted) this.#change(EVERYWHERE, mac, -1);
  }

  /** Whether an announcement with this MAC that the device reports is of a switch port. */
  has(device: string, mac: string): boolean {
    return this.#counts.has(`${device} ${mac}`) || this.#counts.has(`${EVERYWHERE} ${mac}`);
  }

  #change(device: string, mac: string, by: number): void {
    const key = `${device} ${mac}`;
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
