/**
 * The state of the layout worker: the network as the page has sent it, the positions of its devices and the routes of its
 * links. An update returns the differences to the last one. Positions are kept when a device is removed.
 */
import type { DeviceNode } from "../../layout/cluster-assignment.ts";
import { LinkRouter, pairKey, pairOf } from "../../layout/link-router.ts";
import { DEVICE_BOX, GUTTER } from "../../layout/map-layout.ts";
import { type DevicePlaces, type LayoutPosition, placeDevices } from "./incremental-layout.ts";
import type { LayoutRequest, LayoutResponse } from "./layout-messages.ts";

/** When more devices than this have moved, positions are sent first, and lines are straight until the routes arrive. */
const MAX_MOVED_WITH_ROUTES = 1000;

type Pair = readonly [a: number, b: number];

export class LayoutState {
  readonly #nodes = new Map<number, DeviceNode>();
  readonly #pairs = new Map<number, Pair>();
  readonly #router = new LinkRouter({ box: DEVICE_BOX, gutter: GUTTER });
  /** The places of devices; y points downwards. */
  readonly #placement: DevicePlaces = { positions: new Map(), alone: new Set(), joined: 0 };
  #saved: ReadonlyMap<string, LayoutPosition> = new Map();
  /** The positions of pinned devices by device number. */
  #pinned = new Map<number, { readonly x: number; readonly y: number }>();

  /**
   * Restores the positions of an earlier visit. They are used only if the first network has the same devices. Any other
   * network is laid out anew, so that it looks as in every new browser.
   */
  restore(saved: string): void {
    this.#saved = parsePositions(saved);
  }

  /** The positions of the present devices as text. */
  save(): string {
    const { positions } = this.#placement;
    return savePositions(Array.from(this.#nodes.values(), ({ id }) => [id, positions.get(id)] as const));
  }

  add(request: LayoutRequest): void {
    for (const number of request.removed) this.#nodes.delete(number);
    for (const { number, node } of request.added) this.#nodes.set(number, node);
    for (const [a, b] of pairsOf(request.disconnected)) {
      this.#pairs.delete(pairKey(a, b));
      this.#router.disconnect(a, b);
    }
    for (const number of request.removed) this.#router.remove(number);
    for (const [a, b] of pairsOf(request.connected)) this.#pairs.set(pairKey(a, b), [a, b]);
    if (request.pinned) this.#setPinned(request.pinned);
  }

  /** Yields the differences in one or two parts: many positions come before the routes, which take longer. */
  *update(): Generator<LayoutResponse, void> {
    this.#useSaved();
    const numbers = [...this.#nodes.keys()];
    placeDevices(this.#graph(numbers), this.#placement);
    const moved = numbers.filter((number) => this.#router.place(number, this.#pointOf(number)));
    const isEarly = moved.length > MAX_MOVED_WITH_ROUTES;
    if (isEarly) yield this.#respond(moved, [], false);
    for (const [a, b] of this.#pairs.values()) this.#router.connect(a, b);
    yield this.#respond(isEarly ? [] : moved, this.#router.update(), true);
  }

  #useSaved(): void {
    if (this.#saved.size === 0) return;
    const present = [...this.#nodes.values()];
    const isSameSet = this.#saved.size === present.length && present.every(({ id }) => this.#saved.has(id));
    if (isSameSet) for (const [id, position] of this.#saved) this.#placement.positions.set(id, position);
    this.#saved = new Map();
  }

  #graph(numbers: readonly number[]) {
    const indexOf = new Map(numbers.map((number, i) => [number, i]));
    const nodes = numbers.flatMap((number) => this.#nodes.get(number) ?? []);
    const neighbours: number[][] = nodes.map(() => []);
    for (const [a, b] of this.#pairs.values()) {
      const [i, j] = [indexOf.get(a), indexOf.get(b)];
      if (i === undefined || j === undefined) continue;
      neighbours[i]?.push(j);
      neighbours[j]?.push(i);
    }
    return { nodes, neighbours };
  }

  #pointOf(number: number): LayoutPosition {
    const known = this.#placement.positions.get(this.#idOf(number)) ?? { x: 0, y: 0, cluster: 0 };
    return { ...known, ...this.#pinned.get(number) };
  }

  #idOf(number: number): string {
    return this.#nodes.get(number)?.id ?? "";
  }

  /** Replaces all pins. A device that is no longer pinned returns to its earlier position. */
  #setPinned(flat: readonly number[]): void {
    this.#pinned = new Map();
    for (let i = 0; i + 2 < flat.length; i += 3) {
      this.#pinned.set(flat[i] ?? 0, { x: flat[i + 1] ?? 0, y: -(flat[i + 2] ?? 0) });
    }
  }

  #respond(moved: readonly number[], routed: readonly number[], isLast: boolean): LayoutResponse {
    const positions = new Float64Array(moved.length * 2);
    const clusters = new Uint32Array(moved.length);
    for (const [i, number] of moved.entries()) {
      const { x, y, cluster } = this.#pointOf(number);
      positions[i * 2] = x;
      positions[i * 2 + 1] = -y;
      clusters[i] = cluster;
    }
    const pairs = new Uint32Array(routed.length * 2);
    const offsets = new Uint32Array(routed.length + 1);
    const points: number[] = [];
    for (const [i, key] of routed.entries()) {
      const [a, b] = pairOf(key);
      const route = this.#router.route(a, b) ?? new Float64Array();
      const isReversed = this.#idOf(b) < this.#idOf(a);
      pairs[i * 2] = isReversed ? b : a;
      pairs[i * 2 + 1] = isReversed ? a : b;
      for (let p = 0; p < route.length; p += 2) {
        const at = isReversed ? route.length - 2 - p : p;
        points.push(route[at] ?? 0, -(route[at + 1] ?? 0));
      }
      offsets[i + 1] = points.length;
    }
    return {
      devices: Uint32Array.from(moved),
      positions,
      clusters,
      pairs,
      offsets,
      points: Float64Array.from(points),
      isLast,
    };
  }
}

function* pairsOf(flat: readonly number[]): Generator<Pair> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? 0, flat[i + 1] ?? 0];
}

/** Maximum number of devices whose positions are saved, about 1 MB of text. Larger networks are laid out at each visit. */
const MAX_SAVED_DEVICES = 20_000;
const FIELDS = 4;

type SavedPosition = readonly [id: string, position: LayoutPosition | undefined];

/**
 * The positions that the browser stores between visits, as one text: JSON with id, x, y and cluster of each device,
 * flat. A text that is damaged or from another version counts as empty.
 */
function savePositions(positions: readonly SavedPosition[]): string {
  if (positions.length > MAX_SAVED_DEVICES) return "";
  const flat = positions.flatMap(([id, position]) =>
    position ? [id, position.x, position.y, position.cluster] : [],
  );
  return JSON.stringify(flat);
}

function parsePositions(text: string): Map<string, LayoutPosition> {
  const positions = new Map<string, LayoutPosition>();
  const flat = parseList(text);
  for (let i = 0; i + FIELDS <= flat.length; i += FIELDS) {
    const [id, x, y, cluster] = flat.slice(i, i + FIELDS);
    const isValid =
      typeof id === "string" && isNumber(x) && isNumber(y) && isNumber(cluster) && isIndex(cluster);
    if (!isValid || positions.size >= MAX_SAVED_DEVICES) return new Map();
    positions.set(id, { x, y, cluster });
  }
  return positions;
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const isIndex = (value: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < MAX_SAVED_DEVICES;
