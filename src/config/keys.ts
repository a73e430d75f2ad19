/**
 * The keys of the configuration, from its schema: the name in the file (`limits.headerBytes`), the name in the
 * environment (`GAZETTEER_LIMITS_HEADER_BYTES`), and the conversion of text to a value. A new key of the schema needs
 * nothing here.
 */
import Type from "typebox";
import Value from "typebox/value";
import { isRecord } from "../lib/is-record.ts";
import { formatPath, schemaOption } from "../lib/schema-faults.ts";
import { SOURCE_KINDS } from "../sources/registry.ts";
import { Configuration } from "./schema.ts";

export interface ConfigKey {
  /** `limits.headerBytes`. */
  readonly name: string;
  readonly path: readonly string[];
  readonly schema: Type.TSchema;
  readonly isList: boolean;
  /** `GAZETTEER_LIMITS_HEADER_BYTES`. */
  readonly variable: string;
  /** Undefined when the key has none and may be absent. */
  readonly defaultValue: unknown;
}

export const ENVIRONMENT_PREFIX = "GAZETTEER_";

function keysOf(schema: Type.TObject, parents: readonly string[]): ConfigKey[] {
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    const path = [...parents, key];
    if (Type.IsObject(property)) return keysOf(property, path);
    return [
      {
        name: formatPath(path),
        path,
        schema: property,
        isList: Type.IsArray(property),
        variable: variableOf(path),
        defaultValue: schemaOption(property, "default"),
      },
    ];
  });
}

/** The name of the environment variable of a key. */
export const variableOf = (path: readonly string[]): string =>
  ENVIRONMENT_PREFIX + path.map(upperSnakeCase).join("_");

const upperSnakeCase = (name: string): string => name.replace(/[A-Z]/g, "_$&").toUpperCase();

export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(Configuration, []);

export const findKey = (name: string): ConfigKey | undefined => CONFIG_KEYS.find((key) => key.name === name);

/** The schema of one item of a list. An entry of `sources` has that of its kind; of an unknown kind there is none. */
export function itemSchemaOf({ name, schema }: ConfigKey, item: unknown): Type.TSchema | undefined {
  if (name !== "sources") return Type.IsArray(schema) ? schema.items : undefined;
  const kind = isRecord(item) && typeof item.type === "string" ? item.type : "";
  return Object.hasOwn(SOURCE_KINDS, kind) ? SOURCE_KINDS[kind]?.options : undefined;
}

/**
 * The value that `text` stands for. Lists of text are separated by commas, other lists are JSON. Text that no value of
 * the schema is written as stays text: the check of the value says what it must be.
 */
export function parseValue({ schema, isList }: ConfigKey, text: string): unknown {
  if (!isList) return parseScalar(schema, text);
  if (Type.IsArray(schema) && (Type.IsString(schema.items) || Type.IsEnum(schema.items))) {
    return text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseScalar(schema: Type.TSchema, text: string): unknown {
  const candidates: unknown[] = [text];
  if (/^-?\d+(\.\d+)?$/.test(text)) candidates.push(Number(text));
  if (text === "true" || text === "false") candidates.push(text === "true");
  return candidates.find((candidate) => Value.Check(schema, candidate)) ?? text;
}
