/**
 * The effective configuration as text: a valid configuration file in which a comment after each value names its origin.
 * Secrets are not shown (hide-secrets.ts). Paths are absolute, so that the text means the same in every folder.
 */
import { stringify } from "yaml";
import { type Origin, renderOrigin } from "./faults.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { itemSchemaOf } from "./keys.ts";
import { type Setting, withPathsFrom } from "./settings.ts";

/** One value with its origin. */
interface Line {
  readonly text: string;
  readonly origin: Origin | undefined;
}

export function renderSettings(settings: readonly Setting[]): string {
  const lines: Line[] = [];
  let section: readonly string[] = [];
  for (const { key, value, origin, itemOrigins } of settings.map((one) =>
    withPathsFrom(process.cwd(), one),
  )) {
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
    lines.push({ text: name, origin: undefined });
    for (const [index, item] of value.entries()) {
      lines.push({
        text: `${indent}  - ${renderValue(hideSecrets(item, itemSchemaOf(key, item)))}`,
        origin: itemOrigins[index],
      });
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
