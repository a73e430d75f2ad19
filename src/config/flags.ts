/**
 * The flags of `serve` as configuration values. Every flag has a key in the configuration file. `--alias`, `--demo`,
 * `--openflow` and `--file` add to the lists of the file; the others replace its value.
 */
import { parseDemoSpec } from "../sources/demo/options.ts";
import type { ConfigFault } from "./faults.ts";
import type { Config } from "./schema.ts";

/** The text after each flag. Undefined: not given. Empty: given without a value. */
export interface ConfigFlags {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly readers?: string | undefined;
  readonly data?: string | undefined;
  readonly users?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly aliases?: readonly string[];
  readonly demo?: string | undefined;
  readonly openflow?: string | undefined;
  readonly files?: readonly string[];
}

export type FlagValues =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** `fromFile` is the configuration without the flags, whose lists they extend. */
export function parseFlags(flags: ConfigFlags, fromFile: Config): FlagValues {
  const sources = parseSourceFlags(flags, fromFile.sources);
  if (!sources.ok) return sources;
  const values = {
    host: flags.host,
    port: numberOrText(flags.port),
    readers: numberOrText(flags.readers),
    data: flags.data,
    users: flags.users,
    logLevel: flags.logLevel,
    aliases: [...new Set([...fromFile.aliases, ...(flags.aliases ?? [])])],
    sources: [...fromFile.sources, ...sources.entries],
  };
  return { ok: true, values };
}

/** Text that is not a number stays as it is: the schema's check reports it. */
function numberOrText(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

type SourceEntry = Config["sources"][number];
type SourceEntries =
  | { readonly ok: true; readonly entries: readonly SourceEntry[] }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

function parseSourceFlags(
  { demo, openflow, files = [] }: ConfigFlags,
  fromFile: readonly SourceEntry[],
): SourceEntries {
  const usedNames = new Set(fromFile.map(({ type, name = type }) => name));
  const entries: SourceEntry[] = [];
  const add = (type: string, options: SourceEntry) => {
    let name = type;
    for (let n = 2; usedNames.has(name); n++) name = `${type}-${n}`;
    usedNames.add(name);
    entries.push({ type, name, ...options });
  };
  if (demo !== undefined) {
    const spec = parseDemoSpec(demo);
    if (!spec.ok) {
      const message = `--demo: ${spec.fault.field} ${spec.fault.message}`;
      return { ok: false, faults: [{ path: [], message }] };
    }
    add("demo", spec.options);
  }
  if (openflow !== undefined) add("openflow", openflow === "" ? {} : { listen: openflow });
  for (const path of files) add("file", { path });
  return { ok: true, entries };
}
