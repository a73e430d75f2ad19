/**
 * The effective configuration as text: a valid configuration file in which a comment after each value names its origin.
 * Secrets are not shown (hide-secrets.ts).
 */
import Type from "typebox";
import { stringify } from "yaml";
import { type Origin, renderOrigin } from "./faults.ts";
import { hideSecrets, hideSecretsOfSource } from "./hide-secrets.ts";
import type { Setting } from "./settings.ts";

/** One value with its origin. */
interface Line {
  readonly text: string;
  readonly origin: Origin | undefined;
}

export function renderSettings(settings: readonly Setting[]): string {
  const lines: Line[] = [];
  let section: readonly string[] = [];
  for (const { key, value, origin, itemOrigins } of settings) {
    if (value === undefined) continue;
    const parents = key.path.slice(0, -1);
    const indent = "  ".repeat(parents.length);
    for (const [depth, name] of parents.entries()) {
      if (section[depth] !== name) lines.push({ text: `${"  ".repeat(depth)}${name}:`, origin: undefined });
    }
    section = parents;
    const name = `${indent}${key.path.at(-1)}:`;
    if (!Array.isArray(value) || value.length === 0) {
      lines.push({ text: `${name} ${renderValue(hideSecrets(value))}`, origin });
      continue;
    }
    const items = Type.IsArray(key.schema) ? key.schema.items : undefined;
    const hide = (item: unknown) =>
      key.name === "sources" ? hideSecretsOfSource(item) : hideSecrets(item, items);
    lines.push({ text: name, origin: undefined });
    for (const [index, item] of value.entries()) {
      lines.push({ text: `${indent}  - ${renderValue(hide(item))}`, origin: itemOrigins[index] });
    }
  }
  const width = Math.min(60, Math.max(...lines.map(({ text }) => text.length)));
  return lines
    .map(({ text, origin }) => (origin ? `${text.padEnd(width)}  # ${renderOrigin(origin)}\n` : `${text}\n`))
    .join("");
}

/** YAML on one line. */
const renderValue = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
