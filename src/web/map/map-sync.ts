/**
 * Keeps the map equal to the state of the page: what it shows, where its camera is, and the camera in the address. The
 * map itself is imperative; Preact never renders inside it.
 */
import type { DriftList } from "../drift.ts";
import type { Comparison } from "../history.ts";
import type { Network } from "../network.ts";
import type { LinkOverlay } from "../overlay.ts";
import { devicesOf } from "../path.ts";
import type { Camera, ViewState } from "../state.ts";
import type { Store } from "../store.ts";
import { createHighlights, type Highlights } from "./highlights.ts";
import { layerMarks } from "./layer-marks.ts";
import { createMap, type MapLayers, type NetworkMap } from "./map.ts";

/** The camera is written to the address when it has not moved for this long. */
const CAMERA_PAUSE_MS = 400;

export interface MapInput {
  readonly state: ViewState;
  readonly network: Network | undefined;
  readonly comparison: Comparison | undefined;
  readonly drift: DriftList | undefined;
  readonly overlay: LinkOverlay | undefined;
}

export class MapSync {
  readonly map: NetworkMap;
  readonly #store: Store;
  #input: MapInput | undefined;
  #highlights: Highlights | undefined;
  #contentKey = "";
  #cameraKey = "";
  #cameraTimer: ReturnType<typeof setTimeout> | undefined;
  /** The neighbourhood or path, and the selection, that were last brought into view. */
  #fittedKey = "";
  #selectionKey = "";

  constructor(store: Store, layers: MapLayers, workerUrl: string, onDrawn: () => void) {
    this.#store = store;
    this.map = createMap(layers, workerUrl, {
      onPick: (ref) => store.pick(ref),
      onDoubleClick: ({ kind, id }) => kind === "devices" && this.#toggleHosts(id),
      onCameraMoved: (camera) => this.#saveCamera(camera),
      onDrawn: () => {
        onDrawn();
        this.#bringIntoView();
      },
    });
  }

  /** Called after each rendering, when the container of the map has its size. */
  update(input: MapInput): void {
    const previous = this.#input;
    this.#input = input;
    const { state, network, comparison, drift, overlay } = input;
    if (!isMapShown(input) || !network) return;
    const cameraKey = JSON.stringify(state.camera);
    if (state.camera && cameraKey !== this.#cameraKey && previous?.state.camera !== state.camera) {
      this.#cameraKey = cameraKey;
      this.map.setCamera(state.camera);
    }
    const { types, states, sources, around, hops, path, selected, expanded, layer } = state;
    const filters = [types, states, sources, around, hops, path, selected, expanded, layer];
    const contentKey = JSON.stringify([filters, network.version, comparison?.from, comparison?.to]);
    const isSame = previous?.network === network && previous.drift === drift && previous.overlay === overlay;
    if (contentKey === this.#contentKey && isSame) return;
    this.#contentKey = contentKey;
    this.#highlights = createHighlights(
      network,
      state,
      comparison?.marks ?? layerMarks(layer, network, drift),
    );
    this.map.show({ network, highlights: this.#highlights, expanded: new Set(expanded), overlay });
    this.#bringIntoView();
  }

  #toggleHosts(device: string): void {
    const { expanded } = this.#store.state.peek();
    const others = expanded.filter((id) => id !== device);
    this.#store.go({ expanded: expanded.includes(device) ? others : [...others, device] });
  }

  #saveCamera(camera: Camera): void {
    clearTimeout(this.#cameraTimer);
    this.#cameraTimer = setTimeout(() => {
      this.#cameraKey = JSON.stringify(camera);
      this.#store.adjust({ camera });
    }, CAMERA_PAUSE_MS);
  }

  /** Moves the camera once to each new neighbourhood, path or selection, as soon as its devices have a position. */
  #bringIntoView(): void {
    if (!this.#input?.network) return;
    const { state, network } = this.#input;
    const { around, hops, path, camera, selected, expanded } = state;
    const fittedKey = JSON.stringify([around, hops, path]);
    if (fittedKey !== this.#fittedKey && (around !== undefined || path)) {
      const devices = path
        ? (this.#highlights?.path?.devices ?? path.flatMap((end) => devicesOf(network, end)))
        : [...network.devices.keys()].filter((id) => this.#highlights?.isVisible(id));
      // The camera of the address wins when the page is opened.
      if ((!camera || this.#fittedKey !== "") && !this.map.fitDevices(devices)) return;
    }
    this.#fittedKey = fittedKey;
    const selectionKey = JSON.stringify([selected, expanded.length]);
    if (selectionKey === this.#selectionKey) return;
    const isKnown = selected !== undefined && network[selected.kind].has(selected.id);
    if (isKnown && !this.map.bringIntoView(selected, expanded.includes(selected.id))) return;
    this.#selectionKey = selectionKey;
  }
}

export const isMapShown = ({ state, network }: MapInput): boolean =>
  state.view === "map" && network !== undefined && network.devices.size > 0;
