/** Emulated hosts: they announce themselves by ARP and reply to ARP requests for their address. */
import { readAnnouncement } from "../../../src/sources/openflow/codec/announcement.ts";
import {
  BROADCAST,
  ETHER,
  ipv4Bytes,
  readFrame,
  startFrame,
} from "../../../src/sources/openflow/codec/ethernet.ts";
import type { EmulatedNetwork, EmulatedSwitch, Station } from "./emulator.ts";

export function arpRequest(mac: string, ip: string, target: string, vlan?: number): Uint8Array {
  const writer = startFrame(BROADCAST, mac, ETHER.arp, vlan === undefined ? {} : { vlan });
  writer.u16(1).u16(ETHER.ipv4).u8(6).u8(4).u16(1);
  return writer.mac(mac).bytes(ipv4Bytes(ip)).zeros(6).bytes(ipv4Bytes(target)).done();
}

function arpReply(mac: string, ip: string, to: string): Uint8Array {
  const writer = startFrame(to, mac, ETHER.arp).u16(1).u16(ETHER.ipv4).u8(6).u8(4).u16(2);
  return writer.mac(mac).bytes(ipv4Bytes(ip)).mac(to).bytes(ipv4Bytes("0.0.0.0")).done();
}

export class EmulatedHost implements Station {
  readonly mac: string;
  readonly ip: string;
  /** Whether it replies to ARP requests. */
  responds = true;
  /** Broadcasts received from other hosts, by sender. */
  readonly broadcastsReceived = new Map<string, number>();
  arpRequestsReceived = 0;
  readonly #net: EmulatedNetwork;
  #at: { readonly sw: EmulatedSwitch; readonly port: number };

  constructor(net: EmulatedNetwork, sw: EmulatedSwitch, port: number, mac: string, ip: string) {
    this.#net = net;
    this.#at = { sw, port };
    this.mac = mac;
    this.ip = ip;
    net.plug(sw, port, this);
  }

  /** Attaches the host to another port. The state of the old port does not change. */
  moveTo(sw: EmulatedSwitch, port: number): void {
    this.#net.plug(this.#at.sw, this.#at.port, undefined);
    this.#at = { sw, port };
    this.#net.plug(sw, port, this);
  }

  send(frame: Uint8Array): void {
    const { sw, port } = this.#at;
    this.#net.deliver(() => sw.receiveFrame(port, frame));
  }

  announce(vlan?: number): void {
    this.send(arpRequest(this.mac, this.ip, this.ip, vlan));
  }

  receive(bytes: Uint8Array): void {
    const frame = readFrame(bytes);
    // ARP whose sender differs from the Ethernet source is ignored, as by a real network stack.
    if (frame.type !== ETHER.arp || frame.payload.subarray(8, 14).toHex() !== bytes.subarray(6, 12).toHex())
      return;
    const announcement = readAnnouncement(frame);
    const target = frame.payload.subarray(24, 28);
    if (target.toHex() === ipv4Bytes(this.ip).toHex() && announcement && announcement.mac !== this.mac) {
      this.arpRequestsReceived++;
      if (this.responds) this.send(arpReply(this.mac, this.ip, announcement.mac));
    }
    if (frame.dst === BROADCAST && announcement)
      this.broadcastsReceived.set(announcement.mac, (this.broadcastsReceived.get(announcement.mac) ?? 0) + 1);
  }
}

export const macOf = (number: number): string =>
  `00:00:00:00:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 0xff).toString(16).padStart(2, "0")}`.toUpperCase();

/** Adds a host on port 1 of every switch. Its address is 10.0.H.L, where H and L are the bytes of the datapath id. */
export function addHostToEachSwitch(net: EmulatedNetwork): EmulatedHost[] {
  return [...net.switches.values()].map(
    (sw) => new EmulatedHost(net, sw, 1, macOf(sw.dpid), `10.0.${sw.dpid >> 8}.${sw.dpid & 0xff}`),
  );
}
