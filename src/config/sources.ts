/** The sources a configuration asks for, or what is wrong with each entry, with its line. Making them is inert. */
import { createSources } from "../sources/registry.ts";
import type { SourceContext } from "../sources/source.ts";
import type { ConfiguredSource } from "../sources/supervise.ts";
import type { ConfigFile } from "./config.ts";
import { shownPath } from "./faults.ts";
import type { Config } from "./schema.ts";

export type MadeSources =
  | { readonly ok: true; readonly sources: readonly ConfiguredSource[] }
  | { readonly ok: false; readonly faults: readonly string[] };

export function makeSources(config: Config, file: ConfigFile, context: SourceContext): MadeSources {
  const made = createSources(config.sources, context);
  if (made.ok) return made;
  const faults = made.faults.map(({ index, field, message }) => {
    const path = ["sources", index, ...(field === "" ? [] : field.split("."))];
    return `${file.place(path)}: ${shownPath(path)}: ${message}`;
  });
  return { ok: false, faults };
}
