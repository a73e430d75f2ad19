/**
 * Decides which devices and cables match the filters of the map. The highlights of the map and the counts beside the
 * filters use the same rules.
 */
import type { Cable } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Device, Link } from "../../model/entity.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { ViewState } from "../data/view-state.ts";

/** The values of the state filter and their labels. */
export const STATE_FILTERS = {
  down: "Device down",
  "cut-off": "Device cut off",
  inactive: "Cable down",
  "one-way": "Cable one-way",
  unverified: "Cable not verified",
  conflict: "Contradictory reports",
} as const;

type Filters = Pick<ViewState, "types" | "states" | "sources">;

export function createFilterMatch(network: PageNetwork, { types, states, sources }: Filters) {
  const matches = (entity: Device | Link, stateMatches: boolean, typeMatches: boolean): boolean =>
    typeMatches &&
    (states.length === 0 || stateMatches) &&
    (sources.length === 0 || entity.sources.some((source) => sources.includes(source)));
  const atCables = devicesAtCables(network, states);
  return {
    /** Whether a device matches by its own state or by that of one of its cables. */
    device(device: Device): boolean {
      const ownState = deviceStates(network, device).some((state) => states.includes(state));
      const stateMatches = ownState || atCables.has(device.id);
      return matches(device, stateMatches, types.length === 0 || types.includes(device.type));
    },
    cable(cable: Cable): boolean {
      const ends = [cable.from, cable.to].map((end) => network.devices.get(end.device));
      const typeMatches = types.length === 0 || ends.every((end) => end && types.includes(end.type));
      return cable.links.some((link) => matches(link, hasState(cable, states), typeMatches));
    },
  };
}

/** The devices with a cable in one of the states. One pass over all cables is faster than one per device. */
function devicesAtCables(network: PageNetwork, states: readonly string[]): ReadonlySet<string> {
  const devices = new Set<string>();
  if (states.length === 0) return devices;
  for (const cable of network.cables.values())
    if (hasState(cable, states)) devices.add(cable.from.device).add(cable.to.device);
  return devices;
}

const hasState = (cable: Cable, states: readonly string[]): boolean =>
  cableStates(cable).some((state) => states.includes(state));

const STATE_VALUES = { up: [], down: ["down"], "cut off": ["cut-off"] } as const;

function deviceStates(network: PageNetwork, device: Device): string[] {
  return [...STATE_VALUES[network.stateOf(device)], ...(hasConflict(device) ? ["conflict"] : [])];
}

function cableStates(cable: Cable): string[] {
  const states: string[] = [];
  if (!cable.active) states.push("inactive");
  else if (cable.oneWay) states.push("one-way");
  if (!cable.verified) states.push("unverified");
  if (cable.conflict) states.push("conflict");
  return states;
}

type Counts = ReadonlyMap<string, number>;

/**
 * Counts the devices and cables on the map for each value of each filter. The filters of the other groups apply, so that the count of a value is the number of
 * entities that stay highlighted when only that value is chosen in its group.
 */
export function countFilters(network: PageNetwork, filters: Filters, isVisible: (device: string) => boolean) {
  const without = {
    types: createFilterMatch(network, { ...filters, types: [] }),
    states: createFilterMatch(network, { ...filters, states: [] }),
    sources: createFilterMatch(network, { ...filters, sources: [] }),
  };
  const types = new Map<string, number>();
  const sources = new Map<string, number>();
  const states = new Map<string, number>(Object.keys(STATE_FILTERS).map((state) => [state, 0]));
  for (const device of network.devices.values()) {
    if (!isVisible(device.id)) continue;
    if (without.types.device(device)) increase(types, device.type);
    if (without.states.device(device))
      for (const state of deviceStates(network, device)) increase(states, state);
    if (without.sources.device(device)) for (const source of device.sources) increase(sources, source);
  }
  for (const cable of network.cables.values()) {
    if (!isVisible(cable.from.device) || !isVisible(cable.to.device)) continue;
    if (without.states.cable(cable)) for (const state of cableStates(cable)) increase(states, state);
    if (without.sources.cable(cable))
      for (const source of new Set(cable.links.flatMap((link) => link.sources))) increase(sources, source);
  }
  return { types: inOrder(types), states, sources: inOrder(sources) };
}

function increase(counts: Map<string, number>, value: string): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

const inOrder = (counts: Counts): Counts => new Map([...counts].sort(([p], [q]) => (p < q ? -1 : 1)));
