/**
 * Topologies for tests and measurements. Port 1 of every switch is for a host; cables use the ports from 2 on, in the
 * order in which they are listed.
 */
import { EmulatedNetwork, type EmulatedSwitch } from "./emulator.ts";

export type SwitchPair = readonly [number, number];

export function line(count: number): SwitchPair[] {
  return Array.from({ length: count - 1 }, (_, i): SwitchPair => [i + 1, i + 2]);
}

export function ring(count: number): SwitchPair[] {
  return [...line(count), [count, 1]];
}

/** Every switch except the first has a parent; each has up to `fanout` children. */
export function tree(count: number, fanout: number): SwitchPair[] {
  return Array.from({ length: count - 1 }, (_, i): SwitchPair => [Math.floor(i / fanout) + 1, i + 2]);
}

/** A grid whose rows and columns are rings. */
export function torus(rows: number, columns: number): SwitchPair[] {
  const at = (row: number, column: number) => (row % rows) * columns + (column % columns) + 1;
  const pairs: SwitchPair[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      pairs.push([at(row, column), at(row, column + 1)], [at(row, column), at(row + 1, column)]);
    }
  }
  return pairs;
}

export interface BuiltNetwork {
  readonly net: EmulatedNetwork;
  /** The ports of each pair. */
  readonly wires: readonly {
    readonly a: EmulatedSwitch;
    readonly portA: number;
    readonly b: EmulatedSwitch;
    readonly portB: number;
  }[];
}

/** The datapath ids begin after `dpidOffset`, so that two networks can exist at the same time. */
export function buildNetwork(count: number, pairs: readonly SwitchPair[], dpidOffset = 0): BuiltNetwork {
  const degree = new Map<number, number>();
  for (const pair of pairs) for (const dpid of pair) degree.set(dpid, (degree.get(dpid) ?? 0) + 1);
  const net = new EmulatedNetwork();
  for (let dpid = 1; dpid <= count; dpid++) net.add(dpidOffset + dpid, 1 + (degree.get(dpid) ?? 0));
  const next = new Map<number, number>();
  const free = (dpid: number) => {
    const port = next.get(dpid) ?? 2;
    next.set(dpid, port + 1);
    return port;
  };
  const wires = pairs.map(([first, second]) => {
    const wire = {
      a: net.get(dpidOffset + first),
      portA: free(first),
      b: net.get(dpidOffset + second),
      portB: free(second),
    };
    net.wire(wire.a, wire.portA, wire.b, wire.portB);
    return wire;
  });
  return { net, wires };
}
