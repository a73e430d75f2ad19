/**
 * The clusters of a graph: its strongly connected components, found by Tarjan's algorithm on typed arrays, in steps. The
 * stack is explicit, because a chain of ten thousand switches would overflow the call stack.
 */
import { COST, Pause, type Steps, sortInSteps } from "../lib/steps.ts";

interface Members {
  /** The device ids in order. */
  readonly devices: readonly string[];
  readonly links: readonly string[];
}

/** The part of `GraphDevice` that clusters depend on. */
interface ClusterDevice {
  readonly id: string;
  readonly available: boolean | undefined;
  readonly out: readonly ClusterLink[];
  /** The numbers of the devices at the other ends of the links that join clusters. */
  readonly joined: readonly number[];
}

interface ClusterLink {
  readonly id: string;
  readonly to: number;
  readonly active: boolean;
  readonly indirect: boolean;
}

type Devices = readonly (ClusterDevice | undefined)[];

export interface Components {
  readonly count: number;
  /** The number of the component of each device, or -1 where it has none. */
  readonly componentOf: Int32Array;
}

const NONE = -1;

export const joins = ({ active, indirect }: Pick<ClusterLink, "active" | "indirect">): boolean =>
  active && !indirect;

export function* findComponents(devices: Devices): Steps<Components> {
  const count = devices.length;
  const order = new Int32Array(count).fill(NONE);
  const low = new Int32Array(count);
  const componentOf = new Int32Array(count).fill(NONE);
  /** The devices that are not in a component yet, in the order in which they were reached. */
  const open = new Int32Array(count);
  const path = new Int32Array(count);
  /** The index of the next link to follow, by device. */
  const nextLink = new Int32Array(count);
  let reached = 0;
  let openCount = 0;
  let components = 0;
  const pause = new Pause();
  for (let root = 0; root < count; root++) {
    if (order[root] !== NONE || !devices[root]?.available) continue;
    let depth = 0;
    path[0] = root;
    order[root] = low[root] = reached++;
    open[openCount++] = root;
    while (depth >= 0) {
      if (pause.due(COST.item)) yield;
      const at = path[depth] ?? 0;
      const index = nextLink[at] ?? 0;
      nextLink[at] = index + 1;
      const to = devices[at]?.joined[index];
      if (to !== undefined) {
        if (order[to] === NONE) {
          if (!devices[to]?.available) continue;
          path[++depth] = to;
          order[to] = low[to] = reached++;
          open[openCount++] = to;
        } else if (componentOf[to] === NONE) low[at] = Math.min(low[at] ?? 0, order[to] ?? 0);
        continue;
      }
      depth--;
      const parent = path[depth] ?? 0;
      if (depth >= 0) low[parent] = Math.min(low[parent] ?? 0, low[at] ?? 0);
      if (low[at] !== order[at]) continue;
      for (let member = NONE; member !== at; ) {
        member = open[--openCount] ?? at;
        componentOf[member] = components;
      }
      components++;
    }
  }
  return { count: components, componentOf };
}

/** The members of each component, ordered by their lowest device id. */
export function* membersOf(devices: Devices, { count, componentOf }: Components): Steps<readonly Members[]> {
  const members = Array.from({ length: count }, () => ({ devices: [] as string[], links: [] as string[] }));
  const pause = new Pause();
  for (const [number, device] of devices.entries()) {
    const component = members[componentOf[number] ?? NONE];
    if (!device || !component) continue;
    component.devices.push(device.id);
    for (const link of device.out) {
      if (joins(link) && componentOf[link.to] === componentOf[number]) component.links.push(link.id);
    }
    if (pause.due((1 + device.out.length) * COST.item)) yield;
  }
  const clusters: Members[] = [];
  for (const component of members) {
    clusters.push({
      devices: yield* sortInSteps(component.devices, compare),
      links: yield* sortInSteps(component.links, compare),
    });
    if (clusters.length % 100 === 0) yield;
  }
  return yield* sortInSteps(clusters, (a, b) => compare(a.devices[0] ?? "", b.devices[0] ?? ""));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
