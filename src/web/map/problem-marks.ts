/** What the chosen problem marks: the devices and the cable that it is about, and the devices that it cuts off. */
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
