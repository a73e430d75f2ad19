/** What things are called on the page: short, the same everywhere, and never empty. */

import type { Cable } from "../model/cable.ts";
import type { Device, Host } from "../model/entity.ts";
import type { Network } from "./network.ts";

const named = (annotations: Readonly<Record<string, string>> | undefined): string | undefined =>
  annotations?.name?.trim() || undefined;

export const deviceName = (device: Device): string => named(device.annotations) ?? device.id;
export const hostName = (host: Host): string => named(host.annotations) ?? host.ipAddresses[0] ?? host.mac;

export function deviceNameById(network: Network, id: string): string {
  const device = network.devices.get(id);
  return device ? deviceName(device) : id;
}

export function cableName(network: Network, { from, to }: Pick<Cable, "from" | "to">): string {
  return `${deviceNameById(network, from.device)}/${from.port} – ${deviceNameById(network, to.device)}/${to.port}`;
}

const WORDS: Readonly<Record<string, string>> = {
  OLT: "OLT",
  ONU: "ONU",
  OTN: "OTN",
  IPS: "IPS",
  IDS: "IDS",
};

/** `FIBER_SWITCH` as `Fiber switch`. */
export function formatType(type: string): string {
  const words = type.toLowerCase().replaceAll("_", " ");
  return WORDS[type] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export const formatCount = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
