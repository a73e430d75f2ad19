/** The marks of the map: the devices and cables of a problem, of a layer (drift, contradictory reports), and lost links. */
import { cableId } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { DriftList } from "../data/drift-list.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { MarkLayer } from "../data/view-state.ts";
import type { MapMarks } from "./highlights.ts";
import type { Mark } from "./style.ts";

/** The marks of the chosen problem. Undefined for a problem without devices, such as that of a source. */
export function problemMarks(problem: NetworkProblem | undefined): MapMarks | undefined {
  if (!problem || problem.devices.length === 0) return undefined;
  const devices = new Map<string, Mark>(problem.devices.map((id) => [id, "problem"]));
  const cables = new Map<string, Mark>();
  if (problem.link) cables.set(cableId(problem.link), "problem");
  return { devices, cables, word: "with this problem" };
}

/** A cable that the network no longer has, as the map draws it. */
export interface LostCableMark {
  /** The id of the cable. */
  readonly id: string;
  /** The ids of its devices; `a` is the lower one. */
  readonly a: string;
  readonly b: string;
  readonly problem: NetworkProblem;
  readonly isChosen: boolean;
  /** Whether its loss follows from no other problem. */
  readonly isCause: boolean;
}

export function lostCables(
  problems: readonly NetworkProblem[],
  chosen: NetworkProblem | undefined,
): LostCableMark[] {
  return problems.flatMap((problem) => {
    const { link, id, causedBy } = problem;
    if (!link) return [];
    const [p, q] = [link.src.device, link.dst.device];
    const [a, b] = p < q ? [p, q] : [q, p];
    return { id: cableId(link), a, b, problem, isChosen: id === chosen?.id, isCause: causedBy === undefined };
  });
}

/** The marks of a layer: devices and cables that are not as planned, or that have contradictory reports. */
export function layerMarks(
  layer: MarkLayer | undefined,
  network: PageNetwork,
  drift: DriftList | undefined,
): MapMarks | undefined {
  if (layer === "conflicts") return conflictMarks(network);
  return layer === "drift" && drift ? driftMarks(network, drift) : undefined;
}

/**
 * A cable has a state of drift if all its directions have it; otherwise it differs. A port or host that is not as planned
 * marks its device, because the map draws hosts only on demand and no ports.
 */
function driftMarks(network: PageNetwork, { entities }: DriftList): MapMarks {
  const devices = new Map<string, Mark>();
  const cables = new Map<string, Mark>();
  const parts = new Set<string>();
  for (const { resource, value, drift } of entities.values()) {
    const { state } = drift;
    if (resource === "devices") devices.set(value.id, state);
    else if (resource === "ports") parts.add(value.element);
    else if (resource === "hosts") parts.add(value.location.elementId);
    else {
      const id = cableId(value);
      const links = network.cables.get(id)?.links ?? [];
      cables.set(id, links.every((link) => link.drift?.state === state) ? state : "differs");
    }
  }
  for (const device of parts) if (!devices.has(device)) devices.set(device, "differs");
  return { devices, cables, word: "not as planned" };
}

function conflictMarks(network: PageNetwork): MapMarks {
  const devices = new Map<string, Mark>();
  const cables = new Map<string, Mark>();
  for (const device of network.devices.values()) if (hasConflict(device)) devices.set(device.id, "conflict");
  for (const host of network.hosts.values())
    if (hasConflict(host)) for (const { elementId } of host.locations) devices.set(elementId, "conflict");
  for (const cable of network.cables.values()) if (cable.conflict) cables.set(cable.id, "conflict");
  return { devices, cables, word: "contradictory" };
}
