/** Emulated hosts: they announce themselves by ARP and answer when asked for their address. */
import { readAnnouncement } from "../../../src/sources/openflow/codec/announcement.ts";
import {
  BROADCAST,
  ETHER,
  ipv4Bytes,
  readFrame,
  startFrame,
} from "../../../src/sources/openflow/codec/ethernet.ts";
import { hex } from "../../../src/sources/openflow/codec/wire.ts";
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
  /** Answers when asked; a host that was pulled out does not. */
  responds = true;
  /** Broadcasts of other hosts that came through, by sender. */
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

  /** Plugs itself in elsewhere; where it was stays as it is. */
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
    // A sender that contradicts itself is ignored, as a real stack would.
    if (frame.type !== ETHER.arp || hex(frame.payload.subarray(8, 14)) !== hex(bytes.subarray(6, 12))) return;
    const said = readAnnouncement(frame);
    const target = frame.payload.subarray(24, 28);
    if (hex(target) === hex(ipv4Bytes(this.ip)) && said && said.mac !== this.mac) {
      this.arpRequestsReceived++;
      if (this.responds) this.send(arpReply(this.mac, this.ip, said.mac));
    }
    if (frame.dst === BROADCAST && said)
      this.broadcastsReceived.set(said.mac, (this.broadcastsReceived.get(said.mac) ?? 0) + 1);
  }
}

export const macOf = (number: number): string =>
  `00:00:00:00:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 0xff).toString(16).padStart(2, "0")}`.toUpperCase();

/** A host on port 1 of every switch: 10.0.H.L, where H and L are the switch's number. */
export function addHostToEachSwitch(net: EmulatedNetwork): EmulatedHost[] {
  return [...net.switches.values()].map(
    (sw) => new EmulatedHost(net, sw, 1, macOf(sw.dpid), `10.0.${sw.dpid >> 8}.${sw.dpid & 0xff}`),
  );
}
