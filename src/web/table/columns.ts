/** The columns of each table: what they show, and by which field the service sorts them. */
import { type Device, type Host, hasConflict, type Link } from "../../model/entity.ts";
import { formatShortTime } from "../format-time.ts";
import { deviceName, deviceNameById, formatType, hostName } from "../names.ts";
import type { Network, NetworkEntity } from "../network.ts";
import type { TableView } from "../state.ts";

export interface Column<T> {
  readonly title: string;
  /** Share of the width. */
  readonly width: number;
  readonly sort?: string;
  readonly tone?: (value: T) => "good" | "bad" | "doubt" | "";
  text(value: T, network: Network | undefined): string;
}

const deviceColumns: readonly Column<Device>[] = [
  { title: "Name", width: 2, sort: "annotations.name", text: deviceName },
  { title: "Id", width: 2.4, sort: "id", text: (device) => device.id },
  { title: "Type", width: 1, sort: "type", text: (device) => formatType(device.type) },
  {
    title: "State",
    width: 0.9,
    sort: "available",
    text: (device) => (device.available ? (hasConflict(device) ? "conflict" : "up") : "down"),
    tone: (device) => (device.available ? (hasConflict(device) ? "doubt" : "") : "bad"),
  },
  { title: "Address", width: 1.3, text: (device) => device.annotations.managementAddress ?? "" },
  { title: "Maker", width: 1.4, sort: "mfr", text: (device) => device.mfr },
  { title: "Hardware", width: 1.6, sort: "hw", text: (device) => device.hw },
  { title: "Software", width: 1.4, sort: "sw", text: (device) => device.sw },
  {
    title: "Hosts",
    width: 0.7,
    text: (device, network) => (network?.hostsLoaded ? String(network.hostCount(device.id)) : ""),
  },
  {
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (device) => formatShortTime(Date.parse(device.lastChanged)),
  },
];

const at = (network: Network | undefined, device: string) =>
  network ? deviceNameById(network, device) : device;

const linkColumns: readonly Column<Link>[] = [
  { title: "From", width: 2, sort: "src.device", text: (link, network) => at(network, link.src.device) },
  { title: "Port", width: 0.6, text: (link) => link.src.port },
  { title: "To", width: 2, sort: "dst.device", text: (link, network) => at(network, link.dst.device) },
  { title: "Port", width: 0.6, text: (link) => link.dst.port },
  { title: "Type", width: 1, sort: "type", text: (link) => formatType(link.type) },
  {
    title: "State",
    width: 0.9,
    sort: "state",
    text: (link) => (link.state === "ACTIVE" ? "active" : "inactive"),
    tone: (link) => (link.state === "ACTIVE" ? "" : "bad"),
  },
  {
    title: "Other direction",
    width: 1.1,
    sort: "bidirectional",
    text: (link) => (link.bidirectional ? "known" : "not known"),
    tone: (link) => (link.bidirectional ? "" : "doubt"),
  },
  {
    title: "Verified",
    width: 0.9,
    sort: "verified",
    text: (link) => (link.verified ? "yes" : "no"),
    tone: (link) => (link.verified ? "" : "doubt"),
  },
  {
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (link) => formatShortTime(Date.parse(link.lastChanged)),
  },
];

const hostColumns: readonly Column<Host>[] = [
  { title: "Name", width: 1.6, sort: "annotations.name", text: hostName },
  { title: "Addresses", width: 2.2, text: (host) => host.ipAddresses.join(", ") },
  { title: "MAC", width: 1.5, sort: "mac", text: (host) => host.mac },
  { title: "VLAN", width: 0.6, sort: "vlan", text: (host) => (host.vlan === "None" ? "" : host.vlan) },
  { title: "Device", width: 1.6, text: (host, network) => at(network, host.location.elementId) },
  { title: "Port", width: 0.6, text: (host) => host.location.port },
  {
    title: "State",
    width: 0.9,
    text: (host) => (hasConflict(host) ? "conflict" : host.suspended ? "suspended" : ""),
    tone: (host) => (hasConflict(host) ? "doubt" : ""),
  },
  {
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (host) => formatShortTime(Date.parse(host.lastChanged)),
  },
];

export interface Cell {
  readonly text: string;
  readonly tone: string;
}

const cells = <T>(columns: readonly Column<T>[], value: T, network: Network | undefined): Cell[] =>
  columns.map(({ text, tone }) => ({ text: text(value, network), tone: tone?.(value) ?? "" }));

export function cellsOf(entry: NetworkEntity, network: Network | undefined): Cell[] {
  switch (entry.resource) {
    case "devices":
      return cells(deviceColumns, entry.value, network);
    case "links":
      return cells(linkColumns, entry.value, network);
    case "hosts":
      return cells(hostColumns, entry.value, network);
  }
}

export type Heading = Pick<Column<never>, "title" | "width" | "sort">;

export const COLUMNS: Readonly<Record<TableView, readonly Heading[]>> = {
  devices: deviceColumns,
  links: linkColumns,
  hosts: hostColumns,
};

/** What the filter box suggests. */
export const EXAMPLES: Readonly<Record<TableView, string>> = {
  devices: "available=false type=SWITCH,ROUTER mfr=Nokia",
  links: "state=INACTIVE device=of:0000000000000001",
  hosts: "ip=10.0.0.0/24 vlan=10",
};
