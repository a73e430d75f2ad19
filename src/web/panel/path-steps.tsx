/** The shortest path between two entities, device by device. */
import { deviceNameById, formatCount } from "../names.ts";
import type { Network } from "../network.ts";
import { type Path, shortestPath } from "../path.ts";
import type { EntityRef } from "../state.ts";
import { useNetwork } from "../store.ts";
import { EntityLink } from "./elements.tsx";

export function PathSteps({ ends }: { readonly ends: readonly [EntityRef, EntityRef] }) {
  const network = useNetwork();
  if (!network) return null;
  const path = shortestPath(network, ends[0], ends[1]);
  if (!path && !ends.every(({ kind, id }) => network.isKnown(kind, id))) return <p class="muted">Loading…</p>;
  if (!path) {
    return (
      <p class="note bad">
        There is no path between them over devices that are up and links that are active.
      </p>
    );
  }
  return (
    <div>
      <p>{formatCount(path.cables.length, "hop")}</p>
      <ol class="way">
        {path.devices.map((device, i) => {
          const ports = portsToNext(network, path, i);
          return (
            <li key={device}>
              <EntityLink to={{ kind: "devices", id: device }}>{deviceNameById(network, device)}</EntityLink>
              {ports && <div class="hop">{`out of port ${ports.out}, into port ${ports.in}`}</div>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function portsToNext(network: Network, { devices, cables }: Path, step: number) {
  const cable = network.cables.get(cables[step] ?? "");
  if (!cable) return undefined;
  const [near, far] = cable.from.device === devices[step] ? [cable.from, cable.to] : [cable.to, cable.from];
  return { out: near.port, in: far.port };
}
