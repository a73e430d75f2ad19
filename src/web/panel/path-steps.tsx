/** The shortest paths between two entities: their number, up to 32 of them hop by hop, or why there is none. */
import type { PathLink, PathLinkEnd } from "../../client/types.ts";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import type { Network } from "../data/loaded-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { type LoadedPath, pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { EntityLink } from "./elements.tsx";
import { NoPathReason } from "./no-path.tsx";

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
  if (explanation.none) return <NoPathReason none={explanation.none} from={from} to={to} />;
  return <PathList network={network} loaded={path.value} />;
}

/** `16 shortest paths of 4 hops`. A number of paths may be too large to be exact. */
export function pathCountText({ count, cost = 0 }: LoadedPath["explanation"]): string {
  const number = count > Number.MAX_SAFE_INTEGER ? count.toExponential(1) : count.toLocaleString("en");
  return `${number} shortest ${count === 1 ? "path" : "paths"} of ${formatCount(cost, "hop")}`;
}

function PathList({ network, loaded }: { readonly network: Network; readonly loaded: LoadedPath }) {
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
      {rest > 0 && <p class="muted">{`and ${formatCount(rest, "other")}`}</p>}
    </div>
  );
}

/** The devices between the ends, by which the paths differ. */
function viaText(network: Network, links: readonly PathLink[]): string {
  const between = links.slice(0, -1).flatMap(({ dst }) => dst.device ?? []);
  const names = [...new Set(between)].map((id) => deviceNameById(network, id));
  return names.length === 0 ? "direct" : `via ${names.join(", ")}`;
}

interface PathHopsProps {
  readonly network: Network;
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
          <div class="hop">{hopText(src, dst)}</div>
        </li>
      ))}
      {last && <li>{stop(last)}</li>}
    </ol>
  );
}

/** A host has no port of its own. */
const hopText = (src: PathLinkEnd, dst: PathLinkEnd): string =>
  [
    ...(src.host === undefined ? [`out of port ${src.port}`] : []),
    ...(dst.host === undefined ? [`into port ${dst.port}`] : []),
  ].join(", ");
