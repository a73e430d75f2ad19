/**
 * The effective configuration as text: a valid configuration file in which a comment after each value names its origin.
 * Secrets are not shown: values of keys that are named like one, and passwords in URLs.
 */
import { stringify } from "yaml";
import { type Origin, renderOrigin } from "./faults.ts";
import { isRecord, type Setting } from "./settings.ts";

const SECRET_NAME = /passw|secret|token|community|credential|(api|auth|private|priv).?key|^environment$/i;
const HIDDEN = "(hidden)";

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
      lines.push({ text: `${name} ${renderValue(value)}`, origin });
      continue;
    }
    lines.push({ text: name, origin: undefined });
    for (const [index, item] of value.entries()) {
      lines.push({ text: `${indent}  - ${renderValue(item)}`, origin: itemOrigins[index] });
    }
  }
  const width = Math.min(60, Math.max(...lines.map(({ text }) => text.length)));
  return lines
    .map(({ text, origin }) => (origin ? `${text.padEnd(width)}  # ${renderOrigin(origin)}\n` : `${text}\n`))
    .join("");
}

/** YAML on one line. */
function renderValue(value: unknown): string {
  return stringify(hideSecrets(value), { collectionStyle: "flow", lineWidth: 0 }).trim();
}

function hideSecrets(value: unknown): unknown {
  if (typeof value === "string")
    return value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/:@]*):[^/@]*@/i, `$1:${HIDDEN}@`);
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, SECRET_NAME.test(name) ? HIDDEN : hideSecrets(item)]),
  );
}
