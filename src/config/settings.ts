/**
 * Settings: a value of the configuration with its origin. A layer is the settings of one place (the flags, the
 * environment, the file); the effective setting of a key is that of the first layer that has it, else the default. Items
 * of a list have origins of their own, because some flags add to a list.
 */

import Type from "typebox";
import { adviseGoneKey } from "../lib/gone-keys.ts";
import { isRecord } from "../lib/is-record.ts";
import { sameJson } from "../lib/same-json.ts";
import { findSchemaFaults } from "../lib/schema-faults.ts";
import { resolvePaths } from "../lib/schema-values.ts";
import type { ConfigFault, Origin } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { CONFIG_KEYS, type ConfigKey, itemSchemaOf } from "./keys.ts";

export interface Setting {
  readonly key: ConfigKey;
  /** Undefined when the key is optional and not set. Relative paths are relative to the working folder. */
  readonly value: unknown;
  /** The value as it was written: relative paths of a file are relative to that file. */
  readonly written: unknown;
  readonly origin: Origin;
  /** The origin of each item of a list; empty for other values. */
  readonly itemOrigins: readonly Origin[];
}

export type Layer = ReadonlyMap<ConfigKey, Setting>;

/** One item that is added to a list, whichever layer the list comes from. */
export interface AddedItem {
  readonly key: ConfigKey;
  readonly value: unknown;
  readonly origin: Origin;
}

export interface CheckedLayer {
  readonly layer: Layer;
  readonly faults: readonly ConfigFault[];
  /** Keys that are gone and were ignored. */
  readonly ignored?: readonly ConfigFault[];
}

export const DEFAULT_ORIGIN: Origin = { kind: "default" };

/** A setting whose value has one origin as a whole. */
export function createSetting(
  key: ConfigKey,
  value: unknown,
  origin: Origin,
  itemOrigin: (index: number) => Origin = () => origin,
): Setting {
  const itemOrigins = Array.isArray(value) ? value.map((_, index) => itemOrigin(index)) : [];
  return { key, value, written: value, origin, itemOrigins };
}

/** The setting whose relative paths were relative to `folder`. */
export function withPathsFrom(folder: string, setting: Setting): Setting {
  const { key, value } = setting;
  const resolved = Array.isArray(value)
    ? value.map((item: unknown) => resolvePaths(item, itemSchemaOf(key, item), folder))
    : resolvePaths(value, key.schema, folder);
  return { ...setting, value: resolved };
}

/** Checks each value against its key. What is not valid is left out, so that all other checks can still be made. */
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
  layers: readonly Layer[],
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

/** The settings as nested sections. */
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
