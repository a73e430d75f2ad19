/** One host as we know it: where it was heard, under which addresses, and when. Pure state and its claim. */
import type { HostClaim } from "../../model/claim.ts";
import { hostId } from "../../model/ids.ts";
import type { Tags } from "./codec/ethernet.ts";
import { type End, endKey } from "./link-table.ts";
import { portText } from "./port-ref.ts";

export interface Heard {
  heardAt: number;
  /** How often: tells an answer from what was heard in the same millisecond before the question. */
  times: number;
  /** When we last asked, if we did since. */
  askedAt: number;
}

export interface Place extends Heard {
  readonly end: End;
}

export const heardFirst = (now: number): Heard => ({ heardAt: now, times: 1, askedAt: 0 });

export function heardAgain(heard: Heard, now: number): void {
  heard.heardAt = now;
  heard.times++;
}

export class Host {
  readonly id: string;
  readonly mac: string;
  readonly tags: Tags;
  /** Newest first. More than one only while they contradict each other. */
  places: Place[] = [];
  readonly addresses = new Map<string, Heard>();
  /** The transaction of a DHCP exchange under way. */
  dhcpAsk: number | undefined;

  constructor(mac: string, tags: Tags) {
    this.mac = mac;
    this.tags = tags;
    this.id = hostId(mac, tags.vlan === undefined ? "None" : String(tags.vlan));
  }

  placeAt(end: End): Place | undefined {
    const key = endKey(end);
    return this.places.find((place) => endKey(place.end) === key);
  }

  claim(contested: readonly string[]): HostClaim {
    const conflicts = contested.map((ip) => `${ip} is in use by another host too`);
    if (this.places.length > 1) {
      conflicts.unshift(`answers at ${this.places.map(({ end }) => endKey(end)).join(" and ")}`);
    }
    const { vlan, innerVlan, tpid } = this.tags;
    return {
      mac: this.mac,
      vlan: vlan ?? "None",
      ...(innerVlan !== undefined && { innerVlan }),
      ...(tpid !== undefined && { outerTpid: `0x${tpid.toString(16).padStart(4, "0")}` }),
      ipAddresses: [...this.addresses.keys()],
      locations: this.places.map(({ end }) => ({ elementId: end.device, port: portText(end.port) })),
      ...(conflicts.length > 0 && { annotations: { conflict: conflicts.join("; ") } }),
    };
  }
}
