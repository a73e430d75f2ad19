/**
 * What problems mark on the map: the chosen one the devices and the cable that it is about and the devices that it cuts
 * off, and each lost link the line where it was.
 */
import { cableId } from "../../model/cable.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { MapMarks } from "./highlights.ts";
import type { Mark } from "./style.ts";

/** Undefined for what has no place on the map, such as a source. */
export function problemMarks(problem: NetworkProblem | undefined): MapMarks | undefined {
  if (!problem || problem.devices.length === 0) return undefined;
  const devices = new Map<string, Mark>();
  for (const id of problem.cutOff.devices) devices.set(id, "cut-off");
  for (const id of problem.devices) devices.set(id, "problem");
  const cables = new Map<string, Mark>();
  if (problem.link) cables.set(cableId(problem.link), "problem");
  return { devices, cables, word: "with this problem" };
}

/** A cable that the network no longer has. */
export interface LostCable {
  /** That of the cable. */
  readonly id: string;
  /** The ids of its devices; `a` is the lower one. */
  readonly a: string;
  readonly b: string;
  readonly problem: NetworkProblem;
  readonly isChosen: boolean;
}

export function lostCables(
  problems: readonly NetworkProblem[],
  chosen: NetworkProblem | undefined,
): LostCable[] {
  return problems.flatMap((problem) => {
    const { link, id } = problem;
    if (!link) return [];
    const [p, q] = [link.src.device, link.dst.device];
    const [a, b] = p < q ? [p, q] : [q, p];
    return { id: cableId(link), a, b, problem, isChosen: id === chosen?.id };
  });
}
