/**
 * The positions of devices and the routes of links, which the layout worker computes. The page sends only differences of
 * the network and receives only differences of the layout; both are handled in slices of a few milliseconds. At most one
 * request is in flight; the next one uses the newest network.
 *
 * A worker that fails is replaced by a new one after a pause; the positions stay. The browser also stores them for the next
 * visit. Positions that were computed from a partial network are not kept: the network that replaces it is laid out from
 * scratch.
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
import { type LostPair, NetworkDiff, NO_CHANGE } from "./network-diff.ts";

interface LayoutHandlers {
  /** Called when the layout has changed. */
  onLayout(): void;
  /** Called with the reason when the worker fails, and with undefined when a worker works. */
  onFault(reason: string | undefined): void;
}

export type PinnedPositions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** The input of a layout. A new list or map is sent again even if its content is the same. */
interface LayoutContent {
  readonly network: PageNetwork;
  /** The positions of pinned devices. */
  readonly pinned: PinnedPositions;
  /** The pairs of devices of lost links. */
  readonly lost: readonly LostPair[];
}

/** The key under which the browser stores the positions for the next visit. */
const STORAGE_KEY = "gazetteer.layout";
/** The pause before a new worker starts, so that a worker that always fails at once does not slow down the page. */
const RESTART_MS = 3000;

export class LayoutClient {
  readonly #workerUrl: string;
  readonly #handlers: LayoutHandlers;
  readonly #positions = new Map<string, MapPosition>();
  readonly #routes = new Map<string, Float64Array>();
  /** Undefined between a failure and the next worker. */
  #worker: Worker | undefined;
  #newest: LayoutContent | undefined;
  /** The content that was sent last, and the version of its devices and links. */
  #sent: (LayoutContent & { readonly graphVersion: number }) | undefined;
  #diff = new NetworkDiff();
  #isBusy = false;
  #isPartial = true;
  /** Pending drawings in the order of their requests. */
  readonly #drawings: PromiseWithResolvers<string>[] = [];

  constructor(workerUrl: string, handlers: LayoutHandlers) {
    this.#workerUrl = workerUrl;
    this.#handlers = handlers;
    this.#worker = this.#start();
  }

  /** Positions by device id. Devices that were removed keep theirs. */
  get positions(): ReadonlyMap<string, MapPosition> {
    return this.#positions;
  }

  /**
   * Routes by pair of devices that a link or a lost link joins (`pairName`). A route is a polyline around other devices,
   * flat x and y, from the centre of the device with the lower id to the centre of the other. A straight line has two
   * points.
   */
  get routes(): ReadonlyMap<string, Float64Array> {
    return this.#routes;
  }

  /** Whether the positions are those of the last update. */
  get isUpToDate(): boolean {
    return this.#worker !== undefined && !this.#isBusy;
  }

  /** Whether the next network is laid out from scratch, because this one is partial or there is none yet. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Requests a layout of the differences between the network and the layout. */
  update(content: LayoutContent): void {
    this.#newest = content;
    this.#sendNewest();
  }

  /** Draws an SVG document outside the main thread. Rejects when the worker fails. */
  draw(drawing: Drawing): Promise<string> {
    if (!this.#worker) return Promise.reject(new Error("the layout has failed"));
    const answer = Promise.withResolvers<string>();
    this.#drawings.push(answer);
    this.#worker.postMessage({ drawing } satisfies DrawingRequest);
    return answer.promise;
  }

  #start(): Worker {
    const worker = new Worker(this.#workerUrl, { type: "module" });
    const fail = (reason: string) => {
      if (worker === this.#worker) this.#fail(worker, `the layout failed: ${reason}`);
    };
    // The event has no message when the script cannot be loaded.
    worker.addEventListener("error", ({ message }) => fail(message || "its script cannot be loaded"));
    worker.addEventListener("messageerror", () => fail("its answer cannot be read"));
    type Answer = LayoutResponse | SavedLayout | DrawingResponse;
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      if ("svg" in data) this.#drawings.shift()?.resolve(data.svg);
      // If the browser does not store the positions, the next visit computes them.
      else if ("saved" in data) saveText(STORAGE_KEY, data.saved);
      else void this.#apply(worker, data);
    });
    return worker;
  }

  /** Ends the worker, whose state is lost, and starts another one later. */
  #fail(worker: Worker, reason: string): void {
    worker.terminate();
    this.#worker = undefined;
    this.#sent = undefined;
    this.#isBusy = false;
    this.#isPartial = true;
    for (const { reject } of this.#drawings.splice(0)) reject(new Error(reason));
    this.#handlers.onFault(reason);
    setTimeout(() => {
      this.#worker = this.#start();
      this.#sendNewest();
    }, RESTART_MS);
  }

  #sendNewest(): void {
    const [next, sent] = [this.#newest, this.#sent];
    if (!this.#worker || this.#isBusy || !next) return;
    const isSent = next.network === sent?.network && next.network.graphVersion === sent.graphVersion;
    if (isSent && next.pinned === sent.pinned && next.lost === sent.lost) return;
    this.#isBusy = true;
    void this.#send(this.#worker, next);
  }

  async #send(worker: Worker, content: LayoutContent): Promise<void> {
    const { network, pinned, lost } = content;
    const isNew = !this.#sent || (this.#sent.network.isPartial && network !== this.#sent.network);
    if (isNew) {
      this.#diff = new NetworkDiff();
      this.#routes.clear();
      const start = loadText(STORAGE_KEY) ?? "";
      worker.postMessage({ start, isKept: !network.isPartial } satisfies LayoutStart);
    }
    const before = isNew ? undefined : this.#sent?.pinned;
    this.#sent = { ...content, graphVersion: network.graphVersion };
    const diff = this.#diff;
    let hasChanged = false;
    const send = (part: Omit<LayoutRequest, "isLast">) => {
      hasChanged = true;
      worker.postMessage({ ...part, isLast: false } satisfies LayoutRequest);
      for (let i = 0; i < part.disconnected.length; i += 2)
        this.#routes.delete(this.#pairOf(part.disconnected[i], part.disconnected[i + 1]));
    };
    await runInSlices(diff.update(network, lost, send));
    if (worker !== this.#worker) return;
    // After a difference they are sent again, because a pinned device may have a number only now.
    const sendsPinned = pinned !== before || (pinned.size > 0 && hasChanged);
    if (!sendsPinned && !hasChanged) return this.#finish();
    const last = { ...NO_CHANGE, ...(sendsPinned && { pinned: flatten(pinned, diff) }), isLast: true };
    worker.postMessage(last satisfies LayoutRequest);
  }

  async #apply(worker: Worker, response: LayoutResponse): Promise<void> {
    await runInSlices(this.#applySteps(response));
    if (worker !== this.#worker) return;
    this.#isPartial = this.#sent?.network.isPartial ?? true;
    this.#handlers.onFault(undefined);
    this.#handlers.onLayout();
    if (response.isLast) this.#finish();
  }

  *#applySteps({ devices, positions, clusters, pairs, offsets, points }: LayoutResponse): Generator<void> {
    // All positions are set in one slice (10,000 take a few milliseconds), because the map may be fitted to them at any time.
    for (const [i, number] of devices.entries()) {
      const [x, y] = [positions[i * 2] ?? 0, positions[i * 2 + 1] ?? 0];
      this.#positions.set(this.#idOf(number), { x, y, cluster: clusters[i] ?? 0 });
    }
    yield;
    for (let i = 0; i * 2 < pairs.length; i++) {
      const key = this.#pairOf(pairs[i * 2], pairs[i * 2 + 1]);
      this.#routes.set(key, points.subarray(offsets[i], offsets[i + 1]));
      yield;
    }
  }

  #finish(): void {
    this.#isBusy = false;
    this.#sendNewest();
  }

  #idOf(number: number | undefined): string {
    return this.#diff.ids[number ?? -1] ?? "";
  }

  #pairOf(a: number | undefined, b: number | undefined): string {
    return pairName(this.#idOf(a), this.#idOf(b));
  }
}

function flatten(pinned: PinnedPositions, diff: NetworkDiff): number[] {
  return [...pinned].flatMap(([id, { x, y }]) => {
    const number = diff.numberOf(id);
    return number === undefined ? [] : [number, x, y];
  });
}
