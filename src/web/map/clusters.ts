/** The parts of the map as the page knows them: who belongs to each, where it lies, and what to call it. */
import type { Device } from "../../model/entity.ts";
import { deviceName } from "../names.ts";
import type { Network } from "../network.ts";

export interface Spot {
  readonly x: number;
  /** Upwards, as the renderer has it. */
  readonly y: number;
  readonly block: number;
}

export interface Block {
  readonly index: number;
  readonly name: string;
  /** For where there is little room. */
  readonly short: string;
  readonly members: readonly string[];
  /** What all their names begin with: said once, on the plate. */
  readonly prefix: string;
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

export function createBlocks(network: Network, spots: ReadonlyMap<string, Spot>): Block[] {
  const members: Device[][] = [];
  for (const device of network.devices.values()) {
    const block = spots.get(device.id)?.block;
    if (block === undefined) continue;
    const list = members[block];
    if (list) list.push(device);
    else members[block] = [device];
  }
  return members.flatMap((devices, index) => createBlock(index, devices, network, spots));
}

function createBlock(
  index: number,
  devices: readonly Device[],
  network: Network,
  spots: ReadonlyMap<string, Spot>,
): Block {
  const places = devices.flatMap((device) => spots.get(device.id) ?? []);
  const of = (pick: (...values: number[]) => number, axis: "x" | "y") =>
    places.reduce((found, place) => pick(found, place[axis]), places[0]?.[axis] ?? 0);
  return {
    index,
    ...blockNames(devices, network),
    members: devices.map((device) => device.id),
    prefix: commonPrefix(devices.map(deviceName)),
    left: of(Math.min, "x"),
    right: of(Math.max, "x"),
    bottom: of(Math.min, "y"),
    top: of(Math.max, "y"),
  };
}

/** The city and the site they name, or else the best connected device. */
function blockNames(devices: readonly Device[], network: Network): { name: string; short: string } {
  const said = (key: string) => devices.find((device) => device.annotations[key])?.annotations[key];
  const words = [said("city"), said("site")].filter((word) => word !== undefined);
  if (words.length > 0) return { name: words.join(" · "), short: words.at(-1) ?? "" };
  const degree = (device: Device) => network.cablesOf(device.id).length;
  const busiest = devices.reduce((best, device) => (degree(device) > degree(best) ? device : best));
  return { name: deviceName(busiest), short: deviceName(busiest) };
}

/** Up to and with the last separator that all share; nothing where that would leave a name empty. */
export function commonPrefix(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  if (rest.length === 0) return "";
  let end = first.length;
  for (const name of rest) {
    while (!name.startsWith(first.slice(0, end))) end--;
  }
  const shared = /^.*[-._ ]/.exec(first.slice(0, end))?.[0] ?? "";
  return names.every((name) => name.length > shared.length) ? shared : "";
}
