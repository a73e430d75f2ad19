/**
 * One layout worker with what it knows of the network. Only differences of the network go to it and only differences of the
 * layout come back; both are handled in slices of a few milliseconds. At most one request is in flight; the next one uses
 * the newest network. When the worker fails, its session ends, because nobody knows what the worker has seen.
 *
 * Positions that were computed from a part of the network are not kept: the network that replaces it has a layout of its
 * own, as if the page had been opened with it.
 */
import type { Drawing } from "../../formats/svg.ts";
import type { CoastlineResult } from "../coastline/coastline.ts";
import type {
  CoastlineRequest,
  CoastlineResponse,
  DrawingRequest,
  DrawingResponse,
  LayoutRequest,
  LayoutResponse,
  LayoutStart,
  SavedLayout,
} from "../layout/messages.ts";
import { NetworkDiff } from "../layout/network-diff.ts";
import { runInSlices } from "../layout/slices.ts";
import type { Network } from "../network.ts";
import type { MapPosition } from "./clusters.ts";

export type PinnedPositions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** What the worker has computed. */
export interface Layout {
  readonly positions: Map<string, MapPosition>;
  readonly routes: Map<string, Float64Array>;
}

export interface LayoutSessionHandlers {
  /** The layout has changed. */
  onLayout(): void;
  onFailed(reason: string): void;
  /** The coastline for the sites of the layout, or why there is none. */
  onCoastline(coastline: CoastlineResult): void;
}

export interface LayoutSession {
  update(network: Network, pinned: PinnedPositions): void;
  isUpToDate(): boolean;
  /** Whether all devices get another position with the next network: this one is a part of it, or there is none yet. */
  isPartial(): boolean;
  /** Rejects when the worker fails. */
  draw(drawing: Drawing): Promise<string>;
  /** The address of the land; empty is without a coastline. */
  setLand(landUrl: string): void;
}

export const routeKey = (a: string, b: string): string => (a < b ? `${a}|${b}` : `${b}|${a}`);

const STORAGE_KEY = "gazetteer.layout";
const NONE_PINNED: PinnedPositions = new Map();
/** The number of entries between two pauses. */
const STEP = 200;

export function startLayoutSession(
  workerUrl: string,
  { positions, routes }: Layout,
  { onLayout, onFailed, onCoastline }: LayoutSessionHandlers,
): LayoutSession {
  const worker = new Worker(workerUrl, { type: "module" });
  let diff = new NetworkDiff();
  /** In the order of the requests. */
  const drawings: PromiseWithResolvers<string>[] = [];
  let isBusy = false;
  let hasFailed = false;
  let pending: { readonly network: Network; readonly pinned: PinnedPositions } | undefined;
  let sentPinned = NONE_PINNED;
  let sentVersion: readonly [Network, number] | undefined;

  const idOf = (number: number | undefined) => diff.ids[number ?? -1] ?? "";
  const saved = readSaved();
  let isPartial = true;
  const startLayout = (network: Network) => {
    diff = new NetworkDiff();
    sentPinned = NONE_PINNED;
    routes.clear();
    worker.postMessage({ start: saved ?? "", isKept: !network.isPartial } satisfies LayoutStart);
  };

  const send = (network: Network, pinned: PinnedPositions) => {
    isBusy = true;
    if (!sentVersion || (sentVersion[0].isPartial && network !== sentVersion[0])) startLayout(network);
    let isEmpty = true;
    sentVersion = [network, network.version];
    const post = (part: Omit<LayoutRequest, "isLast">, isLast: boolean) => {
      isEmpty = false;
      worker.postMessage({ ...part, isLast } satisfies LayoutRequest);
      for (let i = 0; i < part.disconnected.length; i += 2)
        routes.delete(routeKey(idOf(part.disconnected[i]), idOf(part.disconnected[i + 1])));
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

  const fail = (reason: string) => {
    if (hasFailed) return;
    hasFailed = true;
    worker.terminate();
    for (const { reject } of drawings) reject(new Error(`the layout failed: ${reason}`));
    onFailed(reason);
  };
  // A script that cannot be loaded gives an event without a message.
  worker.addEventListener("error", ({ message }) => fail(message || "its script cannot be loaded"));
  worker.addEventListener("messageerror", () => fail("its answer cannot be read"));
  type Answer = LayoutResponse | SavedLayout | DrawingResponse | CoastlineResponse;
  worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
    if ("svg" in data) {
      drawings.shift()?.resolve(data.svg);
      return;
    }
    if ("coastline" in data) {
      onCoastline(data.coastline);
      return;
    }
    if ("saved" in data) {
      writeSaved(data.saved);
      return;
    }
    const apply = function* () {
      // In one slice, 10,000 in a few milliseconds: a map that is fitted to a part of the positions shows a part of it.
      for (const [i, number] of data.devices.entries()) {
        const [x, y] = [data.positions[i * 2] ?? 0, data.positions[i * 2 + 1] ?? 0];
        positions.set(idOf(number), { x, y, cluster: data.clusters[i] ?? 0 });
      }
      yield;
      for (let i = 0; i * 2 < data.pairs.length; i++) {
        const key = routeKey(idOf(data.pairs[i * 2]), idOf(data.pairs[i * 2 + 1]));
        routes.set(key, data.points.subarray(data.offsets[i], data.offsets[i + 1]));
        if (i % STEP === 0) yield;
      }
    };
    runInSlices(apply(), () => {
      if (hasFailed) return;
      isPartial = sentVersion?.[0].isPartial ?? true;
      onLayout();
      if (data.isLast) finish();
    });
  });

  const update = (network: Network, pinned: PinnedPositions) => {
    if (hasFailed) return;
    if (isBusy) pending = { network, pinned };
    else if (network !== sentVersion?.[0] || network.version !== sentVersion[1] || pinned !== sentPinned)
      send(network, pinned);
  };
  const draw = (drawing: Drawing): Promise<string> => {
    if (hasFailed) return Promise.reject(new Error("the layout has failed"));
    const answer = Promise.withResolvers<string>();
    drawings.push(answer);
    worker.postMessage({ drawing } satisfies DrawingRequest);
    return answer.promise;
  };
  const setLand = (landUrl: string) => {
    if (!hasFailed) worker.postMessage({ landUrl } satisfies CoastlineRequest);
  };
  return { update, draw, setLand, isUpToDate: () => !isBusy && !hasFailed, isPartial: () => isPartial };
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
