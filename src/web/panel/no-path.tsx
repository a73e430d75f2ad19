/** Why there is no path: what each end reaches, and what is down between the two sets. */
import type { NoPath, PathObstacle, ReachableSet } from "../../model/path-explanation.ts";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import type { Network } from "../data/loaded-network.ts";
import { useNetwork } from "../data/page-store.ts";
import { Badge, EntityLink, Time } from "./elements.tsx";

interface NoPathReasonProps {
  readonly none: NoPath;
  /** The names of the ends. */
  readonly from: string;
  readonly to: string;
}

export function NoPathReason({ none, from, to }: NoPathReasonProps) {
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
              <Obstacle key={`${obstacle.resource} ${obstacle.id}`} obstacle={obstacle} network={network} />
            ))}
          </ul>
          {rest > 0 && <p class="muted">{`and ${formatCount(rest, "other")}`}</p>}
        </>
      )}
    </div>
  );
}

const REASONS: Readonly<Record<NoPath["reason"], string>> = {
  "unknown-end": "One of the two is not in the network shown.",
  "same-device": "Both ends are the same device.",
  parted: "There is no path between them over devices that are up and links that are active.",
  "never-joined": "There is no path between them, and nothing is known that joins them, up or down.",
};

interface ReachableProps {
  readonly title: string;
  readonly set: ReachableSet;
  readonly network: Network;
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
      {rest > 0 && <p class="muted">{`and ${formatCount(rest, "other")}`}</p>}
    </details>
  );
}

function Obstacle({ obstacle, network }: { readonly obstacle: PathObstacle; readonly network: Network }) {
  const { resource, id, state, since, src, dst, name } = obstacle;
  const point = (end: PathObstacle["src"]) =>
    end ? `${deviceNameById(network, end.device)}/${end.port}` : "";
  const title = resource === "devices" ? (name ?? id) : src && dst ? `${point(src)} → ${point(dst)}` : id;
  // What is gone can be shown only where it was: a lost link at its device.
  const isShown = network[resource].has(id);
  const known = isShown || !src ? { kind: resource, id } : { kind: "devices" as const, id: src.device };
  return (
    <li>
      <Badge tone={state === "one-way" ? "doubt" : "bad"}>{state}</Badge>
      <EntityLink to={known}>{title}</EntityLink>
      {since !== undefined && <Time timestamp={since} />}
    </li>
  );
}
