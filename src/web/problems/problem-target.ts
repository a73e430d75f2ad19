/** Where a problem leads: its name, and the view of the map that shows it. */
import { batch } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { PageStore } from "../data/page-store.ts";
import { cableName, deviceNameById, entityName } from "../data/shown-names.ts";
import type { EntityRef, ViewState } from "../data/view-state.ts";
import { isRead, type ProblemStore } from "./problem-store.ts";
import { KIND_SIGNS } from "./signs.tsx";

/**
 * The map with the entity of the problem selected. A lost link is in no list: its line and its two devices are marked. A
 * port leads to its device, and a stale source to all that it reports.
 */
export function problemView(problem: NetworkProblem): Partial<ViewState> {
  const { id, resource, source } = problem;
  return {
    view: "map",
    problem: id,
    selected: problemEntity(problem),
    // Each of these would hide or dim what the problem is about.
    around: undefined,
    path: undefined,
    compare: undefined,
    sources: resource === "sources" && source !== undefined ? [source] : [],
  };
}

/** Leads to the problem, also when it is the chosen one already: the map may have been moved since. */
export function goToProblem({ go, problems }: PageStore, problem: NetworkProblem): void {
  batch(() => {
    go(problemView(problem));
    problems.visits.value++;
  });
}

function problemEntity({ kind, resource, entity, devices }: NetworkProblem): EntityRef | undefined {
  const [device] = devices;
  if (resource === "ports") return device === undefined ? undefined : { kind: "devices", id: device };
  if (resource === "sources" || !isListed(kind) || entity === undefined) return undefined;
  return { kind: resource, id: entity };
}

/** Whether the entity is in a list: there is nothing else to select. */
const isListed = (kind: NetworkProblem["kind"]): boolean => kind !== "link-lost" && kind !== "device-unknown";

export function problemName(network: PageNetwork | undefined, problem: NetworkProblem): string {
  const { resource, entity, link, source, devices } = problem;
  if (resource === "sources") return source ?? "";
  if (network && link) return cableName(network, { from: link.src, to: link.dst });
  if (resource !== "ports") return entityName(network, { kind: resource, id: entity ?? "" });
  const [device] = devices;
  if (device === undefined || !entity?.startsWith(`${device}/`)) return entity ?? "";
  return (network ? deviceNameById(network, device) : device) + entity.slice(device.length);
}

/** The problem of the address, also when it is over. */
export function chosenText({ chosen, shown }: ProblemStore, network: PageNetwork | undefined): string {
  const problem = chosen.value;
  if (problem) return `${KIND_SIGNS[problem.kind].title}: ${problemName(network, problem)}`;
  return isRead(shown.value) ? "A problem that is over" : "A problem";
}
