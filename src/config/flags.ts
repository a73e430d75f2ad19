/** From the flags of `serve`, and the file they may name, to a Config. Every flag has a key there. */

import type { Arguments } from "../cli/args.ts";
import { usageFailure } from "../cli/failure.ts";
import { parseDemoSpec } from "../sources/demo/options.ts";
import { type ConfigFile, composeConfig, faultyConfig, readConfigFile } from "./config.ts";
import type { Config } from "./schema.ts";

const EMPTY_FILE: ConfigFile = { values: {}, faults: [], place: () => "" };

export interface ServeOptions {
  readonly config: Config;
  readonly file: ConfigFile;
}

export function serveOptions(args: Arguments): ServeOptions {
  if (args.positionals.length > 0) throw usageFailure(`wants no ${JSON.stringify(args.positionals[0])}`);
  const path = args.one("config");
  const file = path === undefined ? EMPTY_FILE : readConfigFile(path);
  if (file.faults.length > 0) throw faultyConfig(file.faults);
  const listed = composeConfig(file.values, {});
  const number = (flag: string) => {
    const given = args.one(flag);
    return given !== undefined && /^\d+$/.test(given) ? Number(given) : given;
  };
  const config = composeConfig(file.values, {
    host: args.one("host"),
    port: number("port"),
    readers: number("readers"),
    data: args.one("data"),
    users: args.one("users"),
    logLevel: args.one("log-level"),
    aliases: [...new Set([...listed.aliases, ...args.all("alias")])],
    sources: [...listed.sources, ...flaggedSources(args, listed.sources)],
  });
  return { config, file };
}

type Entry = Readonly<Record<string, unknown>>;

function flaggedSources(args: Arguments, listed: readonly Entry[]): Entry[] {
  const taken = new Set(listed.map(({ type, name = type }) => name));
  const named = (type: string, options: Entry): Entry => {
    let name = type;
    for (let n = 2; taken.has(name); n++) name = `${type}-${n}`;
    taken.add(name);
    return { type, name, ...options };
  };
  const sources: Entry[] = [];
  const demo = args.one("demo");
  if (demo !== undefined) {
    const spec = parseDemoSpec(demo);
    if (!spec.ok) throw usageFailure(`--demo: ${spec.fault.field} ${spec.fault.message}`);
    sources.push(named("demo", spec.options));
  }
  const listen = args.one("openflow");
  if (listen !== undefined) sources.push(named("openflow", listen === "" ? {} : { listen }));
  for (const path of args.all("file")) sources.push(named("file", { path }));
  return sources;
}
