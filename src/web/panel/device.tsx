/** One device: what it is, its ports and what hangs on each, and what happened to it. */
import type { DeviceWithPorts } from "../../client/client.ts";
import type { Device, Port } from "../../model/entity.ts";
import { h } from "../dom.ts";
import { deviceNameById, formatCount, formatType, hostName } from "../names.ts";
import type { Network } from "../network.ts";
import { filterText } from "../table/filter.ts";
import {
  annotationFacts,
  badge,
  conflictNote,
  facts,
  MAX_LISTED,
  moment,
  type PanelContext,
  section,
  thing,
} from "./elements.tsx";

export function devicePanel(
  context: PanelContext,
  network: Network,
  device: Device,
  ports: HTMLElement,
  history: HTMLElement,
): Node[] {
  const { annotations } = device;
  const speaks = [annotations.protocol, annotations.channelId].filter((word) => word).join(" ");
  return [
    h("p", { class: "badges" }, badge(formatType(device.type)), availability(device)),
    ...[conflictNote(annotations)].filter((note) => note !== undefined),
    deviceActions(context, network, device),
    facts([
      ["Id", h("code", {}, device.id)],
      ["Address", annotations.managementAddress],
      ["Speaks", speaks],
      ["Hardware", [device.mfr, device.hw].filter((word) => word !== "unknown").join(" ")],
      ["Software", device.sw],
      ["Serial", device.serial],
      ["Role", device.role === "NONE" ? "" : device.role.toLowerCase()],
      ["Sources", device.sources.join(", ")],
      ["First seen", moment(device.firstSeen)],
      ["Last change", moment(device.lastChanged)],
      ...annotationFacts(annotations),
    ]),
    section("Ports", ports),
    section("History", history),
  ];
}

function availability(device: Device): HTMLElement {
  const since = new Date(Number(device.lastUpdate)).toISOString();
  const words = h("span", {}, device.available ? "Up since " : "Down since ", moment(since));
  return h("span", { class: `state ${device.available ? "good" : "bad"}` }, words);
}

function deviceActions({ actions, state }: PanelContext, network: Network, { id }: Device): HTMLElement {
  const hosts = network.hostCount(id);
  const expanded = state.expanded.includes(id);
  const near = state.around === id;
  const others = state.expanded.filter((one) => one !== id);
  const toggle = (words: string, pressed: boolean, focus: string, onclick: () => void) =>
    h(
      "button",
      { type: "button", class: "text-button", "aria-pressed": String(pressed), "data-focus": focus, onclick },
      words,
    );
  return h(
    "div",
    { class: "actions" },
    hosts > 0 &&
      toggle(formatCount(hosts, "host"), expanded, "expand", () =>
        actions.go({ view: "map", expanded: expanded ? others : [...others, id] }),
      ),
    toggle("Neighbourhood", near, "near", () =>
      actions.go({ view: "map", around: near ? undefined : id, hops: 1, camera: undefined }),
    ),
    toggle("Path from here", false, "path", () => actions.beginWay({ kind: "devices", id })),
    hosts > 0 &&
      toggle("Hosts table", false, "table", () =>
        actions.go({ view: "hosts", filter: filterText("device", id), sort: "" }),
      ),
  );
}

/** Ports with something on them first: those are the ones people look for. */
export function portsTable(context: PanelContext, network: Network, { id, ports }: DeviceWithPorts): Node {
  if (ports.length === 0) return h("p", { class: "muted" }, "No ports are known.");
  const order = (p: Port, q: Port) => p.port.localeCompare(q.port, "en", { numeric: true });
  const rows = ports
    .toSorted(order)
    .map((port) => ({ port, ends: connections(context, network, id, port.port) }));
  const used = rows.filter(({ ends }) => ends.length > 0);
  const free = rows.filter(({ ends }) => ends.length === 0);
  const table = (list: typeof rows) =>
    h(
      "table",
      { class: "ports" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Port", "Name", "Speed", "Connected to"].map((title) => h("th", { scope: "col" }, title)),
        ),
      ),
      h(
        "tbody",
        {},
        list.map(({ port, ends }) => portRow(port, ends)),
      ),
    );
  return h(
    "div",
    {},
    used.length > 0 && table(used),
    free.length > 0 &&
      h(
        "details",
        {},
        h(
          "summary",
          {},
          network.hostsLoaded
            ? formatCount(free.length, "port with nothing on it", "ports with nothing on them")
            : formatCount(free.length, "other port"),
        ),
        table(free),
      ),
  );
}

function portRow(port: Port, ends: readonly Node[]): HTMLElement {
  const cell = (child: string | readonly Node[]) => h("td", {}, child);
  return h(
    "tr",
    { class: port.isEnabled ? "" : "disabled" },
    h("th", { scope: "row" }, port.port, !port.isEnabled && h("span", { class: "state bad" }, "off")),
    cell(port.annotations.portName ?? ""),
    cell(speed(port.portSpeed)),
    cell(ends),
  );
}

const speed = (mbps: number): string => (mbps >= 1000 ? `${mbps / 1000} G` : mbps > 0 ? `${mbps} M` : "");

function connections(context: PanelContext, network: Network, device: string, port: string): Node[] {
  const found: Node[] = [];
  for (const cable of network.cablesOf(device)) {
    for (const [here, there] of [
      [cable.from, cable.to],
      [cable.to, cable.from],
    ] as const) {
      if (here.device !== device || here.port !== port) continue;
      const words = `${deviceNameById(network, there.device)}/${there.port}`;
      const link = cable.links.find(({ src }) => src.device === device) ?? cable.links[0];
      found.push(
        h(
          "div",
          {},
          thing(context, { kind: "links", id: link.id }, words),
          !cable.active && badge("down", "bad"),
        ),
      );
    }
  }
  const here = network
    .hostsOf(device)
    .filter((host) => host.locations.some((at) => at.elementId === device && at.port === port));
  for (const host of here.slice(0, MAX_LISTED)) {
    found.push(
      h(
        "div",
        {},
        thing(context, { kind: "hosts", id: host.id }, hostName(host)),
        ` ${host.ipAddresses[0] ?? ""}`,
      ),
    );
  }
  if (here.length > MAX_LISTED)
    found.push(h("div", { class: "muted" }, `and ${here.length - MAX_LISTED} more`));
  return found;
}
