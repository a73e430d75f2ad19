/** The map with its buttons, its keys, the legend, and a summary of the numbers of devices, cables and hosts. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ArrangeBox, ArrangeButton } from "../arrange/arrange-box.tsx";
import { onArrangeKey } from "../arrange/arrange-keys.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { type PageStore, useNetwork, usePlannedNetwork, useStore } from "../data/page-store.ts";
import { entityName, formatCount } from "../data/shown-names.ts";
import { type EntityRef, LAYER_TITLES, type MarkLayer } from "../data/view-state.ts";
import { Button, focusPanel, Icon, type IconName, Popover } from "../elements/controls.tsx";
import type { MapPoint } from "./geometry.ts";
import { HoverCard } from "./hover-card.tsx";
import { Inset } from "./inset.tsx";
import type { Hovered } from "./interaction.ts";
import { Legend } from "./legend.tsx";
import type { NetworkMap } from "./map.ts";
import { isMapShown, MapSync, mapInput } from "./map-sync.ts";
import type { MapOverview } from "./overview.ts";

const MAP_NAME =
  "Network map. Arrow keys move, plus and minus zoom, 0 shows all. Shift and an arrow key select the next device, Enter opens it, Escape closes it. The tables have the same content.";
const ARRANGE_NAME =
  "Network map. Arrow keys move the chosen devices or the selected one, Space chooses it, S its site, P pins or unpins, U undoes. Plus and minus zoom.";

interface MapViewProps {
  /** The address of the layout worker. */
  readonly workerUrl: string;
  /** The reference that is set to the map, for other components. */
  readonly map: RefObject<NetworkMap | null>;
}

export function MapView({ workerUrl, map }: MapViewProps) {
  const store = useStore();
  const input = mapInput(store, usePlannedNetwork());
  const observed = useNetwork();
  const drawn = useSignal(false);
  const sync = useRef<MapSync | undefined>(undefined);
  const element = useRef<HTMLDivElement>(null);
  const background = useRef<HTMLCanvasElement>(null);
  const graph = useRef<HTMLCanvasElement>(null);
  const hovered = useSignal<Hovered | undefined>(undefined);
  const overview = useSignal<MapOverview | undefined>(undefined);
  const labels = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (!element.current || !background.current || !graph.current || !labels.current) return;
    const layers = {
      element: element.current,
      background: background.current,
      graph: graph.current,
      labels: labels.current,
    };
    const onDrawn = (next: MapOverview | undefined) => {
      overview.value = next;
      if (!drawn.peek()) performance.mark("map-drawn");
      drawn.value = true;
    };
    sync.current = new MapSync(store, layers, { workerUrl, hovered, onDrawn });
    map.current = sync.current.map;
  }, []);
  useLayoutEffect(() => sync.current?.update(input));
  // The renderer starts while the network is loading, but after the first paint, which it would delay.
  const startsRenderer = input.state.view === "map" && input.network === undefined;
  useEffect(() => {
    if (startsRenderer) map.current?.prepare();
  }, [startsRenderer]);
  return (
    <div class="stage" hidden={!isMapShown(input)} data-drawn={drawn.value || undefined}>
      <div
        class="map-focus"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={store.arranging.isOn.value ? ARRANGE_NAME : MAP_NAME}
        aria-describedby="map-summary"
        onKeyDown={(event) =>
          onArrangeKey(event, store, map.current) || (map.current && handleMapKey(event, map.current, store))
        }
      >
        <div class="map" aria-hidden="true" ref={element}>
          <canvas class="map-layer" ref={background} />
          <canvas class="map-layer map-stage" ref={graph} />
          <canvas class="map-layer map-names" ref={labels} />
          <HoverCard hovered={hovered} map={map} element={element} />
        </div>
      </div>
      <p class="map-summary" id="map-summary" data-covers-map>
        {isMapShown(input) && observed && summarize(observed)}
      </p>
      <Inset
        overview={overview}
        onMove={(centre) => map.current?.centreOn(centre)}
        onShowAll={() => map.current?.fitAll()}
      />
      <p class="only-read" aria-live="polite">
        {isMapShown(input) && selectionText(observed, input.state.selected)}
      </p>
      <div class="map-tools" role="toolbar" aria-label="Map" data-covers-map>
        <Button label="Zoom in" icon="plus" onClick={() => map.current?.zoom(ZOOM_IN)} />
        <Button label="Zoom out" icon="minus" onClick={() => map.current?.zoom(ZOOM_OUT)} />
        <Button label="Show all" icon="fit" onClick={() => map.current?.fitAll()} />
        <LayerButton layer="drift" icon="drift" />
        <LayerButton layer="conflicts" icon="conflict" />
        <ArrangeButton />
        <Popover label="Legend" buttonLabel="Legend" face={<Icon name="legend" />}>
          {() => <Legend />}
        </Popover>
      </div>
      <ArrangeBox map={map} />
    </div>
  );
}

interface LayerButtonProps {
  readonly layer: MarkLayer;
  readonly icon: IconName;
}

function LayerButton({ layer, icon }: LayerButtonProps) {
  const { state, go, offeredLayers } = useStore();
  const pressed = state.value.layer === layer;
  if (!pressed && !offeredLayers.value[layer]) return null;
  // The marks of a comparison and those of a layer exclude each other.
  const toggle = () => go(pressed ? { layer: undefined } : { layer, compare: undefined });
  return <Button label={LAYER_TITLES[layer]} icon={icon} pressed={pressed} onClick={toggle} />;
}

/** The numbers of devices, cables and hosts, and how many of them are down. */
export function summarize(network: PageNetwork): string {
  const down = count(network.devices.values(), (device) => !device.available);
  const downCables = count(network.cables.values(), (cable) => !cable.active);
  const cutOff = network.cutOff.ids.size;
  const states = [down > 0 ? `${down} down` : "", cutOff > 0 ? `${cutOff} cut off` : ""].filter(Boolean);
  return [
    formatCount(network.devices.size, "device") + (states.length > 0 ? ` (${states.join(", ")})` : ""),
    formatCount(network.cables.size, "cable") + (downCables > 0 ? ` (${downCables} down)` : ""),
    formatCount(network.openedHosts.total, "host"),
  ].join(", ");
}

/** The text that a screen reader announces when the selection changes. */
function selectionText(network: PageNetwork | undefined, selected: EntityRef | undefined): string {
  if (!network || !selected) return "";
  const name = entityName(network, selected);
  const device = selected.kind === "devices" ? network.devices.get(selected.id) : undefined;
  if (!device) return `${name} selected`;
  const cables = formatCount(network.cablesOf(device.id).length, "cable");
  return `${name} selected, ${network.stateOf(device)}, ${cables}, ${formatCount(network.hostCount(device.id), "host")}`;
}

function count<T>(values: Iterable<T>, matches: (value: T) => boolean): number {
  let matching = 0;
  for (const value of values) if (matches(value)) matching++;
  return matching;
}

const ZOOM_IN = 0.6;
const ZOOM_OUT = 1.7;
/** The directions of the arrow keys as unit vectors; y points upwards. */
const DIRECTIONS: Readonly<Record<string, MapPoint>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
};

/**
 * Handles the keys of the map: arrows move it, and with Shift they move the selection to the next device in that direction.
 * Neighbours over a cable come before devices that are only nearby, so that the keys follow the network.
 */
function handleMapKey(event: KeyboardEvent, map: NetworkMap, store: PageStore): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { selected } = store.state.peek();
  const direction = DIRECTIONS[event.key];
  const selectNext = (towards: MapPoint) => {
    const id = map.deviceTowards(selected, towards);
    if (id !== undefined) store.pick({ kind: "devices", id });
  };
  const keys: Readonly<Record<string, () => void>> = {
    // On some keyboards plus is typed with Shift.
    "+": () => map.zoom(ZOOM_IN),
    ...(!event.shiftKey && {
      "=": () => map.zoom(ZOOM_IN),
      "-": () => map.zoom(ZOOM_OUT),
      "0": () => map.fitAll(),
      Escape: () => store.pick(undefined),
      ...(selected && { Enter: focusPanel }),
    }),
    ...(direction && {
      [event.key]: () => (event.shiftKey ? selectNext(direction) : map.pan(direction.x, direction.y)),
    }),
  };
  const run = keys[event.key];
  if (!run) return;
  event.preventDefault();
  run();
}
