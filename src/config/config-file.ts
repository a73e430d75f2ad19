/**
 * Parses the configuration file: YAML in, a layer of settings out, with the position of every fault. Values that are not valid
 * are left out of the layer. Relative paths are relative to the folder of the file. The parsed document is kept, so that later
 * checks (of the sources) can report a position too.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { errorMessage } from "../lib/error-message.ts";
import { adviseGoneKey, dropIgnoredKeys } from "../lib/gone-keys.ts";
import { isRecord } from "../lib/is-record.ts";
import { findSchemaFaults, type KeyPath } from "../lib/schema-faults.ts";
import type { FilePosition, PositionSource, SettingOrigin } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { Configuration } from "./schema.ts";
import {
  type CheckedLayer,
  CONFIG_KEYS,
  type ConfigKey,
  checkLayer,
  createSetting,
  type Setting,
  withPathsFrom,
} from "./settings.ts";

const MAX_FILE_CHARACTERS = 4 * 1024 * 1024;

/** The layer of the file when none is given. */
export const NO_FILE: CheckedLayer = { layer: new Map(), faults: [] };

export function readConfigFile(path: string): CheckedLayer {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return unreadable(`the configuration cannot be read: ${errorMessage(error)}`);
  }
  if (text.length > MAX_FILE_CHARACTERS) {
    return unreadable(`${path} is larger than ${MAX_FILE_CHARACTERS} bytes`);
  }
  return parseConfigFile(text, path);
}

const unreadable = (message: string): CheckedLayer => ({ ...NO_FILE, faults: [{ path: [], message }] });

export function parseConfigFile(text: string, file: string): CheckedLayer {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const positionAt = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  if (document.errors.length > 0) {
    const faults = document.errors.map(({ pos, message }) => {
      const origin: SettingOrigin = { kind: "file", file: { position: () => positionAt(pos[0]) }, path: [] };
      return { origin, path: [], message: withoutSource(message) };
    });
    return { ...NO_FILE, faults };
  }
  const source: PositionSource = {
    position: (path, atKey = false) => positionAt(offsetOf(document, path, atKey)),
  };
  const origin: SettingOrigin = { kind: "file", file: source, path: [] };
  let written: unknown;
  try {
    written = document.toJS() ?? {};
  } catch (error) {
    return {
      ...NO_FILE,
      faults: [{ origin, path: [], message: withoutSource(errorMessage(error)) }],
    };
  }
  const { value: values, dropped, originalPath } = dropIgnoredKeys(written, GONE_KEYS);
  const originAt = (path: KeyPath): SettingOrigin => ({ ...origin, path, originalPath });
  // The faults of the whole document include unknown keys, and all faults of the layer.
  const faults = findSchemaFaults(Configuration, values).map((fault) => ({
    ...adviseGoneKey(fault, GONE_KEYS),
    origin: originAt([]),
  }));
  const settings = CONFIG_KEYS.flatMap((key) => readSetting(key, values, originAt) ?? []);
  const { layer } = checkLayer(settings);
  const folder = dirname(file);
  return {
    layer: new Map([...layer].map(([key, one]) => [key, withPathsFrom(folder, one)])),
    faults,
    ignored: dropped.map((fault) => ({ ...fault, origin })),
  };
}

/** Removes the faulty text, which the library quotes after a colon and may be a password. The position shows where it is. */
const withoutSource = (message: string): string => message.replace(/: .*$/s, "").replaceAll("\n", " ");

function readSetting(
  key: ConfigKey,
  values: unknown,
  originAt: (path: KeyPath) => SettingOrigin,
): Setting | undefined {
  let value = values;
  for (const part of key.path)
    value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  if (value === undefined) return undefined;
  return createSetting(key, value, originAt(key.path), (index) => originAt([...key.path, index]));
}

/** Offset of the value at `path` or of its key; when it is absent, of the nearest enclosing value. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: KeyPath, atKey: boolean): number {
  for (let length = path.length; length > 0; length--) {
    const prefix = path.slice(0, length);
    const parent: unknown = length === 1 ? document.contents : document.getIn(prefix.slice(0, -1), true);
    if (isMap(parent)) {
      const pair = parent.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(prefix.at(-1)),
      );
      const node = atKey || !isNode(pair?.value) ? pair?.key : pair.value;
      if (isNode(node) && node.range) return node.range[0];
    }
    const node: unknown = document.getIn(prefix, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "range" in value;
