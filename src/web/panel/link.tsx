/** One link, and one host. */
import type { DeviceWithPorts } from "../../client/client.ts";
import { cableId } from "../../model/cable.ts";
import type { Host, Link } from "../../model/entity.ts";
import { h } from "../dom.ts";
import { deviceNameById } from "../names.ts";
import type { Network } from "../network.ts";
import {
  annotationFacts,
  badge,
  conflictNote,
  facts,
  moment,
  type PanelContext,
  section,
  thing,
} from "./elements.tsx";

export function linkPanel(context: PanelContext, network: Network, link: Link, history: HTMLElement): Node[] {
  const cable = network.cables.get(cableId(link));
  const links = cable?.links ?? [link];
  const oneWay = cable?.oneWay ?? true;
  const working = links.filter(({ state }) => state === "ACTIVE").length;
  const note = links.map(({ annotations }) => conflictNote(annotations)).find((one) => one !== undefined);
  return [
    h(
      "p",
      { class: "badges" },
      badge(link.type.toLowerCase()),
      working > 0 ? badge("Active", "good") : badge("Inactive", "bad"),
      oneWay &&
        badge(
          links.length === 1
            ? "One way: the other direction is not known"
            : "One way: the other direction is down",
          "doubt",
        ),
      !links.every(({ verified }) => verified) && badge("Not verified", "doubt"),
    ),
    ...(note ? [note] : []),
    h(
      "ul",
      { class: "ends" },
      links.map((one) => direction(context, network, one)),
    ),
    facts([
      ["Id", h("code", {}, link.id)],
      ["Sources", link.sources.join(", ")],
      ["First seen", moment(link.firstSeen)],
      ["Last change", moment(link.lastChanged)],
      ...annotationFacts(link.annotations),
    ]),
    section("History", history),
  ];
}

function direction(context: PanelContext, network: Network, { src, dst, state }: Link): HTMLElement {
  const end = ({ device, port }: Link["src"]) =>
    h(
      "span",
      {},
      thing(context, { kind: "devices", id: device }, deviceNameById(network, device)),
      ` port ${port}`,
    );
  return h(
    "li",
    {},
    end(src),
    h("span", { class: "arrow", "aria-label": "to" }, " → "),
    end(dst),
    state === "INACTIVE" && badge("down", "bad"),
  );
}

export function hostPanel(
  context: PanelContext,
  network: Network,
  host: Host,
  port: HTMLElement,
  history: HTMLElement,
): Node[] {
  const tags = [host.configured && badge("Configured"), host.suspended && badge("Suspended", "doubt")];
  const note = conflictNote(host.annotations);
  const { actions } = context;
  return [
    h("p", { class: "badges" }, badge("Host"), ...tags),
    ...(note ? [note] : []),
    h(
      "ul",
      { class: "ends" },
      host.locations.map(({ elementId, port: number }, i) =>
        h(
          "li",
          {},
          i === 0 ? "On " : "Also on ",
          thing(context, { kind: "devices", id: elementId }, deviceNameById(network, elementId)),
          ` port ${number}`,
        ),
      ),
    ),
    port,
    h(
      "div",
      { class: "actions" },
      h(
        "button",
        {
          type: "button",
          class: "text-button",
          "data-focus": "path",
          onclick: () => actions.beginWay({ kind: "hosts", id: host.id }),
        },
        "Path from here",
      ),
    ),
    facts([
      ["Addresses", host.ipAddresses.join(", ")],
      ["MAC", h("code", {}, host.mac)],
      ["VLAN", host.vlan === "None" ? "none" : host.vlan],
      ["Sources", host.sources.join(", ")],
      ["First seen", moment(host.firstSeen)],
      ["Last change", moment(host.lastChanged)],
      ...annotationFacts(host.annotations),
    ]),
    section("History", history),
  ];
}

export function hostPort(host: Host, { ports }: DeviceWithPorts): Node {
  const port = ports.find((one) => one.port === host.location.port);
  if (!port) return h("p", { class: "muted" }, "The device has not told of this port.");
  const speed = port.portSpeed > 0 ? `${port.portSpeed / 1000} Gb/s` : "";
  return facts([
    ["Port", [port.port, port.annotations.portName].filter((word) => word).join(" · ")],
    ["Speed", speed],
    ["Port state", port.isEnabled ? "enabled" : "disabled"],
  ]);
}
