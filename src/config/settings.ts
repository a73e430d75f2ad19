/**
 * Settings: a setting is a value of the configuration with its origin. A layer is the settings of one place (the flags, the
 * environment, the file). The effective setting of a key is that of the first layer that has it, else the default. Items
 * of a list have origins of their own, because some flags add to a list.
 */
import Type from "typebox";
import Value from "typebox/value";
import { adviseGoneKey } from "../lib/gone-keys.ts";
import { isRecord } from "../lib/is-record.ts";
import { sameJson } from "../lib/same-json.ts";
import { findSchemaFaults, formatPath, type SchemaFault, schemaOption } from "../lib/schema-faults.ts";
import { resolvePaths } from "../lib/schema-values.ts";
import { SOURCE_KINDS } from "../sources/registry.ts";
import type { ConfigFault, SettingOrigin } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { Configuration } from "./schema.ts";

export interface Setting {
  readonly key: ConfigKey;
  /** The value; undefined when the key is optional and not set. Relative paths are relative to the working folder. */
  readonly value: unknown;
  readonly origin: SettingOrigin;
  /** The origin of each item of a list; empty for other values. */
  readonly itemOrigins: readonly SettingOrigin[];
}

export type SettingsLayer = ReadonlyMap<ConfigKey, Setting>;

/** One item that is added to a list, whichever layer the list comes from. */
export interface AddedItem {
  readonly key: ConfigKey;
  readonly value: unknown;
  readonly origin: SettingOrigin;
}

export interface CheckedLayer {
  readonly layer: SettingsLayer;
  readonly faults: readonly ConfigFault[];
  /** Keys that are gone and were ignored. */
  readonly ignored?: readonly ConfigFault[];
}

export const DEFAULT_ORIGIN: SettingOrigin = { kind: "default" };

export const findSetting = (settings: readonly Setting[], name: string): Setting | undefined =>
  settings.find(({ key }) => key.name === name);

/** Whether a setting has a value. An empty list and `false` count as not set. */
export const isSet = (setting: Setting | undefined): boolean => {
  const value = setting?.value;
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
};

/** An entry of a list, such as one source. */
export interface ListEntry {
  readonly value: unknown;
  /** Returns the fault, whose path begins at the entry, with the origin of the entry. */
  faultAt(fault: SchemaFault): ConfigFault;
}

export function listEntries(settings: readonly Setting[], name: string): ListEntry[] {
  const setting = findSetting(settings, name);
  const values: readonly unknown[] = Array.isArray(setting?.value) ? setting.value : [];
  return values.map((value, index) => {
    const origin = setting?.itemOrigins[index] ?? DEFAULT_ORIGIN;
    // A variable holds the whole list, so its paths begin with the index. A flag holds one entry, and a file has its position.
    const prefix = origin.kind === "environment" ? [index] : [];
    return { value, faultAt: ({ path, ...fault }) => ({ ...fault, origin, path: [...prefix, ...path] }) };
  });
}

/** Creates a setting. By default all items of a list have the origin of the value. */
export function createSetting(
  key: ConfigKey,
  value: unknown,
  origin: SettingOrigin,
  itemOrigin: (index: number) => SettingOrigin = () => origin,
): Setting {
  const itemOrigins = Array.isArray(value) ? value.map((_, index) => itemOrigin(index)) : [];
  return { key, value, origin, itemOrigins };
}

/** Resolves the relative paths of a setting, which are relative to `folder`. */
export function withPathsFrom(folder: string, setting: Setting): Setting {
  const { key, value } = setting;
  const resolved = Array.isArray(value)
    ? value.map((item: unknown) => resolvePaths(item, itemSchemaOf(key, item), folder))
    : resolvePaths(value, key.schema, folder);
  return { ...setting, value: resolved };
}

/** Checks each value against the schema of its key. Leaves out invalid values, so that all other checks can still be made. */
export function checkLayer(settings: readonly Setting[]): CheckedLayer {
  const layer = new Map<ConfigKey, Setting>();
  const faults: ConfigFault[] = [];
  for (const setting of settings) {
    const { key, value, origin } = setting;
    const found = findSchemaFaults(key.schema, value);
    faults.push(...found.map((fault) => ({ ...adviseGoneKey(fault, GONE_KEYS, key.path), origin })));
    const valid =
      found.length === 0 ? setting : withoutItems(setting, new Set(found.map(({ path }) => path[0])));
    if (valid) layer.set(key, valid);
  }
  return { layer, faults };
}

/** The setting without the items at `indexes`; undefined when the value is not a list, or is wrong as a whole. */
function withoutItems(setting: Setting, indexes: ReadonlySet<unknown>): Setting | undefined {
  const { value, itemOrigins } = setting;
  if (!Array.isArray(value) || indexes.has(undefined)) return undefined;
  const isKept = (_: unknown, index: number) => !indexes.has(index);
  return { ...setting, value: value.filter(isKept), itemOrigins: itemOrigins.filter(isKept) };
}

export function checkAddedItem({ key, value, origin }: AddedItem): ConfigFault[] {
  const schema = Type.IsArray(key.schema) ? key.schema.items : key.schema;
  return findSchemaFaults(schema, value).map((fault) => ({ ...fault, origin }));
}

/** One setting for every key of the schema, in its order. `layers` are in order of precedence, the highest first. */
export function effectiveSettings(
  layers: readonly SettingsLayer[],
  addedItems: readonly AddedItem[],
): readonly Setting[] {
  return CONFIG_KEYS.map((key) => {
    const settings = layers.flatMap((layer) => layer.get(key) ?? []);
    const base = settings[0] ?? createSetting(key, key.defaultValue, DEFAULT_ORIGIN);
    return addedItems.filter((item) => item.key === key).reduce(addItem, base);
  });
}

function addItem(setting: Setting, { value, origin }: AddedItem): Setting {
  const items: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  if (items.some((item) => sameJson(item, value))) return setting;
  return {
    ...setting,
    value: [...items, value],
    origin,
    itemOrigins: [...setting.itemOrigins, origin],
  };
}

/** Converts the settings to nested sections. */
export function nestSettings(settings: readonly Setting[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { key, value } of settings) {
    const [last = "", ...sections] = [...key.path].reverse();
    let section = root;
    for (const name of sections.reverse()) {
      const nested: Record<string, unknown> = isRecord(section[name]) ? section[name] : {};
      section[name] = nested;
      section = nested;
    }
    if (value !== undefined) section[last] = value;
  }
  return root;
}

// The keys of the configuration are derived from its schema: the name in the file (`limits.headerBytes`), the name in the
// environment (`GAZETTEER_LIMITS_HEADER_BYTES`), and the conversion of text to a value. A new key of the schema needs no
// change here.

export interface ConfigKey {
  /** The name in the file, such as `limits.headerBytes`. */
  readonly name: string;
  readonly path: readonly string[];
  readonly schema: Type.TSchema;
  readonly isList: boolean;
  /** The environment variable, such as `GAZETTEER_LIMITS_HEADER_BYTES`. */
  readonly variable: string;
  /** The default; undefined when the key is optional. */
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

/** The schema of one item of a list. An entry of `sources` has the schema of its kind; undefined for an unknown kind. */
export function itemSchemaOf({ name, schema }: ConfigKey, item: unknown): Type.TSchema | undefined {
  if (name !== "sources") return Type.IsArray(schema) ? schema.items : undefined;
  const kind = isRecord(item) && typeof item.type === "string" ? item.type : "";
  return Object.hasOwn(SOURCE_KINDS, kind) ? SOURCE_KINDS[kind]?.options : undefined;
}

/**
 * Parses the text of a value. Lists of text are separated by commas, other lists are JSON. Text that matches no value of the
 * schema stays text, so that the check of the value reports what it must be.
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
