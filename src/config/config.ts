/**
 * Flags, environment, file and defaults to one validated, immutable Config, in this order of precedence for every key
 * (settings.ts). Faults are returned as values, all at once; a Config that is returned is one the service can be built
 * from. Relative paths of the file are relative to it, all others to the working folder; in a Config, all are relative to
 * the working folder.
 */

import Value from "typebox/value";
import { systemClock } from "../lib/clock.ts";
import { isRecord } from "../lib/is-record.ts";
import { silentLogger } from "../lib/logger.ts";
import { findSchemaFaults } from "../lib/schema-faults.ts";
import { checkCluster } from "./cluster.ts";
import { NO_FILE, readConfigFile } from "./config-file.ts";
import { checkTransport } from "./cross-checks.ts";
import { type Environment, readEnvironment, unknownVariables } from "./environment.ts";
import { type ConfigFault, renderFault } from "./faults.ts";
import { type FlagReader, readFlags } from "./flags.ts";
import { checkForwarding } from "./forwarding.ts";
import { checkMap } from "./map.ts";
import { type Config, Configuration } from "./schema.ts";
import { type AddedItem, effectiveSettings, type Layer, nestSettings, type Setting } from "./settings.ts";
import { checkSources, referencedVariables } from "./sources.ts";

export interface ConfigInput {
  /** The path of the configuration file. */
  readonly file?: string | undefined;
  readonly flags?: FlagReader;
  readonly environment?: Environment;
}

export type ConfigResult = {
  /** Of every key. With faults: without the values that are not valid. */
  readonly settings: readonly Setting[];
  /** For the operator; nothing is wrong with the configuration. */
  readonly warnings: readonly string[];
} & (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] }
);

const NO_FLAGS: FlagReader = { all: () => [] };

/** Reads the file, if one is given. The entries of sources are checked too. */
export function loadConfig({ file: path, flags = NO_FLAGS, environment = {} }: ConfigInput): ConfigResult {
  const fromFile = path === undefined ? NO_FILE : readConfigFile(path);
  const fromEnvironment = readEnvironment(environment);
  const fromFlags = readFlags(flags);
  const layers = [fromFlags.layer, fromEnvironment.layer, fromFile.layer];
  const settings = effectiveSettings(layers, nameSources(fromFlags.added, layers));
  const ignored = [fromFile, fromEnvironment].flatMap((checked) => checked.ignored ?? []);
  const warnings = [
    ...ignored.map(renderFault),
    ...unknownVariables(environment, referencedVariables(settings)),
  ];
  const faults = [
    ...fromFile.faults,
    ...fromEnvironment.faults,
    ...fromFlags.faults,
    ...checkTransport(settings),
    ...checkCluster(settings),
    ...checkForwarding(settings),
    ...checkMap(settings),
    ...checkSources(settings, { clock: systemClock, log: silentLogger }),
  ];
  if (faults.length > 0) return { ok: false, faults, settings, warnings };
  const config = structuredClone(nestSettings(settings));
  // Each value was checked on its own; a list to which flags added may have become too long.
  if (Value.Check(Configuration, config)) return { ok: true, config: deepFreeze(config), settings, warnings };
  return { ok: false, faults: findSchemaFaults(Configuration, config), settings, warnings };
}

/** Sources that flags add are named after their type, and numbered where that name is taken. */
function nameSources(added: readonly AddedItem[], layers: readonly Layer[]): AddedItem[] {
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
