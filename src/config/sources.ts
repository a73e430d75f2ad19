/**
 * Creates the sources that a configuration lists, or returns the faults of every entry. Creating a source only checks the
 * options and opens nothing, so the same function is used to check a configuration.
 */
import { quote } from "../lib/error-text.ts";
import { adviseGoneKey } from "../lib/gone-keys.ts";
import { isRecord } from "../lib/is-record.ts";
import { nearest } from "../lib/nearest.ts";
import type { SchemaFault } from "../lib/schema-faults.ts";
import { type Claims, referencedDevices } from "../model/claim.ts";
import { deviceKey } from "../model/ids.ts";
import { createSource, createSources, type RegisteredSource, SOURCE_KINDS } from "../sources/registry.ts";
import { checkSecretFiles } from "../sources/secret.ts";
import type { SourceContext } from "../sources/source.ts";
import type { ConfigFault } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import type { Config } from "./schema.ts";
import { listEntries, type Setting } from "./settings.ts";

export type ConfiguredSources =
  | { readonly ok: true; readonly sources: readonly RegisteredSource[] }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

export function createConfiguredSources(
  { sources }: Pick<Config, "sources">,
  context: SourceContext,
): ConfiguredSources {
  const created = createSources(sources, context);
  if (created.ok) return created;
  const faults = created.faults.map(({ index, path, message }) => ({
    path: ["sources", index, ...path],
    message,
  }));
  return { ok: false, faults };
}

/** Checks the entries. Returns their faults, each with the origin of its entry. */
export function checkSources(settings: readonly Setting[], context: SourceContext): ConfigFault[] {
  const entries = listEntries(settings, "sources");
  const created = createSources(
    entries.map(({ value }) => value),
    context,
  );
  if (created.ok) return [];
  return created.faults.flatMap(({ index, ...fault }) => {
    const { value, faultAt } = entries[index] ?? {};
    const kind = isRecord(value) ? String(value.type) : "";
    return faultAt?.(adviseGoneKey(fault, GONE_KEYS, ["sources", kind])) ?? [];
  });
}

/** The names of the environment variables that hold secrets of the sources and of Prometheus. */
export function referencedVariables(settings: readonly Setting[]): string[] {
  const find = (value: unknown, name: string): string[] => {
    if (typeof value === "string") return name.endsWith("Env") ? [value] : [];
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, item]) => find(item, key));
  };
  return settings.flatMap(({ key, value }) =>
    key.name === "sources" || key.name === "metrics" ? find(value, "") : [],
  );
}

/** The findings of `gazetteer check` in the files that the sources would read. */
export interface SourceContents {
  /** Faults, such as those of the network in a file, each with the origin of its entry. */
  readonly faults: readonly ConfigFault[];
  /** Lines for the operator about conditions that are not faults. */
  readonly warnings: readonly string[];
}

export interface CheckedSources extends SourceContents {
  /** Lines about conditions that may be wrong, but may also be resolved once the other sources run. */
  readonly notes: readonly string[];
}

export async function checkSourceContents(
  settings: readonly Setting[],
  context: SourceContext,
): Promise<CheckedSources> {
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  const networks: Claims[] = [];
  let isWhole = true;
  for (const { value: entry, faultAt } of listEntries(settings, "sources")) {
    const created = createSource(entry, context);
    if (!created.ok) continue;
    const { source, kind } = created;
    const secrets = await checkSecretFiles(SOURCE_KINDS[kind]?.options, entry);
    warnings.push(...secrets.warnings.map((warning) => `source ${source.name}: ${warning}`));
    // A source whose secret cannot be read is not checked further.
    const checked = secrets.faults.length === 0 ? await source.check?.() : undefined;
    const found = [
      ...secrets.faults,
      ...(checked?.faults ?? []).map((message): SchemaFault => ({ path: [], message })),
    ];
    if (checked?.claims) networks.push(checked.claims);
    else isWhole = false;
    faults.push(...found.map(faultAt));
  }
  return { faults, warnings, notes: unknownDeviceNotes(networks, isWhole) };
}

const MAX_EXAMPLES = 5;

/** Notes about unknown devices. `isWhole` means that every source was read, so that no other one can report the devices. */
function unknownDeviceNotes(networks: readonly Claims[], isWhole: boolean): string[] {
  /** Ids of devices as they are written, by key. */
  const known = new Map<string, string>();
  for (const { devices = [] } of networks)
    for (const { id, aliases = [] } of devices)
      for (const name of [id, ...aliases]) known.set(deviceKey(name), name);
  const unknown = new Map<string, { readonly id: string; records: number }>();
  let records = 0;
  for (const { ports = [], links = [], hosts = [] } of networks)
    for (const claims of [ports, links, hosts])
      for (const claim of claims) {
        const ids = new Map(referencedDevices(claim).map((id) => [deviceKey(id), id]));
        const missing = [...ids].filter(([key]) => !known.has(key));
        for (const [key, id] of missing) {
          const found = unknown.get(key) ?? { id, records: 0 };
          found.records++;
          unknown.set(key, found);
        }
        if (missing.length > 0) records++;
      }
  if (unknown.size === 0) return [];
  const examples = [...unknown.values()].slice(0, MAX_EXAMPLES).map((found) => {
    const near = nearest(found.id, known.values());
    return `${quote(found.id)} (${found.records}${near === undefined ? "" : `; did you mean ${quote(near)}?`})`;
  });
  const who = isWhole ? "no source has" : "none of the files has";
  const then = isWhole ? "will not be shown" : "is shown once another source reports them";
  return [
    `${records} ${records === 1 ? "record refers" : "records refer"} to ${unknown.size === 1 ? "a device" : `${unknown.size} devices`} that ${who}: ${examples.join(", ")}${unknown.size > MAX_EXAMPLES ? " and others" : ""}; what refers to them ${then}`,
  ];
}
