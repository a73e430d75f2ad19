/**
 * The positions of devices and the routes of links, computed by the layout worker. Only differences of the network go to
 * the worker and only differences of the layout come back; both are handled in slices of a few milliseconds. At most one
 * request is in flight; the next one uses the newest network. Positions are kept in the browser for the next visit.
 */
import type { LayoutRequest, LayoutResponse, SavedLayout } from "../layout/messages.ts";
import { NetworkDiff } from "../layout/network-diff.ts";
import { runInSlices } from "../layout/slices.ts";
import type { Network } from "../network.ts";
import type { MapPosition } from "./clusters.ts";

export interface LayoutChange {
  /** The ids of devices with another position than before. */
  readonly devices: readonly string[];
  /** The keys of routes that were added, changed or removed. */
  readonly routes: readonly string[];
}

export type PinnedPositions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

export interface LayoutClient {
  /** By device id. Also contains devices that were removed. */
  readonly positions: ReadonlyMap<string, MapPosition>;
  /**
   * By pair of devices that a link joins (`routeKey`): a polyline around other devices, flat x and y, from the centre of
   * the device with the lower id to the centre of the other. A straight line has two points.
   */
  readonly routes: ReadonlyMap<string, Float64Array>;
  /** Requests a layout of what the network has and the layout has not. Pinned devices are where the map says. */
  update(network: Network, pinned?: PinnedPositions): void;
  /** Whether the positions are those of the last update. */
  isUpToDate(): boolean;
}

export const routeKey = (a: string, b: string): string => (a < b ? `${a}|${b}` : `${b}|${a}`);

const STORAGE_KEY = "gazetteer.layout";
const NONE_PINNED: PinnedPositions = new Map();
/** The number of entries between two pauses. */
const STEP = 200;

export function createLayoutClient(
  workerUrl: string,
  onLayout: (change: LayoutChange) => void,
): LayoutClient {
  const worker = new Worker(workerUrl, { type: "module" });
  const positions = new Map<string, MapPosition>();
  const routes = new Map<string, Float64Array>();
  const diff = new NetworkDiff();
  let removedRoutes: string[] = [];
  let isBusy = false;
  let pending: { readonly network: Network; readonly pinned: PinnedPositions } | undefined;
  let sentPinned = NONE_PINNED;
  let sentVersion: readonly [Network, number] | undefined;

  const idOf = (number: number | undefined) => diff.ids[number ?? -1] ?? "";
  const saved = readSaved();
  if (saved) worker.postMessage({ saved } satisfies SavedLayout);

  const send = (network: Network, pinned: PinnedPositions) => {
    isBusy = true;
    let isEmpty = true;
    sentVersion = [network, network.version];
    const post = (part: Omit<LayoutRequest, "isLast">, isLast: boolean) => {
      isEmpty = false;
      worker.postMessage({ ...part, isLast } satisfies LayoutRequest);
      for (let i = 0; i < part.disconnected.length; i += 2) {
        const key = routeKey(idOf(part.disconnected[i]), idOf(part.disconnected[i + 1]));
        if (routes.delete(key)) removedRoutes.push(key);
      }
    };
    const steps = diff.update(network, (part) => post(part, false));
    runInSlices(steps, () => {
      // A pinned device that has appeared has a number now.
      const sendsPinned = pinned !== sentPinned || (pinned.size > 0 && !isEmpty);
      sentPinned = pinned;
      const last = { added: [], removed: [], connected: [], disconnected: [] };
      if (sendsPinned) post({ ...last, pinned: flatten(pinned, diff) }, true);
      else if (!isEmpty) post(last, true);
      else finish();
    });
  };

  const finish = () => {
    isBusy = false;
    const next = pending;
    pending = undefined;
    if (next) update(next.network, next.pinned);
  };

  worker.addEventListener("message", ({ data }: MessageEvent<LayoutResponse | SavedLayout>) => {
    if ("saved" in data) {
      writeSaved(data.saved);
      return;
    }
    const devices: string[] = [];
    const changedRoutes = removedRoutes;
    removedRoutes = [];
    const apply = function* () {
      // In one slice, 10,000 in a few milliseconds: a map that is fitted to a part of the positions shows a part of it.
      for (const [i, number] of data.devices.entries()) {
        const id = idOf(number);
        const [x, y] = [data.positions[i * 2] ?? 0, data.positions[i * 2 + 1] ?? 0];
        positions.set(id, { x, y, cluster: data.clusters[i] ?? 0 });
        devices.push(id);
      }
      yield;
      for (let i = 0; i * 2 < data.pairs.length; i++) {
        const key = routeKey(idOf(data.pairs[i * 2]), idOf(data.pairs[i * 2 + 1]));
        routes.set(key, data.points.subarray(data.offsets[i], data.offsets[i + 1]));
        changedRoutes.push(key);
        if (i % STEP === 0) yield;
      }
    };
    runInSlices(apply(), () => {
      onLayout({ devices, routes: changedRoutes });
      if (data.isLast) finish();
    });
  });

  const update = (network: Network, pinned = NONE_PINNED) => {
    if (isBusy) pending = { network, pinned };
    else if (network !== sentVersion?.[0] || network.version !== sentVersion[1] || pinned !== sentPinned)
      send(network, pinned);
  };
  return { positions, routes, update, isUpToDate: () => !isBusy };
}

function flatten(pinned: PinnedPositions, diff: NetworkDiff): number[] {
  return [...pinned].flatMap(([id, { x, y }]) => {
    const number = diff.numberOf(id);
    return number === undefined ? [] : [number, x, y];
  });
}

/** Storage may be disabled or full. The map works without. */
function readSaved(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function writeSaved(text: string): void {
  try {
    if (text === "") localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, text);
  } catch {
    // The next visit computes the layout.
  }
}
