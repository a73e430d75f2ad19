/**
 * The layer that a device's `layer` annotation names: 0 is drawn at the top. One table for the SVG format and the
 * page's map, so that both draw a network in the same order.
 */
const LAYER_NAMES: readonly (readonly string[])[] = [
  ["core", "backbone", "wan", "super-spine", "superspine"],
  ["spine", "border"],
  ["distribution", "aggregation", "agg"],
  ["leaf", "tor"],
  ["access", "edge"],
];

/** Undefined when there is no annotation or it names no layer. */
export function namedLayer(annotation: string | undefined): number | undefined {
  const name = annotation?.trim().toLowerCase() ?? "";
  const layer = LAYER_NAMES.findIndex((names) => names.includes(name));
  return layer === -1 ? undefined : layer;
}
