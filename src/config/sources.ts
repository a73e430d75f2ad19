/**
 * Creates the sources that a configuration lists, or returns the faults of every entry. Creating a source is inert:
 * it checks the options and opens nothing, so the same function serves to check a configuration.
 */
import { createSource, createSources, type RegisteredSource, SOURCE_KINDS } from "../sources/registry.ts";
import { checkSecretFiles } from "../sources/secret-check.ts";
import type { SourceContext } from "../sources/source.ts";
import type { ConfigFault } from "./faults.ts";
import type { Config } from "./schema.ts";
import { DEFAULT_ORIGIN, type Setting } from "./settings.ts";

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

/** The faults of the entries, each with the origin of its entry. */
export function checkSources(settings: readonly Setting[], context: SourceContext): ConfigFault[] {
  const setting = settings.find(({ key }) => key.name === "sources");
  if (!setting || !Array.isArray(setting.value)) return [];
  const created = createSources(setting.value, context);
  if (created.ok) return [];
  return created.faults.map(({ index, path, ...fault }) => {
    const origin = setting.itemOrigins[index] ?? DEFAULT_ORIGIN;
    // A variable holds the whole list, a flag one entry; the position in a file is that of the entry.
    return { ...fault, origin, path: origin.kind === "environment" ? [index, ...path] : path };
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

/** What `gazetteer check` finds in what the sources would read. */
export interface SourceContents {
  /** Such as that of the network in a file, each with the origin of its entry. */
  readonly faults: readonly ConfigFault[];
  /** For the operator; nothing is wrong with the configuration. */
  readonly warnings: readonly string[];
}

export async function checkSourceContents(
  settings: readonly Setting[],
  context: SourceContext,
): Promise<SourceContents> {
  const setting = settings.find(({ key }) => key.name === "sources");
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  for (const [index, entry] of Array.isArray(setting?.value) ? setting.value.entries() : []) {
    const created = createSource(entry, context);
    if (!created.ok) continue;
    const { source, kind } = created;
    const secrets = await checkSecretFiles(SOURCE_KINDS[kind]?.options, entry);
    warnings.push(...secrets.warnings.map((warning) => `source ${source.name}: ${warning}`));
    // Without its secret, a source has nothing else to report.
    const message = secrets.faults.length === 0 ? await source.check?.() : undefined;
    const found = message === undefined ? secrets.faults : [{ path: [], message }];
    const origin = setting?.itemOrigins[index] ?? DEFAULT_ORIGIN;
    const prefix = origin.kind === "environment" ? [index] : [];
    faults.push(...found.map(({ path, ...fault }) => ({ ...fault, origin, path: [...prefix, ...path] })));
  }
  return { faults, warnings };
}
