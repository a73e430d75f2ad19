/** A view as the section `views` of the configuration. Values are JSON, which YAML contains, so no text needs other quotes. */
import type { MapView } from "../../model/map-view.ts";

export function printView({ name, state, arrangement = {} }: MapView): string {
  const lines = ["views:", `  - name: ${JSON.stringify(name)}`, `    state: ${JSON.stringify(state)}`];
  const { pins = [], groups = [] } = arrangement;
  if (pins.length + groups.length > 0) lines.push("    arrangement:");
  const list = (key: string, items: readonly object[]) => {
    if (items.length === 0) return;
    lines.push(`      ${key}:`, ...items.map((item) => `        - ${flow(item)}`));
  };
  list("pins", pins);
  list("groups", groups);
  return `${lines.join("\n")}\n`;
}

function flow(value: object): string {
  const fields = Object.entries(value).map(([key, field]) => `${key}: ${JSON.stringify(field)}`);
  return `{ ${fields.join(", ")} }`;
}
