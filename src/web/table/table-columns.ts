/** The columns of each table: title, width, text of a cell, and the field that the service sorts by. */
import { type Cable, cableId, cableOf } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Device, Entities, Host, Link } from "../../model/entity.ts";
import { DRIFT_TITLES } from "../data/drift-list.ts";
import type { NetworkEntity, PageNetwork, Reachability } from "../data/page-network.ts";
import { deviceName, deviceNameById, formatType, hostName } from "../data/shown-names.ts";
import type { TableView } from "../data/view-state.ts";
import { formatShortTime } from "../elements/format-time.ts";

export interface Heading {
  readonly title: string;
  /** The width relative to the other columns. */
  readonly width: number;
  /** The field that the service sorts by. */
  readonly sort?: string;
}

/** The tone of a state, which is shown by a colour and by a sign before the text. */
type Tone = "good" | "bad" | "doubt" | "cut-off" | "";

interface Column<T> extends Heading {
  text(value: T, network: PageNetwork | undefined): string;
  tone?(value: T, network: PageNetwork | undefined): Tone;
}

const lastChanged: Column<Device | Link | Host> = {
  title: "Changed",
  width: 1.2,
  sort: "lastChanged",
  text: (entity) => formatShortTime(Date.parse(entity.lastChanged)),
};

const drift: Column<Device | Link | Host> = {
  title: "Plan",
  width: 1.3,
  text: ({ drift }) =>
    drift
      ? `${DRIFT_TITLES[drift.state].toLowerCase()} since ${formatShortTime(Date.parse(drift.since))}`
      : "",
  tone: ({ drift }) => (drift ? "doubt" : ""),
};

/** The state of an entity about which reports contradict each other. */
const CONTRADICTORY = "contradictory";

/** Whether the entity is only planned and so has no state. */
const isMissing = ({ drift }: Device | Link): boolean => drift?.state === "missing";

const STATE_TONES = {
  down: "bad",
  "cut off": "cut-off",
  contradictory: "doubt",
  up: "good",
  "": "",
} as const;

/** The states of a device, the worst first. */
function deviceState(
  device: Device,
  network: PageNetwork | undefined,
): (Reachability | typeof CONTRADICTORY)[] {
  if (isMissing(device)) return [];
  const state = network?.stateOf(device) ?? (device.available ? "up" : "down");
  if (!hasConflict(device) || state === "down") return [state];
  return state === "up" ? [CONTRADICTORY] : [state, CONTRADICTORY];
}

const deviceColumns: readonly Column<Device>[] = [
  { title: "Name", width: 2, sort: "annotations.name", text: deviceName },
  { title: "Id", width: 2.4, sort: "id", text: ({ id }) => id },
  { title: "Type", width: 1, sort: "type", text: ({ type }) => formatType(type) },
  {
    title: "State",
    width: 0.9,
    sort: "available",
    text: (device, network) => deviceState(device, network).join(", "),
    tone: (device, network) => STATE_TONES[deviceState(device, network)[0] ?? ""],
  },
  { title: "Address", width: 1.3, text: ({ annotations }) => annotations.managementAddress ?? "" },
  { title: "Maker", width: 1.4, sort: "mfr", text: ({ mfr }) => mfr },
  { title: "Hardware", width: 1.6, sort: "hw", text: ({ hw }) => hw },
  { title: "Software", width: 1.4, sort: "sw", text: ({ sw }) => sw },
  {
    title: "Hosts",
    width: 0.7,
    text: ({ id }, network) => (network ? String(network.hostCount(id)) : ""),
  },
  drift,
  lastChanged,
];

const nameOf = (network: PageNetwork | undefined, device: string) =>
  network ? deviceNameById(network, device) : device;

/** The cable of the row: both links, even if the filter matches only one of them. */
const cableOfRow = (link: Link, network: PageNetwork | undefined): Cable =>
  network?.cables.get(cableId(link)) ?? cableOf(link, undefined);

const isUp = ({ state }: Link): boolean => state === "ACTIVE";

/** The directions of a cable: from left to right in the row is `→`. */
function directionsText(link: Link, { links, oneWay }: Cable): string {
  if (!oneWay) return "both";
  if (links.length === 1) return "→ only";
  return `→ ${isUp(link) ? "up" : "down"}, ← ${isUp(link) ? "down" : "up"}`;
}

const linkColumns: readonly Column<Link>[] = [
  { title: "From", width: 2, sort: "src", text: ({ src }, network) => nameOf(network, src.device) },
  { title: "Port", width: 0.6, text: ({ src }) => src.port },
  { title: "To", width: 2, sort: "dst", text: ({ dst }, network) => nameOf(network, dst.device) },
  { title: "Port", width: 0.6, text: ({ dst }) => dst.port },
  { title: "Type", width: 1, sort: "type", text: ({ type }) => formatType(type) },
  {
    title: "State",
    width: 0.9,
    sort: "state",
    text(link, network) {
      const { active, conflict } = cableOfRow(link, network);
      return isMissing(link) ? "" : !active ? "down" : conflict ? CONTRADICTORY : "up";
    },
    tone(link, network) {
      const { active, conflict } = cableOfRow(link, network);
      return isMissing(link) ? "" : !active ? "bad" : conflict ? "doubt" : "good";
    },
  },
  {
    title: "Directions",
    width: 1.1,
    sort: "bidirectional",
    text: (link, network) => (isMissing(link) ? "" : directionsText(link, cableOfRow(link, network))),
    tone: (link, network) => (isMissing(link) || !cableOfRow(link, network).oneWay ? "" : "doubt"),
  },
  {
    title: "Verified",
    width: 0.9,
    sort: "verified",
    text: (link, network) => (cableOfRow(link, network).verified ? "yes" : "no"),
    tone: (link, network) => (cableOfRow(link, network).verified ? "" : "doubt"),
  },
  drift,
  lastChanged,
];

const hostColumns: readonly Column<Host>[] = [
  { title: "Name", width: 1.6, sort: "annotations.name", text: hostName },
  { title: "Addresses", width: 2.2, text: ({ ipAddresses }) => ipAddresses.join(", ") },
  { title: "MAC", width: 1.5, sort: "mac", text: ({ mac }) => mac },
  { title: "VLAN", width: 0.6, sort: "vlan", text: ({ vlan }) => (vlan === "None" ? "" : vlan) },
  {
    title: "Device",
    width: 1.6,
    sort: "location",
    text: ({ location }, network) => nameOf(network, location.elementId),
  },
  { title: "Port", width: 0.6, text: ({ location }) => location.port },
  {
    title: "State",
    width: 0.9,
    text: (host) => (hasConflict(host) ? CONTRADICTORY : host.suspended ? "suspended" : ""),
    tone: (host) => (hasConflict(host) ? "doubt" : ""),
  },
  drift,
  lastChanged,
];

export const COLUMNS: { readonly [K in TableView]: readonly Column<Entities[K]>[] } = {
  devices: deviceColumns,
  links: linkColumns,
  hosts: hostColumns,
};

export interface Cell {
  readonly text: string;
  readonly tone: string;
  readonly width: number;
}

export const cellsOf = <K extends TableView>(
  { resource, value }: NetworkEntity<K>,
  network: PageNetwork | undefined,
): Cell[] =>
  COLUMNS[resource].map(({ text, tone, width }) => ({
    text: text(value, network),
    tone: tone?.(value, network) ?? "",
    width,
  }));

/** Filters that the empty filter box shows as examples. */
export const EXAMPLES: Readonly<Record<TableView, string>> = {
  devices: "available=false type=SWITCH,ROUTER mfr=Nokia",
  links: "state=INACTIVE device=of:0000000000000001",
  hosts: "ip=10.0.0.0/24 vlan=10",
};
