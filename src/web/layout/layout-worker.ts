/** The layout worker: computes positions and routes outside the main thread, so that they do not block the page. */
import { drawNetwork } from "../../formats/svg.ts";
import type {
  DrawingRequest,
  DrawingResponse,
  LayoutRequest,
  LayoutResponse,
  LayoutStart,
  SavedLayout,
} from "./layout-messages.ts";
import { LayoutState } from "./layout-state.ts";

/** Positions are saved when they have not changed for this long. */
const SAVE_PAUSE_MS = 1000;

let state = new LayoutState();
let isKept = true;
let saveTimer: ReturnType<typeof setTimeout> | undefined;

type Request = LayoutRequest | LayoutStart | DrawingRequest;

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  if ("drawing" in data) {
    postMessage({ svg: [...drawNetwork(data.drawing)].join("") } satisfies DrawingResponse);
    return;
  }
  if ("start" in data) {
    clearTimeout(saveTimer);
    state = new LayoutState();
    state.restore(data.start);
    isKept = data.isKept;
    return;
  }
  state.add(data);
  if (!data.isLast) return;
  let hasMoved = false;
  for (const response of state.update()) {
    const { devices, positions, clusters, pairs, offsets, points } = response;
    const buffers = [devices, positions, clusters, pairs, offsets, points].map(({ buffer }) => buffer);
    // The length is read before the transfer, which empties the arrays.
    if (devices.length > 0) hasMoved = true;
    postMessage(response satisfies LayoutResponse, { transfer: buffers });
  }
  if (!hasMoved || !isKept) return;
  clearTimeout(saveTimer);
  saveTimer = setTimeout(() => postMessage({ saved: state.save() } satisfies SavedLayout), SAVE_PAUSE_MS);
});
