/**
 * The explicit list of the kinds of sources there are, and how one entry of the configuration becomes a source.
 * A new kind is one line here. Making a source is inert: it checks its options and touches nothing outside.
 */
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { createDemoSource } from "./demo/demo.ts";
import { DemoOptions } from "./demo/options.ts";
import { createFileSource, FileOptions } from "./file/file.ts";
import { createOpenflowSource } from "./openflow/openflow.ts";
import { OpenflowOptions } from "./openflow/options.ts";
import { type OptionFault, optionFault, suggestion } from "./option-fault.ts";
import type { Source, SourceContext } from "./source.ts";
import type { ConfiguredSource } from "./supervise.ts";

type Made =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly fault: OptionFault };

export interface SourceKind {
  /** The schema of its options, without the `type` and `name` that every entry may have. */
  readonly options: Type.TObject;
  create(name: string, options: unknown, context: SourceContext): Made;
}

function sourceKind<T extends Type.TObject>(
  options: T,
  create: (options: Type.Static<T> & { name: string }, context: SourceContext) => Source,
): SourceKind {
  const check = Compile(options);
  return {
    options,
    create(name, given, context) {
      if (check.Check(given)) return { ok: true, source: create({ ...given, name }, context) };
      return { ok: false, fault: optionFault(check.Errors(given), Object.keys(options.properties)) };
    },
  };
}

export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
  demo: sourceKind(DemoOptions, createDemoSource),
  file: sourceKind(FileOptions, createFileSource),
  openflow: sourceKind(OpenflowOptions, createOpenflowSource),
};

export type SourceResult =
  | ({ readonly ok: true } & ConfiguredSource)
  | { readonly ok: false; readonly fault: OptionFault };

const refuse = (field: string, message: string): { ok: false; fault: OptionFault } => ({
  ok: false,
  fault: { field, message },
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What may name a source: it appears in answers, queries and metrics. */
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** Makes the source of one entry, `{type: "demo", name: "lab", …options}`. The name is the type's when left out. */
export function createSource(entry: unknown, context: SourceContext): SourceResult {
  if (!isObject(entry)) return refuse("", "must be an object");
  const { type: kind, name = kind, ...options } = entry;
  if (typeof kind !== "string") {
    return refuse("type", `is required (one of ${Object.keys(SOURCE_KINDS).join(", ")})`);
  }
  const known = Object.hasOwn(SOURCE_KINDS, kind) ? SOURCE_KINDS[kind] : undefined;
  if (!known) {
    return refuse("type", `${kind} is not a kind of source${suggestion(kind, Object.keys(SOURCE_KINDS))}`);
  }
  if (typeof name !== "string" || !NAME.test(name)) {
    return refuse("name", "must be up to 63 letters, digits, _ . or -, and start with a letter or digit");
  }
  const made = known.create(name, options, context);
  return made.ok ? { ok: true, kind, source: made.source } : made;
}

export type SourcesResult =
  | { readonly ok: true; readonly sources: readonly ConfiguredSource[] }
  | { readonly ok: false; readonly faults: readonly (OptionFault & { readonly index: number })[] };

/** Makes all of them, or says what is wrong with each that is wrong. No two may have one name. */
export function createSources(entries: readonly unknown[], context: SourceContext): SourcesResult {
  const sources: ConfiguredSource[] = [];
  const faults: (OptionFault & { index: number })[] = [];
  const taken = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const made = createSource(entry, context);
    if (!made.ok) {
      faults.push({ index, ...made.fault });
      continue;
    }
    const { name } = made.source;
    if (taken.has(name)) {
      faults.push({ index, field: "name", message: `${name} is taken by another source: give each a name` });
    }
    taken.add(name);
    sources.push({ kind: made.kind, source: made.source });
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, sources };
}
