/**
 * Synchronises the map with the state of the page: its content, its camera, and the camera in the address. The map itself
 * is imperative; Preact never renders inside it.
 */
import { computed, type ReadonlySignal, type Signal } from "@preact/signals";
import type { GroupBox } from "../../model/map-view.ts";
import { createArrangeHandlers } from "../arrange/arrange-keys.ts";
import { devicesCutOffBy } from "../data/cut-off.ts";
import type { PageNetwork } from "../data/page-network.ts";
import type { PageStore } from "../data/page-store.ts";
import { devicesOf, pathUnion } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { goToProblem } from "../problems/problem-target.ts";
import type { Bundle } from "./bundles.ts";
import { createHighlights, type Highlights } from "./highlights.ts";
import type { Hovered } from "./interaction.ts";
import type { MapLayers } from "./map.ts";
import { NetworkMap } from "./map.ts";
import { type LostCableMark, layerMarks, lostCables, problemMarks } from "./marks.ts";
import type { MapOverview } from "./overview.ts";

/** When the camera has not moved for this long, it is written to the address, and ports are loaded. */
const CAMERA_PAUSE_MS = 400;
/** How long the first map waits for the list of problems. */
const MAX_PROBLEMS_WAIT_MS = 3000;

const NO_GROUPS: readonly GroupBox[] = [];

type MapInput = ReturnType<typeof mapInput>;

/** Reads what the map shows from the store. Subscribes the caller to changes. */
export const mapInput = (store: PageStore, network: PageNetwork | undefined) => ({
  state: store.state.value,
  network,
  comparison: store.comparison.value,
  drift: store.drift.value,
  path: store.path.value,
  /** The problem that is marked, whether it is still loading, and how often the user went to one. */
  problem: store.problems.chosen.value,
  problemIsLoading: store.problems.shown.value.state === "loading",
  problemVisits: store.problems.visits.value,
  /** The problems of lost links, which are drawn where the links were, and those that the layout uses. */
  lost: store.problems.lost.value,
  causes: store.problems.causes.value,
  listedLost: store.problems.listedLost.value,
  /** Values on links. */
  overlay: store.overlay.value,
  arrangement: store.arranging.shown.value,
  pinned: store.arranging.pinned.value,
  /** The devices that are moved together. */
  chosen: store.arranging.chosen.value,
  /** The key of the arrangement: the user's own or that of a view. */
  arrangementKey: store.arranging.key.value,
});

interface MapSyncOptions {
  readonly workerUrl: string;
  readonly hovered: Signal<Hovered | undefined>;
  readonly onDrawn: (overview: MapOverview | undefined) => void;
}

export class MapSync {
  readonly map: NetworkMap;
  readonly #store: PageStore;
  #input: MapInput | undefined;
  #highlights: Highlights | undefined;
  #highlightsKey = "";
  /** The same list for the same problems, because a new list is drawn again. */
  readonly #lost: ReadonlySignal<readonly LostCableMark[]>;
  readonly #listedLost: ReadonlySignal<readonly LostCableMark[]>;
  #contentKey = "";
  #hostsVersion = 0;
  #cameraKey = "";
  /** The moment whose ports are loaded. */
  #portsAt: string | undefined;
  /** The action on the camera after the next layout, which may move the device that the camera's position is relative to. */
  #afterLayout: "save" | "restore" | undefined;
  #cameraTimer: ReturnType<typeof setTimeout> | undefined;
  #problemsTimer: ReturnType<typeof setTimeout> | undefined;
  #problemsDeadline: number | undefined;
  /** The neighbourhood, path or problem, and the selection, that were last brought into view. */
  #fittedKey: string | undefined;
  #selectionKey: string | undefined;

  constructor(store: PageStore, layers: MapLayers, { workerUrl, hovered, onDrawn }: MapSyncOptions) {
    this.#store = store;
    const { lost, listedLost, chosen } = store.problems;
    this.#lost = computed(() => lostCables(lost.value, chosen.value));
    this.#listedLost = computed(() => lostCables(listedLost.value, undefined));
    const arrange = createArrangeHandlers(store, () => this.map);
    this.map = new NetworkMap(layers, store.client, workerUrl, {
      onPick: (target) => {
        if (target?.lost) goToProblem(store, target.lost.problem);
        else store.pick(target?.bundle ? this.#nextOfBundle(target.bundle) : target?.ref);
      },
      onDoubleClick: ({ kind, id }) => kind === "devices" && this.#toggleHosts(id),
      get arrange() {
        return store.arranging.isOn.peek() ? arrange : undefined;
      },
      onHover: (next) => {
        hovered.value = next;
      },
      onCameraMoved: () => {
        hovered.value = undefined;
        this.#afterLayout = undefined;
        this.#saveCameraLater();
      },
      onUpdated: () => {
        this.#followPins();
        this.#bringIntoView();
        this.map.loadPortsInView();
      },
      onDrawn,
      onFault: (reason) => {
        store.mapFault.value = reason;
      },
    });
  }

  /** Called after each rendering, when the container of the map has its size. */
  update(input: MapInput): void {
    const previous = this.#input;
    this.#input = input;
    const { state, network, comparison, drift, overlay, problem } = input;
    if (!isMapShown(input) || !network) return;
    // The first layout uses the lost links, so that a page that is opened during an outage shows the map of before.
    if (!this.#highlights && input.problemIsLoading && this.#waitsForProblems()) return;
    const cameraKey = JSON.stringify(state.camera);
    if (state.camera && cameraKey !== this.#cameraKey) {
      this.#cameraKey = cameraKey;
      this.map.setCamera(state.camera);
    }
    const { types, states, sources, around, hops, path, selected, expanded, layer } = state;
    const filters = [types, states, sources, around, hops, path, layer];
    // A host that was found is loaded after it is selected, and it may move to another device.
    const hostDevices = selected?.kind === "hosts" ? devicesOf(network, selected) : [];
    const highlightsKey = JSON.stringify([filters, selected, hostDevices, comparison?.from, comparison?.to]);
    // Ports are not loaded again at each step of playback, because their names and speeds seldom change.
    if (!state.play) this.#portsAt = state.at;
    const { graphVersion, cutOff, openedHosts } = network;
    const contentKey = JSON.stringify([highlightsKey, expanded, graphVersion, cutOff.version, this.#portsAt]);
    const hasChanged = (...keys: (keyof MapInput)[]) => keys.some((key) => previous?.[key] !== input[key]);
    const { pinned, arrangement } = input;
    const isCompleted = previous?.network?.isPartial && previous.network !== network;
    // A move of the user that is not in the address yet would be undone.
    if (isCompleted && this.#cameraTimer === undefined) this.#afterLayout = "restore";
    if (previous && previous.pinned !== pinned)
      this.#afterLayout = previous.arrangementKey === input.arrangementKey ? "save" : "restore";
    const isMarkedAnew = hasChanged("network", "drift", "path", "problem", "chosen");
    const isDrawnAnew = isMarkedAnew || hasChanged("overlay", "lost", "listedLost", "causes", "arrangement");
    const isVisited = hasChanged("problemVisits", "problemIsLoading");
    // Without filters, a change of the network does not change highlights, so that only changed entities are drawn again.
    const dependsOnNetwork =
      [...types, ...states, ...sources].length > 0 || around !== undefined || path || layer || comparison;
    const isSame = contentKey === this.#contentKey && !isDrawnAnew && !isVisited;
    if (isSame && openedHosts.version === this.#hostsVersion) return;
    this.#contentKey = contentKey;
    this.#hostsVersion = openedHosts.version;
    // Most changes of a network are of hosts, and of these only the numbers are seen.
    if (isSame && !dependsOnNetwork && expanded.length === 0 && selected?.kind !== "hosts") {
      this.map.redrawHostCounts();
      return;
    }
    if (!this.#highlights || dependsOnNetwork || isMarkedAnew || highlightsKey !== this.#highlightsKey)
      this.#highlights = createHighlights(
        network,
        state,
        problemMarks(problem) ?? comparison?.marks ?? layerMarks(layer, network, drift),
        state.path && input.path && pathUnion(network, input.path),
        input.chosen,
      );
    this.#highlightsKey = highlightsKey;
    this.map.show({
      network,
      observed: this.#store.network.peek(),
      highlights: this.#highlights,
      expanded: new Set(expanded),
      at: this.#portsAt,
      overlay,
      lost: this.#lost.peek(),
      causes: input.causes,
      listedLost: this.#listedLost.peek(),
      pinned,
      groups: arrangement.groups ?? NO_GROUPS,
    });
    // Waits until the other components are rendered, because a panel that opens takes space from the map.
    queueMicrotask(() => this.#bringIntoView());
  }

  /** Whether the list of problems is still waited for. It may take long, and a map without it is better than none. */
  #waitsForProblems(): boolean {
    this.#problemsDeadline ??= performance.now() + MAX_PROBLEMS_WAIT_MS;
    const waitMs = this.#problemsDeadline - performance.now();
    if (waitMs <= 0) return false;
    clearTimeout(this.#problemsTimer);
    this.#problemsTimer = setTimeout(() => this.#input && this.update(this.#input), waitMs);
    return true;
  }

  /** The first cable of a bundle, or the one after the selected cable, so that each click selects another one. */
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

  /**
   * Handles the camera after a layout. When the user pins a device, the camera stays and is saved. When another arrangement
   * or the layout of the whole network after a partial one is shown, the camera moves to that of the address.
   */
  #followPins(): void {
    if (!this.#afterLayout || !this.map.isLaidOut) return;
    const camera = this.#store.state.peek().camera;
    if (this.#afterLayout === "save") this.#saveCameraLater();
    else if (camera) this.map.setCamera(camera);
    this.#afterLayout = undefined;
  }

  #saveCameraLater(): void {
    clearTimeout(this.#cameraTimer);
    this.#cameraTimer = setTimeout(() => {
      this.#cameraTimer = undefined;
      const camera = this.map.savedCamera();
      this.map.loadPortsInView();
      if (!camera) return;
      this.#cameraKey = JSON.stringify(camera);
      this.#store.adjust({ camera });
    }, CAMERA_PAUSE_MS);
  }

  /**
   * Moves the camera once to each new neighbourhood, path, problem or selection, as soon as its devices have a position.
   * When the page is opened, the camera of the address has priority. A problem that ends or returns does not move the
   * camera, because the key contains the id that the user chose, whether or not the problem exists.
   */
  #bringIntoView(): void {
    if (!this.#input?.network) return;
    const { state, network, problem, problemIsLoading, problemVisits } = this.#input;
    const { around, hops, path, camera, selected, expanded } = state;
    const opensWithCamera = this.#fittedKey === undefined && camera !== undefined;
    const fittedKey = JSON.stringify([around, hops, path, state.problem, problemVisits]);
    const selectionKey = JSON.stringify([selected, expanded.length]);
    if (opensWithCamera) {
      if (this.map.savedCamera() === undefined) return;
      [this.#fittedKey, this.#selectionKey] = [fittedKey, selectionKey];
      return;
    }
    // The camera moves to a path or a problem only after it is loaded.
    const isKnown =
      (!path || this.#highlights?.path !== undefined) && (state.problem === undefined || !problemIsLoading);
    if (fittedKey !== this.#fittedKey && !isKnown) return;
    if (fittedKey !== this.#fittedKey && (around !== undefined || path)) {
      const devices = path
        ? (this.#highlights?.path?.devices ?? path.flatMap((end) => devicesOf(network, end)))
        : [...network.devices.keys()].filter((id) => this.#highlights?.isVisible(id));
      if (!this.map.fitDevices(devices)) return;
    }
    if (problem && fittedKey !== this.#fittedKey) {
      const affected = [...problem.devices, ...devicesCutOffBy(problem, network)];
      if (affected.some((id) => network.devices.has(id))) {
        if (!this.map.fitDevices(affected)) return;
        // The selected entity is one of these, and the camera must not move on to it alone.
        this.#selectionKey = selectionKey;
      }
    }
    this.#fittedKey = fittedKey;
    if (selectionKey === this.#selectionKey) return;
    // A host that was found may not be loaded yet.
    if (selected && !network.isKnown(selected.kind, selected.id)) return;
    const isPresent = selected !== undefined && network[selected.kind].has(selected.id);
    const isCloseUp = selected?.kind === "hosts" || expanded.includes(selected?.id ?? "");
    if (isPresent && !this.map.bringIntoView(devicesOf(network, selected), isCloseUp)) return;
    this.#selectionKey = selectionKey;
  }
}

export const isMapShown = ({ state, network }: MapInput): boolean =>
  state.view === "map" && network !== undefined && network.devices.size > 0;
