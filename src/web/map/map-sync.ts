/**
 * Keeps the map equal to the state of the page: what it shows, where its camera is, and the camera in the address. The
 * map itself is imperative; Preact never renders inside it.
 */
import type { Signal } from "@preact/signals";
import type { DriftList } from "../drift.ts";
import type { Comparison } from "../history.ts";
import type { Network } from "../network.ts";
import type { LinkOverlay } from "../overlay.ts";
import { devicesOf, type LoadedPath, pathUnion } from "../path.ts";
import type { EntityRef, ViewState } from "../state.ts";
import type { Store } from "../store.ts";
import type { Bundle } from "./bundles.ts";
import { createHighlights, type Highlights } from "./highlights.ts";
import type { Hovered } from "./interaction.ts";
import { layerMarks } from "./layer-marks.ts";
import { type MapLayers, NetworkMap } from "./map.ts";

/** When the camera has not moved for this long, it is written to the address, and ports are loaded. */
const CAMERA_PAUSE_MS = 400;

export interface MapInput {
  readonly state: ViewState;
  readonly network: Network | undefined;
  readonly comparison: Comparison | undefined;
  readonly drift: DriftList | undefined;
  readonly path: LoadedPath | undefined;
  /** Values on links. */
  readonly overlay?: LinkOverlay | undefined;
}

interface MapSyncOptions {
  readonly workerUrl: string;
  readonly hovered: Signal<Hovered | undefined>;
  readonly onDrawn: () => void;
}

export class MapSync {
  readonly map: NetworkMap;
  readonly #store: Store;
  #input: MapInput | undefined;
  #highlights: Highlights | undefined;
  #highlightsKey = "";
  #contentKey = "";
  #cameraKey = "";
  /** The moment of the ports. */
  #portsAt: string | undefined;
  #cameraTimer: ReturnType<typeof setTimeout> | undefined;
  /** The neighbourhood or path, and the selection, that were last brought into view. */
  #fittedKey: string | undefined;
  #selectionKey: string | undefined;

  constructor(store: Store, layers: MapLayers, { workerUrl, hovered, onDrawn }: MapSyncOptions) {
    this.#store = store;
    this.map = new NetworkMap(layers, store.client, workerUrl, {
      onPick: (ref, bundle) => store.pick(bundle ? this.#nextOfBundle(bundle) : ref),
      onDoubleClick: ({ kind, id }) => kind === "devices" && this.#toggleHosts(id),
      onHover: (next) => {
        hovered.value = next;
      },
      onCameraMoved: () => {
        hovered.value = undefined;
        this.#saveCameraLater();
      },
      onUpdated: () => {
        this.#bringIntoView();
        this.map.loadPortsInView();
      },
      onDrawn,
    });
  }

  /** Called after each rendering, when the container of the map has its size. */
  update(input: MapInput): void {
    const previous = this.#input;
    this.#input = input;
    const { state, network, comparison, drift, overlay } = input;
    if (!isMapShown(input) || !network) return;
    const cameraKey = JSON.stringify(state.camera);
    if (state.camera && cameraKey !== this.#cameraKey) {
      this.#cameraKey = cameraKey;
      this.map.setCamera(state.camera);
    }
    const { types, states, sources, around, hops, path, selected, expanded, layer } = state;
    const filters = [types, states, sources, around, hops, path, layer];
    const highlightsKey = JSON.stringify([filters, selected, comparison?.from, comparison?.to]);
    // They are not loaded again at each step of a play: names and speeds of ports seldom change.
    if (!state.play) this.#portsAt = state.at;
    const contentKey = JSON.stringify([highlightsKey, expanded, network.version, this.#portsAt]);
    const isSame = previous?.network === network && previous.drift === drift && previous.path === input.path;
    if (contentKey === this.#contentKey && isSame && previous.overlay === overlay) return;
    this.#contentKey = contentKey;
    // Without filters, a change of the network emphasises nothing else, and only the changed entities are drawn again.
    const dependsOnNetwork =
      [...types, ...states, ...sources].length > 0 || around !== undefined || path || layer || comparison;
    if (!this.#highlights || dependsOnNetwork || !isSame || highlightsKey !== this.#highlightsKey)
      this.#highlights = createHighlights(
        network,
        state,
        comparison?.marks ?? layerMarks(layer, network, drift),
        state.path && input.path && pathUnion(network, input.path),
      );
    this.#highlightsKey = highlightsKey;
    const at = this.#portsAt;
    this.map.show({ network, highlights: this.#highlights, expanded: new Set(expanded), at, overlay });
    this.#bringIntoView();
  }

  /** The first cable of a bundle, or the one after the selected cable: each click shows another one. */
  #nextOfBundle({ cables }: Bundle): EntityRef | undefined {
    const { selected } = this.#store.state.peek();
    const current = cables.findIndex(({ links }) => links.some(({ id }) => id === selected?.id));
    const link = cables[(current + 1) % cables.length]?.links[0];
    return link && { kind: "links", id: link.id };
  }

  #toggleHosts(device: string): void {
    const { expanded } = this.#store.state.peek();
    const others = expanded.filter((id) => id !== device);
    this.#store.go({ expanded: expanded.includes(device) ? others : [...others, device] });
  }

  #saveCameraLater(): void {
    clearTimeout(this.#cameraTimer);
    this.#cameraTimer = setTimeout(() => {
      const camera = this.map.savedCamera();
      this.map.loadPortsInView();
      if (!camera) return;
      this.#cameraKey = JSON.stringify(camera);
      this.#store.adjust({ camera });
    }, CAMERA_PAUSE_MS);
  }

  /**
   * Moves the camera once to each new neighbourhood, path or selection, as soon as its devices have a position. The camera
   * of the address wins when the page is opened.
   */
  #bringIntoView(): void {
    if (!this.#input?.network) return;
    const { state, network } = this.#input;
    const { around, hops, path, camera, selected, expanded } = state;
    const opensWithCamera = this.#fittedKey === undefined && camera !== undefined;
    const fittedKey = JSON.stringify([around, hops, path]);
    const selectionKey = JSON.stringify([selected, expanded.length]);
    if (opensWithCamera) {
      if (this.map.savedCamera() === undefined) return;
      [this.#fittedKey, this.#selectionKey] = [fittedKey, selectionKey];
      return;
    }
    // The camera moves to a path when all of it is known.
    if (path && fittedKey !== this.#fittedKey && !this.#highlights?.path) return;
    if (fittedKey !== this.#fittedKey && (around !== undefined || path)) {
      const devices = path
        ? (this.#highlights?.path?.devices ?? path.flatMap((end) => devicesOf(network, end)))
        : [...network.devices.keys()].filter((id) => this.#highlights?.isVisible(id));
      if (!this.map.fitDevices(devices)) return;
    }
    this.#fittedKey = fittedKey;
    if (selectionKey === this.#selectionKey) return;
    const isKnown = selected !== undefined && network[selected.kind].has(selected.id);
    if (isKnown && !this.map.bringIntoView(selected, expanded.includes(selected.id))) return;
    this.#selectionKey = selectionKey;
  }
}

export const isMapShown = ({ state, network }: MapInput): boolean =>
  state.view === "map" && network !== undefined && network.devices.size > 0;
