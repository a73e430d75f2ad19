/** The shortest paths between two entities: their number and up to 32 of them hop by hop, or the reason why there is none. */
import type { PathLink, PathLinkEnd } from "../../client/types.ts";
import { portId } from "../../model/ids.ts";
import type { NoPath, PathObstacle, ReachableSet } from "../../model/path-explanation.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { deviceNameById, formatCount } from "../data/shown-names.ts";
import { type LoadedPath, pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Badge, EntityLink, Rest, Time } from "./parts.tsx";

export function PathSteps({ ends }: { readonly ends: readonly [EntityRef, EntityRef] }) {
  const { path, pathFault } = useStore();
  const network = useNetwork();
  if (pathFault.value !== undefined) return <p class="note bad">{pathFault.value}</p>;
  if (!network || !path.value) return <p class="muted">Loading…</p>;
  const { explanation } = path.value;
  const [from, to] = [
    pathEndName(network, ends[0], explanation.src),
    pathEndName(network, ends[1], explanation.dst),
  ];
  if (explanation.none)
    return <NoPathReason none={explanation.none} from={from} to={to} portNames={path.value.portNames} />;
  return <PathList network={network} loaded={path.value} />;
}

/** A text such as `16 shortest paths of 4 hops`. The number of paths may be too large to be exact. */
export function pathCountText({ count, cost = 0 }: LoadedPath["explanation"]): string {
  const number = count > Number.MAX_SAFE_INTEGER ? count.toExponential(1) : count.toLocaleString("en");
  return `${number} shortest ${count === 1 ? "path" : "paths"} of ${formatCount(cost, "hop")}`;
}

function PathList({ network, loaded }: { readonly network: PageNetwork; readonly loaded: LoadedPath }) {
  const { explanation, paths } = loaded;
  const rest = explanation.count - paths.length;
  return (
    <div>
      <p>{pathCountText(explanation)}</p>
      {paths.map(({ links }, i) => (
        <details key={links.map(({ id }) => id).join(" ")} class="path" open={i === 0}>
          <summary>{`${i + 1}: ${viaText(network, links)}`}</summary>
          <PathHops network={network} loaded={loaded} links={links} />
        </details>
      ))}
      <Rest count={rest} />
    </div>
  );
}

/** The devices between the ends, which distinguish the paths. */
function viaText(network: PageNetwork, links: readonly PathLink[]): string {
  const between = links.slice(0, -1).flatMap(({ dst }) => dst.device ?? []);
  const names = [...new Set(between)].map((id) => deviceNameById(network, id));
  return names.length === 0 ? "direct" : `via ${names.join(", ")}`;
}

interface PathHopsProps {
  readonly network: PageNetwork;
  readonly loaded: LoadedPath;
  readonly links: readonly PathLink[];
}

function PathHops({ network, loaded, links }: PathHopsProps) {
  const last = links.at(-1)?.dst;
  const name = ({ host, device }: PathLinkEnd): [EntityRef, string] => {
    if (device !== undefined) return [{ kind: "devices", id: device }, deviceNameById(network, device)];
    const ref: EntityRef = { kind: "hosts", id: host ?? "" };
    const { src, dst } = loaded.explanation;
    return [
      ref,
      pathEndName(
        network,
        ref,
        [src, dst].find(({ id }) => id === host),
      ),
    ];
  };
  const stop = (end: PathLinkEnd) => {
    const [ref, title] = name(end);
    return <EntityLink to={ref}>{title}</EntityLink>;
  };
  return (
    <ol class="way">
      {links.map(({ src, dst }, i) => (
        <li key={i}>
          {stop(src)}
          <div class="hop">{hopText(src, dst, loaded.portNames)}</div>
        </li>
      ))}
      {last && <li>{stop(last)}</li>}
    </ol>
  );
}

type PortNames = LoadedPath["portNames"];

/** The ports of a hop. Only devices have ports, so that a host is left out. */
function hopText(src: PathLinkEnd, dst: PathLinkEnd, names: PortNames): string {
  const port = ({ device = "", port }: PathLinkEnd) => names.get(portId(device, port)) ?? `port ${port}`;
  return [
    ...(src.host === undefined ? [`out of ${port(src)}`] : []),
    ...(dst.host === undefined ? [`into ${port(dst)}`] : []),
  ].join(", ");
}

interface NoPathReasonProps {
  readonly none: NoPath;
  /** The names of the ends. */
  readonly from: string;
  readonly to: string;
  readonly portNames: PortNames;
}

/** The reason why there is no path: the devices that each end reaches, and the obstacles between the two sets. */
function NoPathReason({ none, from, to, portNames }: NoPathReasonProps) {
  const { reason, needed = 0, obstacles = [], obstacleCount = 0 } = none;
  const network = useNetwork();
  if (!network) return null;
  const rest = obstacleCount - obstacles.length;
  return (
    <div>
      <p class="note bad">{REASONS[reason]}</p>
      {none.from && <Reachable title={`${from} reaches`} set={none.from} network={network} />}
      {none.to && <Reachable title={`${to} is reached from`} set={none.to} network={network} />}
      {obstacles.length > 0 && (
        <>
          <p>{needed === 1 ? "One of these must come back:" : `${needed} of these must come back:`}</p>
          <ul class="layer-list obstacles">
            {obstacles.map((obstacle) => (
              <Obstacle key={`${obstacle.resource} ${obstacle.id}`} {...{ obstacle, network, portNames }} />
            ))}
          </ul>
          <Rest count={rest} />
        </>
      )}
    </div>
  );
}

const REASONS: Readonly<Record<NoPath["reason"], string>> = {
  "unknown-end": "One of the two is not in the network shown.",
  "same-device": "Both ends are the same device.",
  parted: "There is no path between them over devices and cables that are up.",
  "never-joined": "There is no path between them, and nothing is known that joins them, up or down.",
};

interface ReachableProps {
  readonly title: string;
  readonly set: ReachableSet;
  readonly network: PageNetwork;
}

function Reachable({ title, set: { count, devices }, network }: ReachableProps) {
  const rest = count - devices.length;
  return (
    <details>
      <summary>{`${title} ${formatCount(count, "device")}`}</summary>
      <ul class="way">
        {devices.map((id) => (
          <li key={id}>
            <EntityLink to={{ kind: "devices", id }}>{deviceNameById(network, id)}</EntityLink>
          </li>
        ))}
      </ul>
      <Rest count={rest} />
    </details>
  );
}

const OBSTACLE_WORDS: Readonly<Record<PathObstacle["state"], string>> = {
  unavailable: "down",
  gone: "gone",
  inactive: "down",
  lost: "lost",
  "one-way": "one-way",
};

interface ObstacleProps {
  readonly obstacle: PathObstacle;
  readonly network: PageNetwork;
  readonly portNames: PortNames;
}

function Obstacle({ obstacle, network, portNames }: ObstacleProps) {
  const { resource, id, state, since, src, dst, name } = obstacle;
  const point = (end: PathObstacle["src"]) =>
    end
      ? `${deviceNameById(network, end.device)}/${portNames.get(portId(end.device, end.port)) ?? end.port}`
      : "";
  const title = resource === "devices" ? (name ?? id) : src && dst ? `${point(src)} → ${point(dst)}` : id;
  // A lost link cannot be selected, so that its entry selects the device where it was.
  const isShown = network[resource].has(id);
  const known = isShown || !src ? { kind: resource, id } : { kind: "devices" as const, id: src.device };
  return (
    <li>
      <Badge tone={state === "one-way" ? "doubt" : "bad"}>{OBSTACLE_WORDS[state]}</Badge>
      <EntityLink to={known}>{title}</EntityLink>
      {since !== undefined && <Time timestamp={since} />}
    </li>
  );
}
