/**
 * The effective configuration as text: a valid configuration file in which a comment after each value names its origin.
 * Secrets are not shown. Paths are absolute, so that the text means the same in every folder.
 */
import type Type from "typebox";
import { stringify } from "yaml";
import { schemaOption } from "../lib/schema-faults.ts";
import { copyValue } from "../lib/schema-values.ts";
import { VARIABLE_PATTERN } from "../sources/secret.ts";
import { renderOrigin, type SettingOrigin } from "./faults.ts";
import { itemSchemaOf, type Setting, withPathsFrom } from "./settings.ts";

/** A line of the output, with the origin of its value. */
interface Line {
  readonly text: string;
  readonly origin: SettingOrigin | undefined;
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

/** Renders a value as YAML on one line. */
const renderValue = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();

// Secrets in values of the configuration are replaced: values that a schema marks as secret, values with a name like that of a
// secret (a misspelt key, an unknown kind of source, a parameter in the query of a URL), and user names and passwords in
// URLs. The path of a file and the name of a variable that hold a secret are shown, because operators need them.

const SECRET_NAME = /passw|passphrase|secret|token|community|credential|(api|auth|private|priv).?key/i;
const FILE_NAME = /File$/;
const VARIABLE_NAME = /Env$/;
const VARIABLE = new RegExp(VARIABLE_PATTERN);
/** Matches up to the last @, because a password may contain one. */
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/:@]*):.*@/is;
const URL_USER = /^([a-z][a-z0-9+.-]*:\/\/)[^/:@]+@/i;
/** A parameter of a query, with its value. */
const URL_PARAMETER = /([?&])([^=&?#]+)=[^&#]*/g;
const HIDDEN = "(hidden)";

/** Replaces the secrets in a value. `schema` is the schema of the value, if there is one. */
export const hideSecrets = (value: unknown, schema?: Type.TSchema): unknown =>
  copyValue(value, schema, (part, partSchema, name) => {
    if (partSchema && schemaOption(partSchema, "secret") === true) return HIDDEN;
    if (isNamedLikeSecret(name, part)) return HIDDEN;
    return typeof part === "string" ? hideSecretsInUrl(part) : undefined;
  });

const hideSecretsInUrl = (text: string): string =>
  text
    .replace(URL_PASSWORD, `$1:${HIDDEN}@`)
    .replace(URL_USER, `$1${HIDDEN}@`)
    .replace(URL_PARAMETER, (parameter, start, name) =>
      SECRET_NAME.test(name) ? `${start}${name}=${HIDDEN}` : parameter,
    );

function isNamedLikeSecret(name: string, value: unknown): boolean {
  if (!SECRET_NAME.test(name)) return false;
  if (FILE_NAME.test(name)) return false;
  // Text that cannot be the name of a variable may be the secret itself, written in the wrong key.
  return !(VARIABLE_NAME.test(name) && typeof value === "string" && VARIABLE.test(value));
}
