/**
 * Combines the filters, the neighbourhood, the path, the selection and the comparison of the page into one emphasis for
 * each device and cable. Only the devices outside a neighbourhood are hidden. Devices that do not match a filter are
 * dimmed, so that the matching ones are seen in their surroundings.
 */
import { type Cable, cableId } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Device, Link } from "../../model/entity.ts";
import type { Network } from "../network.ts";
import { devicesOf, neighbourhood, type Path, shortestPath } from "../path.ts";
import type { ViewState } from "../state.ts";
import type { Emphasis, Mark } from "./style.ts";

/** The values of the state filter and their labels. */
export const STATE_FILTERS = {
  down: "Device down",
  inactive: "Link inactive",
  "one-way": "Link one-way",
  unverified: "Link not verified",
  conflict: "Conflicting claims",
} as const;

/** The result of a comparison or the content of a layer, by device id and by cable id. */
export interface MapMarks {
  readonly devices: ReadonlyMap<string, Mark>;
  readonly cables: ReadonlyMap<string, Mark>;
  /** The word after the number of marked devices of a cluster. */
  readonly word: string;
}

export interface Highlights {
  readonly path: Path | undefined;
  /** The word after a number of marked devices. */
  readonly markWord: string;
  isVisible(device: string): boolean;
  device(device: Device): Emphasis;
  cable(cable: Cable): Emphasis;
}

type HighlightOptions = Pick<
  ViewState,
  "types" | "states" | "sources" | "around" | "hops" | "path" | "selected"
>;

export function createHighlights(
  network: Network,
  options: HighlightOptions,
  marks: MapMarks | undefined,
): Highlights {
  const { types, states, sources, around, hops, path: pathEnds, selected } = options;
  const visible = around === undefined ? undefined : neighbourhood(network, around, hops);
  const path = pathEnds && shortestPath(network, pathEnds[0], pathEnds[1]);
  // Without a path, its two ends are highlighted.
  const pathDevices = new Set(path?.devices ?? (pathEnds ?? []).flatMap((end) => devicesOf(network, end)));
  const pathCables = new Set(path?.cables);
  const selection = selectedIds(network, selected);
  const hasFilters = types.length + states.length + sources.length > 0;
  const dimsOthers = hasFilters || pathEnds !== undefined || marks !== undefined;

  const matches = (entity: Device | Link, stateMatches: boolean, typeMatches: boolean): boolean =>
    typeMatches &&
    (states.length === 0 || stateMatches) &&
    (sources.length === 0 || entity.sources.some((source) => sources.includes(source)));
  const isDeviceHighlighted = (device: Device): boolean => {
    if (pathEnds) return pathDevices.has(device.id);
    if (marks) return marks.devices.has(device.id);
    const ownState =
      (states.includes("down") && !device.available) || (states.includes("conflict") && hasConflict(device));
    const cableState =
      states.length > 0 && network.cablesOf(device.id).some((cable) => hasState(cable, states));
    return matches(device, ownState || cableState, types.length === 0 || types.includes(device.type));
  };
  const isCableHighlighted = (cable: Cable): boolean => {
    if (pathEnds) return pathCables.has(cable.id);
    if (marks) return marks.cables.has(cable.id);
    const ends = [cable.from, cable.to].map((end) => network.devices.get(end.device));
    const typeMatches = types.length === 0 || ends.every((end) => end && types.includes(end.type));
    return cable.links.some((link) => matches(link, hasState(cable, states), typeMatches));
  };
  return {
    path,
    markWord: marks?.word ?? "",
    isVisible: (device) => visible === undefined || visible.has(device),
    device: (device) => ({
      highlighted: dimsOthers ? isDeviceHighlighted(device) : undefined,
      selected: selection.devices.has(device.id),
      onPath: pathDevices.has(device.id),
      mark: marks?.devices.get(device.id),
    }),
    cable: (cable) => ({
      highlighted: dimsOthers ? isCableHighlighted(cable) : undefined,
      selected: selection.cables.has(cable.id),
      onPath: pathCables.has(cable.id),
      mark: marks?.cables.get(cable.id),
    }),
  };
}

function hasState(cable: Cable, states: readonly string[]): boolean {
  return (
    (states.includes("inactive") && !cable.active) ||
    (states.includes("one-way") && cable.oneWay && cable.active) ||
    (states.includes("unverified") && !cable.verified) ||
    (states.includes("conflict") && cable.conflict)
  );
}

function selectedIds(network: Network, selected: ViewState["selected"]) {
  const devices = new Set<string>();
  const cables = new Set<string>();
  if (selected?.kind === "devices") devices.add(selected.id);
  if (selected?.kind === "hosts") for (const device of devicesOf(network, selected)) devices.add(device);
  if (selected?.kind === "links") {
    const link = network.links.get(selected.id);
    if (link) cables.add(cableId(link));
  }
  return { devices, cables };
}
