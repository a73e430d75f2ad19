/** The map with what stands around it: zoom buttons, legend, keys, and a sentence that says what is shown. */
import { createPopover } from "../bar/popover.tsx";
import { button, h, replace } from "../dom.ts";
import { icon } from "../icon.tsx";
import { devicesOf } from "../path.ts";
import type { Actions, Model, Part } from "../store.ts";
import { createFocus, type Focus } from "./highlights.ts";
import { legend, mapSummary } from "./legend.tsx";
import { createMap } from "./map.ts";

export interface MapStage extends Part {
  png(): Promise<Blob>;
}

/** The address follows the camera, but not at every frame. */
const CAMERA_PAUSE_MS = 400;

export function createMapStage(actions: Actions, workerUrl: string): MapStage {
  let model: Model | undefined;
  let focus: Focus | undefined;
  let [focusKey, goneTo, framed] = ["", "", ""];
  let cameraTimer: ReturnType<typeof setTimeout> | undefined;
  let cameraSet = "";

  const map = createMap(workerUrl, {
    pick: (ref) => actions.pick(ref),
    open(ref) {
      if (ref.kind !== "devices" || !model) return;
      const { expanded } = model.state;
      const others = expanded.filter((id) => id !== ref.id);
      actions.go({ expanded: expanded.includes(ref.id) ? others : [...others, ref.id] });
    },
    moved(camera) {
      clearTimeout(cameraTimer);
      cameraTimer = setTimeout(() => {
        cameraSet = JSON.stringify(camera);
        actions.adjust({ camera });
      }, CAMERA_PAUSE_MS);
    },
    drawn() {
      performance.mark("map-drawn");
      element.dataset.drawn = "true";
      if (model) goWhereAsked(model);
    },
  });
  const summary = h("p", { class: "map-summary", id: "map-summary" });
  const signs = createPopover("Legend", icon("legend"), () => replace(signs.body, legend()));
  const tools = h(
    "div",
    { class: "map-tools", role: "toolbar", "aria-label": "Map" },
    button("Zoom in", () => map.zoom(0.6), { icon: icon("plus") }),
    button("Zoom out", () => map.zoom(1.7), { icon: icon("minus") }),
    button("Show all", () => map.fit(), { icon: icon("fit") }),
    signs.element,
  );
  const picture = h(
    "div",
    {
      class: "map-focus",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map",
      "aria-label":
        "Network map. Arrow keys move, plus and minus zoom, 0 shows all. The tables have the same content.",
      "aria-describedby": "map-summary",
      onkeydown: (event: KeyboardEvent) => onKey(event),
    },
    map.element,
  );
  const element = h("div", { class: "stage" }, picture, summary, tools);

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => map.pan(-1, 0),
      ArrowRight: () => map.pan(1, 0),
      ArrowUp: () => map.pan(0, 1),
      ArrowDown: () => map.pan(0, -1),
      "+": () => map.zoom(0.6),
      "=": () => map.zoom(0.6),
      "-": () => map.zoom(1.7),
      "0": () => map.fit(),
      Escape: () => actions.pick(undefined),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Brings what was asked for into sight, once each time it is asked. */
  function goWhereAsked({ state, network }: Model): void {
    if (!network) return;
    const whole = JSON.stringify([state.around, state.hops, state.path]);
    if (whole !== framed && (state.around !== undefined || state.path)) {
      const devices = state.path
        ? (focus?.way?.devices ?? state.path.flatMap((end) => devicesOf(network, end)))
        : [...network.devices.keys()].filter((id) => focus?.isShown(id));
      if ((!state.camera || framed !== "") && !map.frame(devices)) return;
    }
    framed = whole;
    const { selected, expanded } = state;
    const wanted = JSON.stringify([selected, expanded.length]);
    if (wanted === goneTo) return;
    const isThere = selected !== undefined && network[selected.kind].has(selected.id);
    if (isThere && !map.goTo(selected, expanded.includes(selected.id))) return;
    goneTo = wanted;
  }

  return {
    element,
    png: () => map.png(),
    update(next) {
      const before = model;
      model = next;
      const { state, network, comparison } = next;
      element.hidden = state.view !== "map" || network === undefined || network.devices.size === 0;
      if (state.view === "map" && network === undefined) map.prepare();
      if (element.hidden || !network) return;
      const camera = JSON.stringify(state.camera);
      if (state.camera && camera !== cameraSet && before?.state.camera !== state.camera) {
        cameraSet = camera;
        map.setCamera(state.camera);
      }
      const { types, states, sources, around, hops, path, selected, expanded } = state;
      const key = JSON.stringify([
        types,
        states,
        sources,
        around,
        hops,
        path,
        selected,
        expanded,
        network.version,
        comparison?.from,
        comparison?.to,
      ]);
      if (key === focusKey && before?.network === network) return;
      focusKey = key;
      focus = createFocus(network, state, comparison?.marks);
      map.show({ network, focus, expanded: new Set(expanded) });
      goWhereAsked(next);
      const down = [...network.devices.values()].filter((device) => !device.available).length;
      const inactive = [...network.cables.values()].filter((cable) => !cable.active).length;
      summary.textContent = mapSummary(
        network.devices.size,
        down,
        network.cables.size,
        inactive,
        network.hostsLoaded ? network.hosts.size : undefined,
      );
    },
  };
}
