/** The clusters of the layout with what the map shows of them: their devices, their extent and their names. */
import type { Device } from "../../model/entity.ts";
import { deviceName } from "../names.ts";
import type { Network } from "../network.ts";

export interface MapPosition {
  readonly x: number;
  /** Upwards, as in the renderer. */
  readonly y: number;
  readonly cluster: number;
}

export interface Cluster {
  readonly index: number;
  readonly name: string;
  /** For a small space. */
  readonly shortName: string;
  readonly deviceIds: readonly string[];
  /** The beginning that the names of all its devices share. The labels of the devices leave it out. */
  readonly namePrefix: string;
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

export function createClusters(network: Network, positions: ReadonlyMap<string, MapPosition>): Cluster[] {
  const devicesByCluster: Device[][] = [];
  for (const device of network.devices.values()) {
    const cluster = positions.get(device.id)?.cluster;
    if (cluster === undefined) continue;
    const devices = devicesByCluster[cluster];
    if (devices) devices.push(device);
    else devicesByCluster[cluster] = [device];
  }
  return devicesByCluster.flatMap((devices, index) => createCluster(index, devices, network, positions));
}

function createCluster(
  index: number,
  devices: readonly Device[],
  network: Network,
  positions: ReadonlyMap<string, MapPosition>,
): Cluster {
  const points = devices.flatMap((device) => positions.get(device.id) ?? []);
  const extreme = (minOrMax: (...values: number[]) => number, axis: "x" | "y") =>
    points.reduce((value, point) => minOrMax(value, point[axis]), points[0]?.[axis] ?? 0);
  return {
    index,
    ...clusterNames(devices, network),
    deviceIds: devices.map((device) => device.id),
    namePrefix: commonPrefix(devices.map(deviceName)),
    left: extreme(Math.min, "x"),
    right: extreme(Math.max, "x"),
    bottom: extreme(Math.min, "y"),
    top: extreme(Math.max, "y"),
  };
}

/** The city and the site that its devices name, or else the name of the device with the most cables. */
function clusterNames(devices: readonly Device[], network: Network): Pick<Cluster, "name" | "shortName"> {
  const annotation = (key: string) => devices.find((device) => device.annotations[key])?.annotations[key];
  const parts = [annotation("city"), annotation("site")].filter((part) => part !== undefined);
  if (parts.length > 0) return { name: parts.join(" · "), shortName: parts.at(-1) ?? "" };
  const degree = (device: Device) => network.cablesOf(device.id).length;
  const hub = devices.reduce((best, device) => (degree(device) > degree(best) ? device : best));
  return { name: deviceName(hub), shortName: deviceName(hub) };
}

/** Ends with the last separator that all names share. Empty if a name would have nothing left. */
export function commonPrefix(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  if (rest.length === 0) return "";
  let end = first.length;
  for (const name of rest) {
    while (!name.startsWith(first.slice(0, end))) end--;
  }
  const prefix = /^.*[-._ ]/.exec(first.slice(0, end))?.[0] ?? "";
  return names.every((name) => name.length > prefix.length) ? prefix : "";
}
