/**
 * The positions of devices and the routes of links, which the layout worker computes. A worker that fails is replaced by a
 * new one after a pause; the positions stay. The browser also stores them for the next visit.
 */
import type { Drawing } from "../../formats/svg.ts";
import { loadText, saveText } from "../data/browser-storage.ts";
import { runInSlices } from "../data/pacing.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { pairName } from "../map/bundles.ts";
import type { MapPosition } from "../map/map-clusters.ts";
import type {
  DrawingRequest,
  DrawingResponse,
  LayoutRequest,
  LayoutResponse,
  LayoutStart,
  SavedLayout,
} from "./layout-messages.ts";
import { dropRoutes, type LostPair, NetworkDiff, numberPairs } from "./network-diff.ts";

interface LayoutClient {
  /** Positions by device id. Devices that were removed keep theirs. */
  readonly positions: ReadonlyMap<string, MapPosition>;
  /**
   * Routes by pair of devices that a link or a lost link joins (`pairName`). A route is a polyline around other devices,
   * flat x and y, from the centre of the device with the lower id to the centre of the other. A straight line has two
   * points.
   */
  readonly routes: ReadonlyMap<string, Float64Array>;
  /** Requests a layout of the differences between the network and the layout. */
  update: LayoutSession["update"];
  /** Whether the positions are those of the last update. */
  isUpToDate: LayoutSession["isUpToDate"];
  /** Whether the next network is laid out from scratch, because this one is partial or there is none yet. */
  isPartial: LayoutSession["isPartial"];
  /** Draws an SVG document outside the main thread. Rejects when the worker fails. */
  draw(drawing: Drawing): Promise<string>;
}

interface LayoutHandlers {
  /** Called when the layout has changed. */
  onLayout(): void;
  /** Called with the reason when the worker fails, and with undefined when a worker works. */
  onFault(reason: string | undefined): void;
}

/** The pause before a new worker starts, so that a worker that always fails at once does not slow down the page. */
const RESTART_MS = 3000;

export function createLayoutClient(workerUrl: string, { onLayout, onFault }: LayoutHandlers): LayoutClient {
  const layout: MapLayout = { positions: new Map(), routes: new Map() };
  let newest: LayoutContent | undefined;
  const start = () =>
    startLayoutSession(workerUrl, layout, {
      onLayout() {
        onFault(undefined);
        onLayout();
      },
      onFailed(reason) {
        onFault(`the layout failed: ${reason}`);
        setTimeout(restart, RESTART_MS);
      },
    });
  let session = start();
  const restart = () => {
    session = start();
    if (newest) session.update(newest);
  };
  return {
    ...layout,
    update(input) {
      newest = input;
      session.update(input);
    },
    isUpToDate: () => session.isUpToDate(),
    isPartial: () => session.isPartial(),
    draw: (drawing) => session.draw(drawing),
  };
}

/** The input of a layout. A new list or map is sent again even if its content is the same. */
interface LayoutContent {
  readonly network: PageNetwork;
  /** The positions of pinned devices. */
  readonly pinned: PinnedPositions;
  /** Pairs of devices that have a route but do not influence positions: those of lost links. */
  readonly lost: readonly LostPair[];
}

export type PinnedPositions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** The result of the worker. */
interface MapLayout {
  readonly positions: Map<string, MapPosition>;
  readonly routes: Map<string, Float64Array>;
}

interface LayoutSessionHandlers {
  /** Called when the layout has changed. */
  onLayout(): void;
  onFailed(reason: string): void;
}

interface LayoutSession {
  update(input: LayoutContent): void;
  isUpToDate(): boolean;
  /** Whether the next network is laid out from scratch, because this one is partial or there is none yet. */
  isPartial(): boolean;
  /** Rejects when the worker fails. */
  draw(drawing: Drawing): Promise<string>;
}

/** The key under which the browser stores the positions for the next visit. */
const STORAGE_KEY = "gazetteer.layout";
const NONE_PINNED: PinnedPositions = new Map();
const NONE_LOST: readonly LostPair[] = [];

/**
 * One layout worker and the network that was sent to it. The page sends only differences of the network and receives only
 * differences of the layout; both are handled in slices of a few milliseconds. At most one request is in flight; the next
 * one uses the newest network. When the worker fails, its session ends, because the state of the worker is lost. Positions
 * that were computed from a partial network are not kept: the network that replaces it is laid out from scratch.
 */
function startLayoutSession(
  workerUrl: string,
  { positions, routes }: MapLayout,
  { onLayout, onFailed }: LayoutSessionHandlers,
): LayoutSession {
  const worker = new Worker(workerUrl, { type: "module" });
  let diff = new NetworkDiff();
  /** Pending drawings in the order of their requests. */
  const drawings: PromiseWithResolvers<string>[] = [];
  let isBusy = false;
  let hasFailed = false;
  let pending: LayoutContent | undefined;
  let sentPinned = NONE_PINNED;
  let sentLost = NONE_LOST;
  let sentVersion: readonly [PageNetwork, number] | undefined;

  const idOf = (number: number | undefined) => diff.ids[number ?? -1] ?? "";
  const saved = loadText(STORAGE_KEY);
  let isPartial = true;
  const startLayout = (network: PageNetwork) => {
    diff = new NetworkDiff();
    sentPinned = NONE_PINNED;
    sentLost = NONE_LOST;
    routes.clear();
    worker.postMessage({ start: saved ?? "", isKept: !network.isPartial } satisfies LayoutStart);
  };

  const send = ({ network, pinned, lost }: LayoutContent) => {
    isBusy = true;
    if (!sentVersion || (sentVersion[0].isPartial && network !== sentVersion[0])) startLayout(network);
    let isEmpty = true;
    sentVersion = [network, network.version];
    const post = (part: Omit<LayoutRequest, "isLast">, isLast: boolean) => {
      isEmpty = false;
      worker.postMessage({ ...part, isLast } satisfies LayoutRequest);
      for (let i = 0; i < part.disconnected.length; i += 2)
        routes.delete(pairName(idOf(part.disconnected[i]), idOf(part.disconnected[i + 1])));
    };
    const [before, numbered]: [readonly LostPair[], number[]] = [sentLost, []];
    const steps = function* () {
      yield* diff.update(network, (part) => post(part, false));
      yield* numberPairs(lost, diff, numbered);
      if (lost !== before) yield* dropRoutes(before, lost, diff, routes);
    };
    void runInSlices(steps()).then(() => {
      // After a difference they are sent again, because a pinned device or an end of a lost link may have a number only now.
      const sendsPinned = pinned !== sentPinned || (pinned.size > 0 && !isEmpty);
      const sendsLost = lost !== sentLost || (lost.length > 0 && !isEmpty);
      sentPinned = pinned;
      sentLost = lost;
      if (!sendsPinned && !sendsLost && isEmpty) return finish();
      post(
        {
          ...NO_CHANGE,
          ...(sendsPinned && { pinned: flatten(pinned, diff) }),
          ...(sendsLost && { lost: numbered }),
        },
        true,
      );
    });
  };

  const finish = () => {
    isBusy = false;
    const next = pending;
    pending = undefined;
    if (next) update(next);
  };

  const fail = (reason: string) => {
    if (hasFailed) return;
    hasFailed = true;
    worker.terminate();
    for (const { reject } of drawings) reject(new Error(`the layout failed: ${reason}`));
    onFailed(reason);
  };
  // The event has no message when the script cannot be loaded.
  worker.addEventListener("error", ({ message }) => fail(message || "its script cannot be loaded"));
  worker.addEventListener("messageerror", () => fail("its answer cannot be read"));
  type Answer = LayoutResponse | SavedLayout | DrawingResponse;
  worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
    if ("svg" in data) {
      drawings.shift()?.resolve(data.svg);
      return;
    }
    if ("saved" in data) {
      // If the browser does not store the positions, the next visit computes them.
      saveText(STORAGE_KEY, data.saved);
      return;
    }
    const apply = function* () {
      // All positions are set in one slice (10,000 take a few milliseconds), because the map may be fitted to them at any time.
      for (const [i, number] of data.devices.entries()) {
        const [x, y] = [data.positions[i * 2] ?? 0, data.positions[i * 2 + 1] ?? 0];
        positions.set(idOf(number), { x, y, cluster: data.clusters[i] ?? 0 });
      }
      yield;
      for (let i = 0; i * 2 < data.pairs.length; i++) {
        const key = pairName(idOf(data.pairs[i * 2]), idOf(data.pairs[i * 2 + 1]));
        routes.set(key, data.points.subarray(data.offsets[i], data.offsets[i + 1]));
        yield;
      }
    };
    void runInSlices(apply()).then(() => {
      if (hasFailed) return;
      isPartial = sentVersion?.[0].isPartial ?? true;
      onLayout();
      if (data.isLast) finish();
    });
  });

  const isSent = ({ network, pinned, lost }: LayoutContent) =>
    network === sentVersion?.[0] &&
    network.version === sentVersion[1] &&
    pinned === sentPinned &&
    lost === sentLost;
  const update = (input: LayoutContent) => {
    if (hasFailed) return;
    if (isBusy) pending = input;
    else if (!isSent(input)) send(input);
  };
  const draw = (drawing: Drawing): Promise<string> => {
    if (hasFailed) return Promise.reject(new Error("the layout has failed"));
    const answer = Promise.withResolvers<string>();
    drawings.push(answer);
    worker.postMessage({ drawing } satisfies DrawingRequest);
    return answer.promise;
  };
  return { update, draw, isUpToDate: () => !isBusy && !hasFailed, isPartial: () => isPartial };
}

const NO_CHANGE = { added: [], removed: [], connected: [], disconnected: [] } as const;

function flatten(pinned: PinnedPositions, diff: NetworkDiff): number[] {
  return [...pinned].flatMap(([id, { x, y }]) => {
    const number = diff.numberOf(id);
    return number === undefined ? [] : [number, x, y];
  });
}
