/**
 * The explicit list of source kinds, and the creation of a source from an entry of the configuration. A new kind needs one
 * line here; no kind registers itself by being imported. Creating a source validates its options and does no I/O.
 */
import Type from "typebox";
import Value from "typebox/value";
import { isRecord } from "../lib/is-record.ts";
import { findSchemaFaults, type SchemaFault, suggestName } from "../lib/schema-faults.ts";
import { ControllerOptions, createControllerSource } from "./controller/controller.ts";
import { createDemoSource } from "./demo/demo.ts";
import { DemoOptions } from "./demo/options.ts";
import { createExecSource, ExecOptions } from "./exec/exec.ts";
import { createFileSource, FileOptions } from "./file/file.ts";
import { createHttpSource, HttpOptions } from "./http/http.ts";
import { OpenflowOptions } from "./openflow/options.ts";
import { RestconfOptions } from "./restconf/options.ts";
import { findSecretFaults } from "./secret.ts";
import { findSnmpFaults, SnmpOptions } from "./snmp/options.ts";
import { checkOf, type Source, type SourceContext } from "./source.ts";
import { CommonOptions, commonOptionsOf, withoutCommonOptions } from "./source-options.ts";
import type { ConfiguredSource } from "./supervise.ts";
import { createThreadedSource } from "./thread/threaded-source.ts";

interface Rejected {
  readonly ok: false;
  /** The faults of the entry, at least one. */
  readonly faults: readonly SchemaFault[];
}

type KindResult = { readonly ok: true; readonly source: Source } | Rejected;

export interface SourceKind {
  /** The schema of the kind's own options, without the common ones. */
  readonly options: Type.TObject;
  /** Whether the source runs in a thread of its own. */
  readonly thread: boolean;
  /** Creates a source. `options` contains its own and the common options. The schemas have the defaults of those not given. */
  create(name: string, options: object, context: SourceContext): KindResult;
}

interface KindSettings<Options> {
  readonly thread?: boolean;
  /** Faults that the schema does not express, of options that match it. */
  readonly findFaults?: (options: Options) => readonly SchemaFault[];
}

function sourceKind<T extends Type.TObject>(
  options: T,
  create: (options: Type.Static<T> & { name: string }, context: SourceContext) => Source,
  { thread = false, findFaults = () => [] }: KindSettings<Type.Static<T>> = {},
): SourceKind {
  const allOptions = Type.Object(
    { ...options.properties, ...CommonOptions.properties },
    { additionalProperties: false },
  );
  return {
    options,
    thread,
    create(name, all, context) {
      const schemaFaults = findSchemaFaults(allOptions, all);
      if (schemaFaults.length > 0) return { ok: false, faults: schemaFaults };
      // `Default` writes into the value, and the configuration is frozen.
      const values = Value.Default(options, structuredClone(withoutCommonOptions(all)));
      if (!Value.Check(options, values)) return fail([], "is not valid");
      const faults = [...findSecretFaults(options, values), ...findFaults(values)];
      return faults.length > 0
        ? { ok: false, faults }
        : { ok: true, source: create({ ...values, name }, context) };
    },
  };
}

export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
  controller: sourceKind(ControllerOptions, createControllerSource, { thread: true }),
  demo: sourceKind(DemoOptions, createDemoSource),
  exec: sourceKind(ExecOptions, createExecSource, { thread: true }),
  file: sourceKind(FileOptions, createFileSource, { thread: true }),
  http: sourceKind(HttpOptions, createHttpSource, { thread: true }),
  openflow: sourceKind(
    OpenflowOptions,
    loadedLater(async () => (await import("./openflow/openflow.ts")).createOpenflowSource),
  ),
  restconf: sourceKind(
    RestconfOptions,
    loadedLater(async () => (await import("./restconf/restconf.ts")).createRestconfSource),
    { thread: true },
  ),
  snmp: sourceKind(
    SnmpOptions,
    loadedLater(async () => (await import("./snmp/snmp.ts")).createSnmpSource),
    { thread: true, findFaults: findSnmpFaults },
  ),
};

/** A source, the entry of the configuration that it was created from, and the common options of the entry. */
export interface RegisteredSource extends ConfiguredSource {
  readonly options: CommonOptions;
  readonly entry: Readonly<Record<string, unknown>>;
}

type SourceResult = ({ readonly ok: true } & RegisteredSource) | Rejected;

const fail = (path: SchemaFault["path"], message: string): Rejected => ({
  ok: false,
  faults: [{ path, message }],
});

/** Pattern of names, which appear in responses, queries and metrics. */
const NAME_PATTERN = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** Creates the source of one entry, `{type: "demo", name: "lab", …options}`. The name defaults to the type. */
export function createSource(entry: unknown, context: SourceContext): SourceResult {
  const created = createUnthreadedSource(entry, context);
  if (!created.ok || !isRecord(entry) || !SOURCE_KINDS[created.kind]?.thread) return created;
  return { ...created, source: createThreadedSource(created.source, entry, context) };
}

/** Creates the source of one entry, which runs in the thread that calls it. */
export function createUnthreadedSource(entry: unknown, context: SourceContext): SourceResult {
  if (!isRecord(entry)) return fail([], "must be keys and values, such as {type: demo}");
  const { type: kind, name = kind, ...options } = entry;
  if (typeof kind !== "string") {
    return fail(["type"], `is required (one of ${Object.keys(SOURCE_KINDS).join(", ")})`);
  }
  const known = Object.hasOwn(SOURCE_KINDS, kind) ? SOURCE_KINDS[kind] : undefined;
  if (!known) {
    return fail(["type"], `${kind} is not a kind of source; ${suggestName(kind, Object.keys(SOURCE_KINDS))}`);
  }
  if (typeof name !== "string" || !NAME_PATTERN.test(name)) {
    return fail(["name"], "must be up to 63 letters, digits, _ . or -, and start with a letter or digit");
  }
  const created = known.create(name, options, context);
  if (!created.ok) return created;
  return { ok: true, kind, source: created.source, options: commonOptionsOf(options), entry };
}

type SourcesResult =
  | { readonly ok: true; readonly sources: readonly RegisteredSource[] }
  | { readonly ok: false; readonly faults: readonly (SchemaFault & { readonly index: number })[] };

/** Creates the sources of all entries, or returns a fault for each invalid entry. Names must be unique. */
export function createSources(entries: readonly unknown[], context: SourceContext): SourcesResult {
  const sources: RegisteredSource[] = [];
  const faults: (SchemaFault & { index: number })[] = [];
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const created = createSource(entry, context);
    if (!created.ok) {
      faults.push(...created.faults.map((fault) => ({ index, ...fault })));
      continue;
    }
    const { ok: _, ...registered } = created;
    const { name } = registered.source;
    if (names.has(name)) {
      faults.push({ index, path: ["name"], message: `${name} is already the name of another source` });
    }
    names.add(name);
    sources.push(registered);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, sources };
}

type Create<Options> = (options: Options, context: SourceContext) => Source;

/**
 * Loads the code of a kind when a source of it first runs or is checked. So a service, and each thread of a source, loads only
 * the large kinds that it runs. The options are validated before, by a schema that is always loaded.
 */
export function loadedLater<Options extends { readonly name: string }>(
  load: () => Promise<Create<Options>>,
): Create<Options> {
  return (options, context) => {
    let source: Source | undefined;
    const open = async (): Promise<Source> => {
      const create = await load();
      source ??= create(options, context);
      return source;
    };
    return {
      name: options.name,
      run: async (sink, signal) => (await open()).run(sink, signal),
      metrics: () => source?.metrics?.() ?? {},
      check: async () => (await (await open()).check?.()) ?? checkOf(undefined),
    };
  };
}
