/**
 * File and flags to one validated, immutable Config. A flag replaces the value of the same key in the file; keys in
 * neither have the default of the schema. Faults are returned as values; a Config that is returned is one the service
 * can be built from. Relative paths are relative to the working directory, not to the file.
 */
import Value from "typebox/value";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { type ConfigFile, NO_FILE, readConfigFile } from "./config-file.ts";
import { type ConfigFault, findSchemaFaults, formatPath, type KeyPath } from "./faults.ts";
import { type ConfigFlags, parseFlags } from "./flags.ts";
import { type Config, Configuration } from "./schema.ts";
import { createConfiguredSources } from "./sources.ts";

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

type Values = Readonly<Record<string, unknown>>;

/** Reads the file, if one is given, and applies the flags. Entries of sources are checked too. */
export function loadConfig(path: string | undefined, flags: ConfigFlags = {}): ConfigResult {
  const file = path === undefined ? NO_FILE : readConfigFile(path);
  if (file.faults.length > 0) return { ok: false, faults: file.faults };
  const composed = composeFileAndFlags(file, flags);
  if (!composed.ok) return composed;
  const sources = createConfiguredSources(composed.config, { clock: systemClock, log: silentLogger }, file);
  return sources.ok ? composed : sources;
}

function composeFileAndFlags(file: ConfigFile, flags: ConfigFlags): ConfigResult {
  const fromFile = composeConfig(file.values, {});
  if (!fromFile.ok) return fromFile;
  const fromFlags = parseFlags(flags, fromFile.config);
  return fromFlags.ok ? composeConfig(file.values, fromFlags.values) : fromFlags;
}

/** Flags above the values of the file, defaults below them. The values of the file are expected to be checked. */
export function composeConfig(file: Values, flags: Values): ConfigResult {
  const values = Value.Default(Configuration, structuredClone(mergeLayers(file, flags)));
  const faults = findSchemaFaults(Configuration, values);
  if (faults.length > 0) return { ok: false, faults: faults.map(flagFault) };
  if (!Value.Check(Configuration, values)) {
    return { ok: false, faults: [{ path: [], message: "the configuration is not valid" }] };
  }
  return { ok: true, config: deepFreeze(values) };
}

/**
 * A section that has only comments in the file is null there, and counts as absent.
 * Known fault: a key that is undefined in `flags` hides the value of the file instead of leaving it.
 */
function mergeLayers(file: Values, flags: Values): Values {
  const merged = Object.entries({ ...file, ...flags });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

const FLAG_NAMES: Readonly<Record<string, string>> = { aliases: "alias", logLevel: "log-level" };

/** The file was checked before, so what is wrong after merging comes from a flag. */
function flagFault({ path, message }: { path: KeyPath; message: string }): ConfigFault {
  const [key = "", ...rest] = path;
  const flag = FLAG_NAMES[key] ?? formatPath([String(key), ...rest]);
  return { path: [], message: `--${flag} ${message}` };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const nested of Object.values(value)) deepFreeze(nested);
  return Object.freeze(value);
}
