/**
 * What stands out: filters, a neighbourhood, a way between two things, a selection, a comparison, folded into one
 * answer per device and cable. Hidden is only what lies outside a neighbourhood; everything else merely fades, since
 * a part without its surroundings is hard to place.
 */
import { type Cable, cableId } from "../../model/cable.ts";
import { type Device, hasConflict, type Link } from "../../model/entity.ts";
import type { Network } from "../network.ts";
import { devicesOf, neighbourhood, type Path, shortestPath } from "../path.ts";
import type { ViewState } from "../state.ts";
import type { Emphasis, Mark } from "./style.ts";

export const STATES = {
  down: "Device down",
  inactive: "Link inactive",
  "one-way": "Link one-way",
  unverified: "Link not verified",
  conflict: "Conflicting claims",
} as const;

/** By device id and cable id: what a comparison found. */
export interface Marks {
  readonly devices: ReadonlyMap<string, Mark>;
  readonly cables: ReadonlyMap<string, Mark>;
}

export interface Focus {
  readonly way: Path | undefined;
  isShown(device: string): boolean;
  device(device: Device): Emphasis;
  cable(cable: Cable): Emphasis;
}

type Asked = Pick<ViewState, "types" | "states" | "sources" | "around" | "hops" | "path" | "selected">;

export function createFocus(network: Network, asked: Asked, marks: Marks | undefined): Focus {
  const { types, states, sources, around, hops, path, selected } = asked;
  const near = around === undefined ? undefined : neighbourhood(network, around, hops);
  const way = path && shortestPath(network, path[0], path[1]);
  const wayDevices = new Set(way?.devices ?? (path ?? []).flatMap((end) => devicesOf(network, end)));
  const wayCables = new Set(way?.cables);
  const chosen = selectedThings(network, selected);
  const filtering = types.length + states.length + sources.length > 0;
  const fading = filtering || path !== undefined || marks !== undefined;

  const passes = (entity: Device | Link, state: boolean, type: boolean): boolean =>
    type &&
    (states.length === 0 || state) &&
    (sources.length === 0 || entity.sources.some((source) => sources.includes(source)));
  const deviceLit = (device: Device): boolean => {
    if (path) return wayDevices.has(device.id);
    if (marks) return marks.devices.has(device.id);
    const state =
      (states.includes("down") && !device.available) || (states.includes("conflict") && hasConflict(device));
    const atEnd = states.length > 0 && network.cablesOf(device.id).some((cable) => cableState(cable, states));
    return passes(device, state || atEnd, types.length === 0 || types.includes(device.type));
  };
  const cableLit = (cable: Cable): boolean => {
    if (path) return wayCables.has(cable.id);
    if (marks) return marks.cables.has(cable.id);
    const ends = [cable.from, cable.to].map((end) => network.devices.get(end.device));
    const type = types.length === 0 || ends.every((end) => end && types.includes(end.type));
    return cable.links.some((link) => passes(link, cableState(cable, states), type));
  };
  return {
    way,
    isShown: (device) => near === undefined || near.has(device),
    device: (device) => ({
      lit: fading ? deviceLit(device) : undefined,
      selected: chosen.devices.has(device.id),
      onPath: wayDevices.has(device.id),
      mark: marks?.devices.get(device.id),
    }),
    cable: (cable) => ({
      lit: fading ? cableLit(cable) : undefined,
      selected: chosen.cables.has(cable.id),
      onPath: wayCables.has(cable.id),
      mark: marks?.cables.get(cable.id),
    }),
  };
}

function cableState(cable: Cable, states: readonly string[]): boolean {
  return (
    (states.includes("inactive") && !cable.active) ||
    (states.includes("one-way") && cable.oneWay && cable.active) ||
    (states.includes("unverified") && !cable.verified) ||
    (states.includes("conflict") && cable.conflict)
  );
}

function selectedThings(network: Network, selected: ViewState["selected"]) {
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
