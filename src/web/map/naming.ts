/** Which names stand on the map, and which go first where there is no room for all. */
import { counted, deviceName, hostName } from "../names.ts";
import type { Block } from "./blocks.ts";
import { ALWAYS, type Name } from "./names.ts";
import type { Palette } from "./palette.ts";
import type { BlockSummary, Drawing, SceneInput } from "./scene.ts";
import { hostOfNode, isHostNode } from "./scene.ts";

export function namesNear(input: SceneInput, drawing: Drawing, blocks: readonly Block[]): Name[] {
  const { network, spots, focus, palette } = input;
  const names: Name[] = [];
  // On a single plate nothing says the prefix.
  const prefixes =
    blocks.length > 1 ? new Map(blocks.map(({ index, prefix }) => [index, prefix])) : undefined;
  drawing.forEachNode((node, { x, y, size }) => {
    if (isHostNode(node)) {
      const host = network.hosts.get(hostOfNode(node));
      if (host)
        names.push({
          node,
          text: hostName(host),
          count: 0,
          detail: "",
          x,
          y,
          size,
          weight: -1,
          color: palette.muted,
        });
      return;
    }
    const device = network.devices.get(node);
    if (!device) return;
    const { lit, selected, onPath, mark } = focus.device(device);
    const hosts = network.hostCount(node);
    const stands = selected || onPath || mark !== undefined || (lit !== false && !device.available);
    const weight = network.cablesOf(node).length + (selected ? 3 : stands ? 2 : lit ? 1 : 0) * ALWAYS;
    const prefix = prefixes?.get(spots.get(node)?.block ?? -1) ?? "";
    const text = deviceName(device).slice(prefix.length);
    const color = lit === false ? palette.muted : device.available || mark ? palette.text : palette.down;
    names.push({ node, text, count: hosts, detail: "", x, y, size, weight, color });
  });
  return names.sort((p, q) => q.weight - p.weight);
}

export function namesFar(
  summaries: ReadonlyMap<string, BlockSummary>,
  drawing: Drawing,
  palette: Palette,
): Name[] {
  const names = [...summaries].map(([node, { block, down, lit }]) => {
    const { x, y, size } = drawing.getNodeAttributes(node);
    const count = counted(block.members.length, "device");
    const weight = block.members.length + (down > 0 ? 2 : 1) * ALWAYS;
    const detail = down > 0 ? `${count}, ${down} down` : count;
    return {
      node,
      text: block.name,
      count: 0,
      detail,
      x,
      y,
      size: size * 0.8,
      weight,
      color: lit ? palette.text : palette.muted,
    };
  });
  return names.sort((p, q) => q.weight - p.weight);
}
