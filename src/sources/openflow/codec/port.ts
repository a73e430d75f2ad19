/** Ports: their reserved numbers, their description `ofp_port` (OpenFlow 1.3.5, §7.2.1), and their form in the model. */

import { type ConnectPoint, portId } from "../../../model/ids.ts";
import { type ByteReader, type ByteWriter, paddedText } from "./wire.ts";

/** The reserved port numbers (`ofp_port_no`, §7.2.1). */
export const PORT = {
  max: 0xffffff00,
  normal: 0xfffffffa,
  controller: 0xfffffffd,
  local: 0xfffffffe,
} as const;

export interface PortDescription {
  readonly number: number;
  readonly mac: string;
  readonly name: string;
  /** `OFPPC_*` bits. */
  readonly config: number;
  /** `OFPPS_*` bits. */
  readonly state: number;
  /** `OFPPF_*` bits of the features in use. */
  readonly current: number;
  readonly currentKbps: number;
  readonly maxKbps: number;
}

export const PORT_BYTES = 64;
export const PORT_CONFIG = { down: 1 << 0, noForward: 1 << 5 } as const;
export const PORT_STATE = { linkDown: 1 << 0, live: 1 << 2 } as const;
const FEATURE_FIBER = 1 << 12;
/** The speed for each `OFPPF_*` bit in Mb/s, used for switches that leave the speed fields at zero. */
const SPEEDS = [10, 10, 100, 100, 1000, 1000, 10_000, 40_000, 100_000, 1_000_000];

export const isUp = (port: PortDescription): boolean =>
  (port.config & PORT_CONFIG.down) === 0 && (port.state & PORT_STATE.linkDown) === 0;

export const isFiber = (port: PortDescription): boolean => (port.current & FEATURE_FIBER) !== 0;

export function speedMbps(port: PortDescription): number {
  if (port.currentKbps > 0) return port.currentKbps / 1000;
  for (let bit = SPEEDS.length - 1; bit >= 0; bit--) {
    if ((port.current & (1 << bit)) !== 0) return SPEEDS[bit] ?? 0;
  }
  return 0;
}

export function readPort(reader: ByteReader): PortDescription {
  const number = reader.u32();
  reader.skip(4);
  const mac = reader.mac();
  reader.skip(2);
  const name = paddedText(reader.bytes(16));
  const config = reader.u32();
  const state = reader.u32();
  const current = reader.u32();
  reader.skip(12); // Advertised, supported, peer.
  return { number, mac, name, config, state, current, currentKbps: reader.u32(), maxKbps: reader.u32() };
}

export function writePort(writer: ByteWriter, port: PortDescription): void {
  writer.u32(port.number).zeros(4).mac(port.mac).zeros(2).padded(port.name, 16);
  writer.u32(port.config).u32(port.state).u32(port.current).zeros(12);
  writer.u32(port.currentKbps).u32(port.maxKbps);
}

/** A port of a datapath. It is like the model's `ConnectPoint`, but has the port number of the OpenFlow protocol. */
export interface PortRef {
  readonly device: string;
  readonly port: number;
  /** The port's id in the model, which is also the key of the port in maps. */
  readonly key: string;
}

export const portText = (port: number): string => (port === PORT.local ? "local" : String(port));

export const portRef = (device: string, port: number): PortRef => ({
  device,
  port,
  key: portId(device, portText(port)),
});

export const connectPoint = ({ device, port }: PortRef): ConnectPoint => ({ device, port: portText(port) });

export const isWiredPort = (port: number): boolean => port > 0 && port <= PORT.max;

/** Whether the number is that of a physical port or of the switch's local port. Other reserved numbers are not ports. */
export const isRealPort = (port: number): boolean => isWiredPort(port) || port === PORT.local;
