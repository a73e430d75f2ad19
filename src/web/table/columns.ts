/** The columns of each table: title, width, text of a cell, and the field that the service sorts by. */
import { hasConflict } from "../../model/conflict.ts";
import type { Device, Host, Link } from "../../model/entity.ts";
import { formatShortTime } from "../format-time.ts";
import { deviceName, deviceNameById, formatType, hostName } from "../names.ts";
import type { Network, NetworkEntity } from "../network.ts";
import type { TableView } from "../state.ts";

export interface Column<T> {
  readonly id: string;
  readonly title: string;
  /** Share of the width. */
  readonly width: number;
  /** The field that the service sorts by. */
  readonly sort?: string;
  readonly tone?: (value: T) => "good" | "bad" | "doubt" | "";
  text(value: T, network: Network | undefined): string;
}

const deviceColumns: readonly Column<Device>[] = [
  { id: "name", title: "Name", width: 2, sort: "annotations.name", text: deviceName },
  { id: "id", title: "Id", width: 2.4, sort: "id", text: (device) => device.id },
  { id: "type", title: "Type", width: 1, sort: "type", text: (device) => formatType(device.type) },
  {
    id: "state",
    title: "State",
    width: 0.9,
    sort: "available",
    text: (device) => (device.available ? (hasConflict(device) ? "conflict" : "up") : "down"),
    tone: (device) => (device.available ? (hasConflict(device) ? "doubt" : "") : "bad"),
  },
  {
    id: "address",
    title: "Address",
    width: 1.3,
    text: (device) => device.annotations.managementAddress ?? "",
  },
  { id: "mfr", title: "Maker", width: 1.4, sort: "mfr", text: (device) => device.mfr },
  { id: "hw", title: "Hardware", width: 1.6, sort: "hw", text: (device) => device.hw },
  { id: "sw", title: "Software", width: 1.4, sort: "sw", text: (device) => device.sw },
  {
    id: "hosts",
    title: "Hosts",
    width: 0.7,
    text: (device, network) => (network?.hostsLoaded ? String(network.hostCount(device.id)) : ""),
  },
  {
    id: "changed",
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (device) => formatShortTime(Date.parse(device.lastChanged)),
  },
];

const nameOf = (network: Network | undefined, device: string) =>
  network ? deviceNameById(network, device) : device;

const linkColumns: readonly Column<Link>[] = [
  {
    id: "from",
    title: "From",
    width: 2,
    sort: "src.device",
    text: (link, network) => nameOf(network, link.src.device),
  },
  { id: "fromPort", title: "Port", width: 0.6, text: (link) => link.src.port },
  {
    id: "to",
    title: "To",
    width: 2,
    sort: "dst.device",
    text: (link, network) => nameOf(network, link.dst.device),
  },
  { id: "toPort", title: "Port", width: 0.6, text: (link) => link.dst.port },
  { id: "type", title: "Type", width: 1, sort: "type", text: (link) => formatType(link.type) },
  {
    id: "state",
    title: "State",
    width: 0.9,
    sort: "state",
    text: (link) => (link.state === "ACTIVE" ? "active" : "inactive"),
    tone: (link) => (link.state === "ACTIVE" ? "" : "bad"),
  },
  {
    id: "reverse",
    title: "Other direction",
    width: 1.1,
    sort: "bidirectional",
    text: (link) => (link.bidirectional ? "known" : "not known"),
    tone: (link) => (link.bidirectional ? "" : "doubt"),
  },
  {
    id: "verified",
    title: "Verified",
    width: 0.9,
    sort: "verified",
    text: (link) => (link.verified ? "yes" : "no"),
    tone: (link) => (link.verified ? "" : "doubt"),
  },
  {
    id: "changed",
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (link) => formatShortTime(Date.parse(link.lastChanged)),
  },
];

const hostColumns: readonly Column<Host>[] = [
  { id: "name", title: "Name", width: 1.6, sort: "annotations.name", text: hostName },
  { id: "addresses", title: "Addresses", width: 2.2, text: (host) => host.ipAddresses.join(", ") },
  { id: "mac", title: "MAC", width: 1.5, sort: "mac", text: (host) => host.mac },
  {
    id: "vlan",
    title: "VLAN",
    width: 0.6,
    sort: "vlan",
    text: (host) => (host.vlan === "None" ? "" : host.vlan),
  },
  {
    id: "device",
    title: "Device",
    width: 1.6,
    text: (host, network) => nameOf(network, host.location.elementId),
  },
  { id: "port", title: "Port", width: 0.6, text: (host) => host.location.port },
  {
    id: "state",
    title: "State",
    width: 0.9,
    text: (host) => (hasConflict(host) ? "conflict" : host.suspended ? "suspended" : ""),
    tone: (host) => (hasConflict(host) ? "doubt" : ""),
  },
  {
    id: "changed",
    title: "Changed",
    width: 1.2,
    sort: "lastChanged",
    text: (host) => formatShortTime(Date.parse(host.lastChanged)),
  },
];

export interface Cell {
  readonly id: string;
  readonly text: string;
  readonly tone: string;
  readonly width: number;
}

const cells = <T>(columns: readonly Column<T>[], value: T, network: Network | undefined): Cell[] =>
  columns.map(({ id, width, text, tone }) => ({
    id,
    width,
    text: text(value, network),
    tone: tone?.(value) ?? "",
  }));

export function cellsOf(entity: NetworkEntity, network: Network | undefined): Cell[] {
  switch (entity.resource) {
    case "devices":
      return cells(deviceColumns, entity.value, network);
    case "links":
      return cells(linkColumns, entity.value, network);
    case "hosts":
      return cells(hostColumns, entity.value, network);
  }
}

export type Heading = Pick<Column<never>, "id" | "title" | "width" | "sort">;

export const COLUMNS: Readonly<Record<TableView, readonly Heading[]>> = {
  devices: deviceColumns,
  links: linkColumns,
  hosts: hostColumns,
};

/** Filters that the empty filter box shows as examples. */
export const EXAMPLES: Readonly<Record<TableView, string>> = {
  devices: "available=false type=SWITCH,ROUTER mfr=Nokia",
  links: "state=INACTIVE device=of:0000000000000001",
  hosts: "ip=10.0.0.0/24 vlan=10",
};
