/**
 * The labels of devices, hosts and clusters, each with a priority for when there is no space for all. A label is made again
 * only when its device or cluster has changed.
 */
import { deviceName, hostName } from "../data/entity-names.ts";
import type { ClusterCard } from "./cluster-scene.ts";
import type { Cluster } from "./clusters.ts";
import type { DeviceScene, SceneChanges } from "./device-scene.ts";
import { HOST_SIZE, hostIdOf } from "./host-scene.ts";
import type { Label } from "./label-draw.ts";
import type { Palette } from "./palette.ts";
import type { DeviceItem, SceneInput } from "./scene-input.ts";

/** Larger than any number of cables, so that emphasised devices have priority over well connected ones. */
const EMPHASIS_PRIORITY = 10_000;
const HOST_LABEL_SPACING_PX = 220;

/** The labels of a device scene, sorted by priority, highest first. */
export class DeviceLabels {
  sorted: readonly Label[] = [];
  readonly #byDevice = new Map<string, Label>();

  *update(
    { devices, clusters, hosts }: DeviceScene,
    changes: SceneChanges,
    input: SceneInput,
  ): Generator<void, void> {
    // The only cluster has no background with a name, so the labels contain the common prefix of the names.
    const isNamed = clusters.byIndex.size > 1;
    for (const id of changes.devices) {
      yield;
      const item = devices.get(id);
      const cluster = item && isNamed ? clusters.byIndex.get(item.position.cluster) : undefined;
      if (item) this.#byDevice.set(id, deviceLabel(item, cluster, input));
      else this.#byDevice.delete(id);
    }
    if (
      changes.devices.size === 0 &&
      hosts.positions.size === 0 &&
      this.sorted.length === this.#byDevice.size
    )
      return;
    const labels = [...this.#byDevice.values()].sort((p, q) => q.priority - p.priority);
    for (const [node, { x, y }] of hosts.positions) {
      const host = input.network.hosts.get(hostIdOf(node));
      if (host) labels.push(hostLabel(node, x, y, hostName(host), input.palette));
    }
    this.sorted = labels;
  }
}

const hostLabel = (nodeId: string, x: number, y: number, text: string, palette: Palette): Label => ({
  nodeId,
  x,
  y,
  size: HOST_SIZE,
  text,
  detail: "",
  priority: -1,
  minSpacingPx: HOST_LABEL_SPACING_PX,
  color: palette.muted,
});

function deviceLabel(
  { device, position, emphasis }: DeviceItem,
  cluster: Cluster | undefined,
  { network, palette }: SceneInput,
): Label {
  const { highlighted, selected, onPath, mark } = emphasis;
  const down = !device.available;
  const bold = selected || onPath || mark !== undefined || down || highlighted === true;
  return {
    nodeId: device.id,
    x: position.x,
    y: position.y,
    size: 1,
    text: deviceName(device).slice(cluster?.namePrefix.length ?? 0),
    detail: "",
    priority: network.cablesOf(device.id).length + (selected ? 2 : bold ? 1 : 0) * EMPHASIS_PRIORITY,
    bold,
    // The background of a cluster with one device is too small for a name.
    atEveryZoom: bold || cluster?.deviceIds.length === 1,
    color: down && !mark ? palette.down : highlighted === false ? palette.muted : palette.text,
  };
}

/** Sorted by priority, highest first. */
export function clusterLabels(
  cards: ReadonlyMap<string, ClusterCard>,
  palette: Palette,
  markWord: string,
): Label[] {
  const labels = [...cards].map(([nodeId, card]): Label => {
    const { cluster, downCount, markCount, highlighted, radius, x, y } = card;
    const deviceCount = cluster.deviceIds.length;
    const isNotable = downCount + markCount > 0;
    return {
      nodeId,
      x,
      y,
      size: radius,
      isCard: true,
      text: cluster.shortName,
      detail:
        markCount > 0
          ? `${markCount} ${markWord}`
          : downCount > 0
            ? `${downCount} down`
            : String(deviceCount),
      detailOutside: isNotable,
      priority: deviceCount + (isNotable ? EMPHASIS_PRIORITY : 0),
      bold: deviceCount > 1,
      atEveryZoom: true,
      color: downCount > 0 ? palette.down : highlighted ? palette.text : palette.muted,
    };
  });
  return labels.sort((p, q) => q.priority - p.priority);
}
