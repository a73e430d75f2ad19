/**
 * Combines the filters, the neighbourhood, the path, the selection and the comparison of the page into one emphasis for
 * each device and cable. Only the devices outside a neighbourhood are hidden. Devices that do not match a filter are
 * dimmed, so that the matching ones are seen in their surroundings.
 */
import { type Cable, cableId } from "../../model/cable.ts";
import type { Device } from "../../model/entity.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { devicesOf, neighbourhood, type PathHighlight } from "../data/shown-path.ts";
import type { ViewState } from "../data/view-state.ts";
import { createFilterMatch } from "./filter-match.ts";
import type { Emphasis, Mark } from "./style.ts";

/** The result of a comparison or the content of a layer, by device id and by cable id. */
export interface MapMarks {
  readonly devices: ReadonlyMap<string, Mark>;
  readonly cables: ReadonlyMap<string, Mark>;
  /** The word after the number of marked devices of a cluster. */
  readonly word: string;
}

const NONE: ReadonlySet<string> = new Set();

export type Highlights = ReturnType<typeof createHighlights>;

type HighlightOptions = Pick<
  ViewState,
  "types" | "states" | "sources" | "around" | "hops" | "path" | "selected"
>;

export function createHighlights(
  network: PageNetwork,
  options: HighlightOptions,
  marks: MapMarks | undefined,
  path?: PathHighlight,
  chosen: ReadonlySet<string> = NONE,
) {
  const { types, states, sources, around, hops, path: pathEnds, selected } = options;
  const visible = around === undefined ? undefined : neighbourhood(network, around, hops);
  // Until the paths are loaded, the two ends are highlighted.
  const pathDevices = new Set(path?.devices ?? (pathEnds ?? []).flatMap((end) => devicesOf(network, end)));
  const pathCables = new Set(path?.cables);
  const selection = selectedIds(network, selected);
  const hasFilters = types.length + states.length + sources.length > 0;
  const dimsOthers = hasFilters || pathEnds !== undefined || marks !== undefined;

  const match = createFilterMatch(network, options);
  const isDeviceHighlighted = (device: Device): boolean => {
    if (pathEnds) return pathDevices.has(device.id);
    return marks ? marks.devices.has(device.id) : match.device(device);
  };
  const isCableHighlighted = (cable: Cable): boolean => {
    if (pathEnds) return pathCables.has(cable.id);
    return marks ? marks.cables.has(cable.id) : match.cable(cable);
  };
  return {
    path,
    /** The id of the selected host. */
    selectedHost: selected?.kind === "hosts" ? selected.id : undefined,
    /** The word after the number of marked devices. */
    markWord: marks?.word ?? "",
    isVisible: (device: string): boolean => visible === undefined || visible.has(device),
    device: (device: Device): Emphasis => ({
      highlighted: dimsOthers ? isDeviceHighlighted(device) : undefined,
      selected: selection.devices.has(device.id) || chosen.has(device.id),
      onPath: pathDevices.has(device.id),
      mark: marks?.devices.get(device.id),
    }),
    cable: (cable: Cable): Emphasis => ({
      highlighted: dimsOthers ? isCableHighlighted(cable) : undefined,
      selected: selection.cables.has(cable.id),
      onPath: pathCables.has(cable.id),
      mark: marks?.cables.get(cable.id),
    }),
  };
}

function selectedIds(network: PageNetwork, selected: ViewState["selected"]) {
  const devices = new Set<string>();
  const cables = new Set<string>();
  if (selected?.kind === "devices") devices.add(selected.id);
  if (selected?.kind === "hosts") for (const device of devicesOf(network, selected)) devices.add(device);
  if (selected?.kind === "links") {
    const link = network.links.get(selected.id);
    if (link) cables.add(cableId(link));
  }
  return { devices, cables };
}
