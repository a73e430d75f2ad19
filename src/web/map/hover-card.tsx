/**
 * The card beside the pointer with five facts about the entity under it. Screen readers and the keyboard get the same facts
 * from the panel and the tables, so the card is hidden from them.
 */
import type { ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { Device, Host } from "../../model/entity.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import {
  cableName,
  deviceName,
  deviceNameById,
  formatCount,
  formatType,
  hostName,
} from "../data/shown-names.ts";
import { formatDuration } from "../elements/format-time.ts";
import { problemName } from "../problems/problem-target.ts";
import { SEVERITY_SIGNS } from "../problems/signs.tsx";
import type { Bundle } from "./bundles.ts";
import type { Hovered } from "./interaction.ts";
import type { NetworkMap } from "./map.ts";
import { formatSpeed, type PortCache } from "./port-cache.ts";

/** The distance of the card from the pointer, and the space that the card needs. */
const OFFSET_PX = 14;
const WIDTH_PX = 300;
const HEIGHT_PX = 160;

interface HoverCardProps {
  readonly hovered: ReadonlySignal<Hovered | undefined>;
  readonly map: RefObject<NetworkMap | null>;
  readonly element: RefObject<HTMLElement | null>;
}

export function HoverCard({ hovered, map, element }: HoverCardProps) {
  const { problems, pastMs } = useStore();
  const network = usePlannedNetwork();
  const target = hovered.value && withCurrentProblem(hovered.value, problems.lost.value);
  const ports = map.current?.ports;
  const now = pastMs.value ?? Date.now();
  const content = target && network && ports ? hoverFacts(target, network, ports, now) : undefined;
  if (!target || !content) return null;
  const { clientWidth = 0, clientHeight = 0 } = element.current ?? {};
  const left =
    target.x + OFFSET_PX + WIDTH_PX > clientWidth ? target.x - OFFSET_PX - WIDTH_PX : target.x + OFFSET_PX;
  const top = target.y + OFFSET_PX + HEIGHT_PX > clientHeight ? target.y - HEIGHT_PX : target.y + OFFSET_PX;
  return (
    <div
      class="hover-card"
      aria-hidden="true"
      data-kind={target.ref.kind}
      ref={(card) => {
        // The content security policy forbids style attributes, but allows setting style properties.
        if (card) Object.assign(card.style, { left: `${Math.max(0, left)}px`, top: `${Math.max(0, top)}px` });
      }}
    >
      <strong>{content.title}</strong>
      <dl>
        {content.facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Replaces the problem of a lost link, which may change while the pointer rests on the line. */
function withCurrentProblem(target: Hovered, problems: readonly NetworkProblem[]): Hovered {
  const { lost } = target;
  const problem = lost && problems.find(({ id }) => id === lost.problem.id);
  return problem ? { ...target, lost: { ...lost, problem } } : target;
}

/** The content of the hover card: five facts about a device, a bundle of cables, a lost link or a host. */
interface HoverFacts {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

function hoverFacts(
  { ref, bundle, lost }: Hovered,
  network: PageNetwork,
  ports: PortCache,
  now: number,
): HoverFacts | undefined {
  if (lost) return lostFacts(lost.problem, network, now);
  if (bundle) return bundleFacts(bundle, network, ports, now);
  const device = ref.kind === "devices" ? network.devices.get(ref.id) : undefined;
  if (device) return deviceFacts(device, network, now);
  const host = ref.kind === "hosts" ? network.hosts.get(ref.id) : undefined;
  return host && hostFacts(host, network, ports, now);
}

function deviceFacts(device: Device, network: PageNetwork, now: number): HoverFacts {
  const cables = network.cablesOf(device.id);
  const down = cables.filter((cable) => !cable.active).length;
  const model = [device.mfr, device.hw].filter((part) => part !== "unknown" && part !== "").join(" ");
  return {
    title: deviceName(device),
    facts: [
      ["State", stateText(device, network, now)],
      ["Type", [formatType(device.type), model].filter((part) => part !== "").join(", ")],
      ["Management", device.annotations.managementAddress || "not known"],
      ["Cables", down > 0 ? `${cables.length}, ${down} down` : String(cables.length)],
      ["Hosts", network.hostCount(device.id).toLocaleString("en")],
    ],
  };
}

function stateText(device: Device, network: PageNetwork, now: number): string {
  const state = network.stateOf(device);
  // The time is that of the device's own state, so it does not say since when the device is cut off.
  const own = `${device.available ? "up" : "down"} for ${age(Number(device.lastUpdate), now)}`;
  return state === "cut off" ? `${state}, ${own}` : own;
}

/** The facts about a bundle, with the ports of its first two cables. The panel of each device lists all of them. */
function bundleFacts(
  { a, b, cables }: Bundle,
  network: PageNetwork,
  ports: PortCache,
  now: number,
): HoverFacts {
  const down = cables.filter((cable) => !cable.active).length;
  const [first] = cables;
  const speeds = [
    ...new Set(cables.map((cable) => formatSpeed(ports.speedOf(cable))).filter((s) => s !== "")),
  ];
  const doubts = [
    cables.some((cable) => cable.oneWay && cable.active) ? "one way" : "",
    cables.every((cable) => cable.verified) ? "" : "not verified",
    cables.some((cable) => cable.conflict) ? "contradictory reports" : "",
  ].filter((doubt) => doubt !== "");
  const changed = Math.max(
    ...cables.flatMap((cable) => cable.links.map((link) => Date.parse(link.lastChanged))),
  );
  const state = down === 0 ? "up" : down === cables.length ? "down" : `${down} down`;
  const portName = (device: string, port: string) => ports.get(device, port)?.name ?? port;
  const names = cables.slice(0, 2).map((cable) => {
    const [from, to] = cable.from.device === a ? [cable.from, cable.to] : [cable.to, cable.from];
    return `${portName(a, from.port)} – ${portName(b, to.port)}`;
  });
  return {
    title:
      cables.length === 1 && first
        ? cableName(network, first)
        : `${deviceNameById(network, a)} – ${deviceNameById(network, b)}`,
    facts: [
      ["State", [state, ...doubts].join(", ")],
      ["Cables", formatCount(cables.length, "cable")],
      ["Ports", names.join(", ") + (cables.length > 2 ? " …" : "")],
      ["Speed", speeds.length === 0 ? "not known" : speeds.join(", ")],
      ["Changed", `${age(changed, now)} ago`],
    ],
  };
}

function lostFacts(problem: NetworkProblem, network: PageNetwork, now: number): HoverFacts {
  const { severity, since, until, cutOff, sources } = problem;
  const { deviceCount, hostCount } = cutOff;
  return {
    title: problemName(network, problem),
    facts: [
      ["State", `lost ${age(Date.parse(since), now)} ago`],
      ["Severity", SEVERITY_SIGNS[severity].title.toLowerCase()],
      [
        "Cuts off",
        deviceCount === 0
          ? "nothing"
          : `${formatCount(deviceCount, "device")}, ${formatCount(hostCount, "host")}`,
      ],
      ["Sources", sources.join(", ")],
      ["Listed", until === undefined ? "until it is back" : `for another ${age(now, Date.parse(until))}`],
    ],
  };
}

function hostFacts(host: Host, network: PageNetwork, ports: PortCache, now: number): HoverFacts {
  const { elementId, port } = host.location;
  const portName = ports.get(elementId, port)?.name ?? port;
  return {
    title: hostName(host),
    facts: [
      ["Addresses", host.ipAddresses.slice(0, 3).join(", ") || "not known"],
      ["MAC", host.mac],
      ["VLAN", host.vlan],
      ["Location", `${deviceNameById(network, elementId)} port ${portName}`],
      ["Changed", `${age(Date.parse(host.lastChanged), now)} ago`],
    ],
  };
}

const age = (since: number, now: number): string => formatDuration(now - since);
