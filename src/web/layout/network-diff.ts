/**
 * Finds the differences between a network and what the layout worker knows of it: devices and pairs of devices with a link
 * or a lost link that were added or removed. It yields after every entity, because a network may have tens of thousands of links. Devices keep
 * their numbers when they are removed.
 */
import { deviceNode } from "../../layout/cluster-assignment.ts";
import { pairKey, pairOf } from "../../layout/link-router.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { LayoutRequest, NumberedNode } from "./layout-messages.ts";

/** Maximum number of devices in one message, because copying a device takes about a microsecond. */
const MAX_DEVICES_PER_PART = 1000;

/** The two devices of a lost link. The layout handles the pair like that of a link. */
export interface LostPair {
  readonly a: string;
  readonly b: string;
}

export class NetworkDiff {
  /** The ids of devices by number. */
  readonly ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #devices = new Set<number>();
  #pairs = new Set<number>();

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /** Calls `send` with each part of the difference, or not at all when there is none. */
  *update(
    network: PageNetwork,
    lost: readonly LostPair[],
    send: (part: Omit<LayoutRequest, "isLast">) => void,
  ): Generator<void> {
    const removed: number[] = [];
    const connected: number[] = [];
    const disconnected: number[] = [];
    for (const number of this.#devices) {
      if (!network.devices.has(this.ids[number] ?? "")) removed.push(number);
    }
    for (const number of removed) this.#devices.delete(number);
    yield;
    yield* this.#addDevices(network, (added) => send({ ...NO_CHANGE, added }));
    const pairs = new Set<number>();
    const add = (p: string, q: string) => {
      const [a, b] = [this.#numbers.get(p), this.#numbers.get(q)];
      if (a === undefined || b === undefined || a === b) return;
      if (!this.#devices.has(a) || !this.#devices.has(b)) return;
      const key = pairKey(a, b);
      if (!pairs.has(key) && !this.#pairs.has(key)) connected.push(...pairOf(key));
      pairs.add(key);
    };
    for (const { from, to } of network.cables.values()) {
      yield;
      add(from.device, to.device);
    }
    for (const { a, b } of lost) {
      yield;
      add(a, b);
    }
    for (const key of this.#pairs) if (!pairs.has(key)) disconnected.push(...pairOf(key));
    this.#pairs = pairs;
    if (removed.length + connected.length + disconnected.length > 0)
      send({ ...NO_CHANGE, removed, connected, disconnected });
  }

  *#addDevices(network: PageNetwork, send: (added: NumberedNode[]) => void): Generator<void> {
    let added: NumberedNode[] = [];
    for (const device of network.devices.values()) {
      yield;
      const number = this.#numberFor(device.id);
      if (this.#devices.has(number)) continue;
      this.#devices.add(number);
      added.push({ number, node: deviceNode(device) });
      if (added.length < MAX_DEVICES_PER_PART) continue;
      send(added);
      added = [];
    }
    if (added.length > 0) send(added);
  }

  #numberFor(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = this.ids.push(id) - 1;
    this.#numbers.set(id, number);
    return number;
  }
}

export const NO_CHANGE = { added: [], removed: [], connected: [], disconnected: [] } as const;
