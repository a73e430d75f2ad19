/** Names of entities and types for display: short, the same in every view, and never empty. */
import type { Cable } from "../../model/cable.ts";
import type { Device, Host } from "../../model/entity.ts";
import { deviceKey } from "../../model/ids.ts";
import type { PageNetwork } from "./page-network.ts";
import type { EntityRef } from "./view-state.ts";

const nameAnnotation = (annotations: Readonly<Record<string, string>> | undefined): string | undefined =>
  annotations?.name?.trim() || undefined;

export const deviceName = (device: Device): string => nameAnnotation(device.annotations) ?? device.id;
export const hostName = (host: Host): string =>
  nameAnnotation(host.annotations) ?? host.ipAddresses[0] ?? host.mac;

export function deviceNameById(network: PageNetwork, id: string): string {
  const device = network.devices.get(id);
  return device ? deviceName(device) : id;
}

/** The device that has the id as an alias, as the service resolves it. Undefined when several devices have it. */
export function deviceWithAlias(network: PageNetwork | undefined, id: string): Device | undefined {
  const key = deviceKey(id);
  const found = [...(network?.devices.values() ?? [])].filter((device) =>
    device.aliases?.some((alias) => deviceKey(alias) === key),
  );
  return found.length === 1 ? found[0] : undefined;
}

export function cableName(network: PageNetwork, { from, to }: Pick<Cable, "from" | "to">): string {
  const end = ({ device, port }: Cable["from"]) => `${deviceNameById(network, device)}/${port}`;
  return `${end(from)} – ${end(to)}`;
}

export function entityName(network: PageNetwork | undefined, { kind, id }: EntityRef): string {
  if (!network) return id;
  if (kind === "devices") return deviceNameById(network, id);
  const host = kind === "hosts" ? network.hosts.get(id) : undefined;
  const link = kind === "links" ? network.links.get(id) : undefined;
  return host ? hostName(host) : link ? cableName(network, { from: link.src, to: link.dst }) : id;
}

const ABBREVIATIONS = ["OLT", "ONU", "OTN", "IPS", "IDS"];

/** Formats a type for display: `FIBER_SWITCH` becomes `Fiber switch`. */
export function formatType(type: string): string {
  if (ABBREVIATIONS.includes(type)) return type;
  const words = type.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const NOUNS = { devices: "device", links: "cable", hosts: "host", ports: "port" } as const;

export const formatCount = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
