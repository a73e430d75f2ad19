/**
 * Replaces secrets in values of the configuration: what the schema of a source marks as a secret, whatever is named like
 * one (a misspelt key, an unknown kind of source, a parameter in the query of a URL), and user names and passwords in
 * URLs. The path of a file and the name of a variable that hold a secret are shown: an operator looks for them.
 */

import Type from "typebox";
import { isRecord } from "../lib/is-record.ts";
import { schemaOption } from "../lib/schema-faults.ts";
import { SOURCE_KINDS } from "../sources/registry.ts";
import { VARIABLE_PATTERN } from "../sources/secret.ts";

const SECRET_NAME = /passw|passphrase|secret|token|community|credential|(api|auth|private|priv).?key/i;
const FILE_NAME = /File$/;
const VARIABLE_NAME = /Env$/;
const VARIABLE = new RegExp(VARIABLE_PATTERN);
/** Up to the last @, because a password may contain one. */
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/:@]*):.*@/is;
const URL_USER = /^([a-z][a-z0-9+.-]*:\/\/)[^/:@]+@/i;
/** A parameter of a query, up to its value. */
const URL_PARAMETER = /([?&])([^=&?#]+)=[^&#]*/g;
const HIDDEN = "(hidden)";

export function hideSecretsOfSource(entry: unknown): unknown {
  const kind = isRecord(entry) && typeof entry.type === "string" ? entry.type : "";
  return hideSecrets(entry, Object.hasOwn(SOURCE_KINDS, kind) ? SOURCE_KINDS[kind]?.options : undefined);
}

/** `schema` is that of the value, where it has one. */
export function hideSecrets(value: unknown, schema?: Type.TSchema): unknown {
  if (schema && schemaOption(schema, "secret") === true) return HIDDEN;
  if (typeof value === "string") return hideSecretsInUrl(value);
  if (Array.isArray(value)) {
    const items = schema && Type.IsArray(schema) ? schema.items : undefined;
    return value.map((item) => hideSecrets(item, items));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isNamedLikeSecret(name, item) ? HIDDEN : hideSecrets(item, propertyOf(schema, name)),
    ]),
  );
}

const hideSecretsInUrl = (text: string): string =>
  text
    .replace(URL_PASSWORD, `$1:${HIDDEN}@`)
    .replace(URL_USER, `$1${HIDDEN}@`)
    .replace(URL_PARAMETER, (parameter, start, name) =>
      SECRET_NAME.test(name) ? `${start}${name}=${HIDDEN}` : parameter,
    );

/** Of an object, or of the first option of a union that has the property. */
function propertyOf(schema: Type.TSchema | undefined, name: string): Type.TSchema | undefined {
  if (!schema) return undefined;
  if (Type.IsUnion(schema)) {
    return schema.anyOf.map((option) => propertyOf(option, name)).find((property) => property !== undefined);
  }
  if (!Type.IsObject(schema)) return undefined;
  return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}

function isNamedLikeSecret(name: string, value: unknown): boolean {
  if (!SECRET_NAME.test(name)) return false;
  if (FILE_NAME.test(name)) return false;
  // A secret that was written in place of the name of a variable is still a secret.
  return !(VARIABLE_NAME.test(name) && typeof value === "string" && VARIABLE.test(value));
}
