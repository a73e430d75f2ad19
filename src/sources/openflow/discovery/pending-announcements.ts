/**
 * Announcements from ports that are not classified yet. They are processed when the port turns out to be an edge: a quiet
 * host often announces itself only when its link comes up. Bounded per port, per switch and in total.
 */
import type { Announcement } from "../codec/announcement.ts";
import type { VlanTags } from "../codec/ethernet.ts";
import type { PortRef } from "../codec/port-ref.ts";

const MAX_PER_PORT = 64;
const MAX_PER_SWITCH = 4096;
const MAX_TOTAL = 65_536;

export interface PendingAnnouncement {
  readonly tags: VlanTags;
  readonly announcement: Announcement;
}

interface SwitchAnnouncements {
  readonly byPort: Map<number, PendingAnnouncement[]>;
  count: number;
}

export class PendingAnnouncements {
  readonly #bySwitch = new Map<string, SwitchAnnouncements>();
  #total = 0;

  /** Returns false when there is no room. */
  add({ device, port }: PortRef, pending: PendingAnnouncement): boolean {
    const ofSwitch = this.#bySwitch.get(device) ?? { byPort: new Map(), count: 0 };
    const atPort = ofSwitch.byPort.get(port) ?? [];
    const isFull =
      atPort.length >= MAX_PER_PORT || ofSwitch.count >= MAX_PER_SWITCH || this.#total >= MAX_TOTAL;
    if (isFull) return false;
    atPort.push(pending);
    ofSwitch.byPort.set(port, atPort);
    ofSwitch.count++;
    this.#total++;
    this.#bySwitch.set(device, ofSwitch);
    return true;
  }

  /** Removes and returns the announcements of a port. */
  takeAt({ device, port }: PortRef): readonly PendingAnnouncement[] {
    const ofSwitch = this.#bySwitch.get(device);
    const atPort = ofSwitch?.byPort.get(port) ?? [];
    if (!ofSwitch) return atPort;
    ofSwitch.byPort.delete(port);
    ofSwitch.count -= atPort.length;
    this.#total -= atPort.length;
    if (ofSwitch.count === 0) this.#bySwitch.delete(device);
    return atPort;
  }

  /** Removes the announcements of all ports of a switch. */
  discard(device: string): void {
    this.#total -= this.#bySwitch.get(device)?.count ?? 0;
    this.#bySwitch.delete(device);
  }
}
