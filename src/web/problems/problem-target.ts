/** The name of a problem, and the view of the map that shows it. */
import { batch } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { PageStore } from "../data/page-store.ts";
import { cableName, deviceNameById, entityName, formatCount } from "../data/shown-names.ts";
import type { EntityRef, ViewState } from "../data/view-state.ts";
import { isRead, type ProblemStore } from "./problem-store.ts";
import { KIND_SIGNS } from "./signs.tsx";

/**
 * The state of the page that shows a problem: the map with the entity of the problem selected. For a lost link, which is in
 * no list, its line and its two devices are marked. For a port its device is selected, and for a source the map is filtered
 * by it.
 */
export function problemView(problem: NetworkProblem): Partial<ViewState> {
  const { id, resource, source } = problem;
  return {
    view: "map",
    problem: id,
    selected: problemEntity(problem),
    // Each of these would hide or dim the entities of the problem.
    around: undefined,
    path: undefined,
    compare: undefined,
    sources: resource === "sources" && source !== undefined ? [source] : [],
  };
}

/** Shows the problem, even when it is already the chosen one, because the map may have been moved since. */
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

/** Whether the entity is in a list and can be selected. */
const isListed = (kind: NetworkProblem["kind"]): boolean => kind !== "link-lost" && kind !== "device-unknown";

export function problemName(network: PageNetwork | undefined, problem: NetworkProblem): string {
  const { resource, entity, link, source, devices } = problem;
  if (resource === "sources") return source ?? "";
  if (network && link) return cableName(network, { from: link.src, to: link.dst });
  if (resource !== "ports") return entityName(network, { kind: resource, id: entity ?? "" });
  // The page does not have the ports, and the service names them in the text.
  const [subject] = splitText(problem);
  if (subject.startsWith("Port ")) return subject.slice("Port ".length);
  const [device] = devices;
  if (device === undefined || !entity?.startsWith(`${device}/`)) return entity ?? "";
  return (network ? deviceNameById(network, device) : device) + entity.slice(device.length);
}

/** The kinds whose text is the entity, a colon, and what is said about it. */
const TEXT_AFTER_COLON: readonly NetworkProblem["kind"][] = [
  "conflict",
  "host-duplicated",
  "source-failed",
  "source-stale",
];

/** The texts of drift: one sentence about the entity, or one about each link of a cable whose links differ in other ways. */
const DRIFT_STATE = "(is planned and missing|is not planned|differs from the plan: .*)";
const DRIFT = new RegExp(`^(.*) ${DRIFT_STATE}\\.$`, "s");
const DRIFT_OF_DIRECTIONS = new RegExp(`^Link .* ${DRIFT_STATE}\\. Link .* ${DRIFT_STATE}\\.$`, "s");

/** What the text of a problem is about, as the service names it, and what it says. The first may be empty. */
function splitText({ kind, text }: NetworkProblem): readonly [subject: string, said: string] {
  if (kind === "drift") {
    const [, subject = "", said = text] = DRIFT.exec(text) ?? [];
    return [subject, said.replace(/^is /, "")];
  }
  const start = TEXT_AFTER_COLON.includes(kind) ? text.indexOf(": ") : -1;
  return start < 0 ? ["", text] : [text.slice(0, start), text.slice(start + 2)];
}

const MOVED = " moved from ";

/** What a problem that cuts off nothing says besides its title; empty when the title says all. */
export function problemDetail(problem: NetworkProblem): string {
  const { kind, resource, text, moved, references } = problem;
  if (kind === "device-unavailable" || (resource === "links" && kind.startsWith("link-"))) return "";
  // The text has the names of the ports, which the page does not have.
  if (moved) return `From ${text.slice(text.lastIndexOf(MOVED) + MOVED.length).replace(/\.$/, "")}`;
  if (references !== undefined)
    return `${formatCount(references, "port, link or host refers", "ports, links and hosts refer")} to it`;
  const directions = kind === "drift" && resource === "links" && DRIFT_OF_DIRECTIONS.exec(text);
  if (directions) return `One direction ${directions[1]}, the other ${directions[2]}`;
  const [, said] = splitText(problem);
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** The kind and the name of a problem. */
export const problemTitle = (network: PageNetwork | undefined, problem: NetworkProblem): string =>
  `${KIND_SIGNS[problem.kind].title}: ${problemName(network, problem)}`;

/** The text of the problem of the address, even when it is over. */
export function chosenText({ chosen, shown }: ProblemStore, network: PageNetwork | undefined): string {
  const problem = chosen.value;
  if (problem) return problemTitle(network, problem);
  return isRead(shown.value) ? "A problem that is over" : "A problem";
}
