/**
 * Combines flags, environment, file and defaults into one validated, immutable Config, in this order of precedence for every
 * key (settings.ts). Faults are returned as values, all at once; the service can be built from every Config that is returned.
 * Relative paths in the file are relative to the file, all others to the working folder. In a Config, all are relative to the
 * working folder.
 */
import Value from "typebox/value";
import { systemClock } from "../lib/clock.ts";
import { dropIgnoredKeys } from "../lib/gone-keys.ts";
import { isRecord } from "../lib/is-record.ts";
import { silentLogger } from "../lib/logger.ts";
import { nearest } from "../lib/nearest.ts";
import { findSchemaFaults } from "../lib/schema-faults.ts";
import { NO_FILE, readConfigFile } from "./config-file.ts";
import { checkAuth, checkCluster, checkForwarding, checkMap, checkTransport } from "./cross-checks.ts";
import { type ConfigFault, renderFault, type SettingOrigin } from "./faults.ts";
import { type FlagReader, readFlags } from "./flags.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { type Config, Configuration } from "./schema.ts";
import {
  type AddedItem,
  type CheckedLayer,
  CONFIG_KEYS,
  type ConfigKey,
  checkLayer,
  createSetting,
  ENVIRONMENT_PREFIX,
  effectiveSettings,
  nestSettings,
  parseValue,
  type Setting,
  type SettingsLayer,
  variableOf,
} from "./settings.ts";
import { checkSources, referencedVariables } from "./sources.ts";

export interface ConfigInput {
  /** The path of the configuration file. */
  readonly file?: string | undefined;
  readonly flags?: FlagReader;
  readonly environment?: Environment;
}

export type ConfigResult = {
  /** A setting for every key. Values that are not valid are missing. */
  readonly settings: readonly Setting[];
  /** Lines for the operator about conditions that are not faults. */
  readonly warnings: readonly string[];
} & (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] }
);

const NO_FLAGS: FlagReader = { all: () => [] };

/** Loads the configuration. Reads the file, if one is given. The entries of sources are checked too. */
export function loadConfig({ file: path, flags = NO_FLAGS, environment = {} }: ConfigInput): ConfigResult {
  const fromFile = path === undefined ? NO_FILE : readConfigFile(path);
  const fromEnvironment = readEnvironment(environment);
  const fromFlags = readFlags(flags);
  const layers = [fromFlags.layer, fromEnvironment.layer, fromFile.layer];
  const settings = effectiveSettings(layers, nameSources(fromFlags.added, layers));
  const ignored = [fromFile, fromEnvironment, fromFlags].flatMap((checked) => checked.ignored ?? []);
  const warnings = [
    ...ignored.map(renderFault),
    ...unknownVariables(environment, referencedVariables(settings)),
  ];
  const faults = [
    ...fromFile.faults,
    ...fromEnvironment.faults,
    ...fromFlags.faults,
    ...checkTransport(settings),
    ...checkAuth(settings),
    ...checkCluster(settings),
    ...checkForwarding(settings),
    ...checkMap(settings),
    ...checkSources(settings, { clock: systemClock, log: silentLogger }),
  ];
  if (faults.length > 0) return { ok: false, faults, settings, warnings };
  const config = structuredClone(nestSettings(settings));
  // Each value was checked on its own, but a list to which flags have added items may be too long now.
  if (Value.Check(Configuration, config)) return { ok: true, config: deepFreeze(config), settings, warnings };
  return { ok: false, faults: findSchemaFaults(Configuration, config), settings, warnings };
}

/** Sources that flags add are named after their type, and numbered where that name is taken. */
function nameSources(added: readonly AddedItem[], layers: readonly SettingsLayer[]): AddedItem[] {
  const sources = effectiveSettings(layers, []).find(({ key }) => key.name === "sources")?.value;
  const usedNames = new Set<unknown>();
  for (const entry of Array.isArray(sources) ? sources : []) {
    if (isRecord(entry)) usedNames.add(entry.name ?? entry.type);
  }
  return added.map((item) => {
    if (!isRecord(item.value)) return item;
    const { type, ...options } = item.value;
    let name = String(type);
    for (let n = 2; usedNames.has(name); n++) name = `${type}-${n}`;
    usedNames.add(name);
    return { ...item, value: { type, name, ...options } };
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const nested of Object.values(value)) deepFreeze(nested);
  return Object.freeze(value);
}

// The environment is a layer: `GAZETTEER_` and the key in upper snake case. Lists are separated by commas, `sources` is
// JSON. An empty variable counts as not set. An unknown variable with the prefix is a warning and not a fault, because it
// may belong to another version, or to a program that runs this one.

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are not keys: the credentials, and the address for commands that connect to a service. */
const OTHER_VARIABLES = ["GAZETTEER_CREDENTIALS", "GAZETTEER_URL"];

function readEnvironment(environment: Environment): CheckedLayer {
  const settings: Setting[] = [];
  const faults: ConfigFault[] = [];
  const ignored: ConfigFault[] = [];
  for (const key of CONFIG_KEYS) {
    const text = environment[key.variable];
    if (text === undefined || text === "") continue;
    const written: SettingOrigin = { kind: "environment", name: key.variable };
    const { value, dropped, originalPath } = dropIgnoredKeys(parseValue(key, text), GONE_KEYS, key.path);
    ignored.push(...dropped.map((fault) => ({ ...fault, origin: written })));
    const origin = { ...written, originalPath };
    if (isBrokenJson(key, value)) {
      faults.push({ origin, path: [], message: 'must be JSON, such as [{"type":"demo"}]' });
    } else settings.push(createSetting(key, value, origin));
  }
  const { layer, faults: valueFaults } = checkLayer(settings);
  return { layer, faults: [...faults, ...valueFaults], ignored };
}

const isBrokenJson = ({ isList }: ConfigKey, value: unknown): boolean => isList && typeof value === "string";

/** Returns one line for each unknown variable with the prefix. `referenced` are variables with secrets of sources. */
function unknownVariables(environment: Environment, referenced: readonly string[]): string[] {
  const known = [...CONFIG_KEYS.map(({ variable }) => variable), ...OTHER_VARIABLES, ...referenced];
  return Object.keys(environment)
    .filter((name) => name.startsWith(ENVIRONMENT_PREFIX) && !known.includes(name))
    .map((name) => {
      const gone = GONE_KEYS.find(({ key }) => variableOf(key.split(".")) === name);
      if (gone) return `${name} is gone; ${gone.advice}`;
      const near = nearest(name, known);
      return `${name} is not known${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}
