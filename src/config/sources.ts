/**
 * Creates the sources that a configuration lists, or returns the faults of every entry. Creating a source is inert:
 * it checks the options and opens nothing, so the same function serves to check a configuration.
 */
import { createSources } from "../sources/registry.ts";
import type { SourceContext } from "../sources/source.ts";
import type { ConfiguredSource } from "../sources/supervise.ts";
import { type ConfigFile, NO_FILE } from "./config-file.ts";
import type { ConfigFault } from "./faults.ts";
import type { Config } from "./schema.ts";

export type ConfiguredSources =
  | { readonly ok: true; readonly sources: readonly ConfiguredSource[] }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** With `file`, faults have the position of the entry in it. */
export function createConfiguredSources(
  config: Config,
  context: SourceContext,
  file: ConfigFile = NO_FILE,
): ConfiguredSources {
  const created = createSources(config.sources, context);
  if (created.ok) return created;
  const faults = created.faults.map(({ index, field, message }) => {
    const path = ["sources", index, ...(field === "" ? [] : field.split("."))];
    return { position: file.position(path), path, message };
  });
  return { ok: false, faults };
}
