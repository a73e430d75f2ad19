/** Which names stand on the map, and which go first where there is no room for all. */
import type { Device, Host } from "../../model/entity.ts";
import { deviceName, hostName } from "../names.ts";
import type { Block } from "./clusters.ts";
import type { Name } from "./label-draw.ts";
import type { Palette } from "./palette.ts";
import { SMALLEST_RADIUS } from "./projection.ts";
import type { BlockSummary, Drawing, SceneInput } from "./render-graph.ts";
import { hostOfNode, isHostNode } from "./render-graph.ts";
import { CARD } from "./style.ts";

type Spot = Pick<Name, "node" | "x" | "y" | "size">;

/** Above every number of cables: what was asked for goes before what is merely large. */
const ASKED = 10_000;
const ROOM_FOR_HOSTS = 220;
/** A card this high has room for its own name. */
const ROOMY_CARD_PX = 16;

export function namesNear(input: SceneInput, drawing: Drawing, blocks: readonly Block[]): Name[] {
  const { network, spots, palette } = input;
  const names: Name[] = [];
  // On a single plate nothing says the prefix.
  const plates = new Map(blocks.length > 1 ? blocks.map((block) => [block.index, block]) : []);
  drawing.forEachNode((node, { x, y, size }) => {
    const spot = { node, x, y, size };
    const host = isHostNode(node) ? network.hosts.get(hostOfNode(node)) : undefined;
    const device = network.devices.get(node);
    if (host) names.push(hostNameOn(spot, host, palette));
    else if (device) names.push(deviceNameOn(spot, device, input, plates.get(spots.get(node)?.block ?? -1)));
  });
  return names.sort((p, q) => q.weight - p.weight);
}

function hostNameOn(spot: Spot, host: Host, palette: Palette): Name {
  return {
    ...spot,
    text: hostName(host),
    detail: "",
    count: 0,
    weight: -1,
    room: ROOM_FOR_HOSTS,
    color: palette.muted,
  };
}

function deviceNameOn(spot: Spot, device: Device, input: SceneInput, block: Block | undefined): Name {
  const { network, focus, palette } = input;
  const { lit, selected, onPath, mark } = focus.device(device);
  const down = lit !== false && !device.available;
  const strong = selected || onPath || mark !== undefined || down || lit === true;
  return {
    ...spot,
    text: deviceName(device).slice(block?.prefix.length ?? 0),
    detail: "",
    count: network.hostCount(device.id),
    weight: network.cablesOf(device.id).length + (selected ? 2 : strong ? 1 : 0) * ASKED,
    strong,
    // A lone device has no plate that says where it is.
    always: strong || block?.members.length === 1,
    color: lit === false ? palette.muted : down && !mark ? palette.down : palette.text,
  };
}

export function namesFar(
  summaries: ReadonlyMap<string, BlockSummary>,
  drawing: Drawing,
  palette: Palette,
): Name[] {
  const names = [...summaries].map(([node, { block, down, lit }]): Name => {
    const { x, y, size } = drawing.getNodeAttributes(node);
    const inside = size * SMALLEST_RADIUS * CARD.height > ROOMY_CARD_PX;
    return {
      node,
      x,
      y,
      size: size * CARD.height,
      inside,
      text: block.short,
      detail: down > 0 ? `${down} down` : inside ? String(block.members.length) : "",
      count: 0,
      weight: block.members.length + (down > 0 ? ASKED : 0),
      strong: block.members.length > 1,
      always: true,
      color: down > 0 ? palette.down : lit ? palette.text : palette.muted,
    };
  });
  return names.sort((p, q) => q.weight - p.weight);
}
