/** The flags of `serve`, and the way from them (and the file they may name) to a Config. Every flag has a key there. */
import { LEVELS } from "../lib/logger.ts";
import { parseDemoSpec } from "../sources/demo/options.ts";
import type { Arguments, Flag } from "./args.ts";
import { type ConfigFile, composeConfig, readConfigFile } from "./config.ts";
import type { Config } from "./config-schema.ts";
import { usageFailure } from "./failure.ts";

export const SERVE_FLAGS: readonly Flag[] = [
  { name: "config", value: "FILE", help: "Configuration (YAML); flags come before what it says." },
  { name: "host", value: "H", help: "Address to listen on. Default 127.0.0.1" },
  { name: "port", value: "N", help: "Port to listen on; 0 takes a free one. Default 8181" },
  {
    name: "data",
    value: "DIR",
    help: "Where changes and users are kept; :memory: keeps nothing. Default ./data",
  },
  { name: "users", value: "FILE", help: "Users file. Default: users in the data folder" },
  {
    name: "demo",
    value: "SPEC",
    optional: true,
    help: "A simulated network: devices=50,hosts=300,churn=0.33,seed=1",
  },
  {
    name: "file",
    value: "PATH",
    repeated: true,
    help: "A network described in a JSON or YAML file, followed as it changes.",
  },
  { name: "alias", value: "NAME", repeated: true, help: "Serve the same under /NAME/v1 too, such as onos." },
  {
    name: "log-level",
    value: "LEVEL",
    help: `How much to say on standard error: ${LEVELS.join(", ")}. Default info`,
  },
];

const EMPTY_FILE: ConfigFile = { values: {}, faults: [], place: () => "" };

export interface ServeOptions {
  readonly config: Config;
  readonly file: ConfigFile;
}

export function serveOptions(args: Arguments): ServeOptions {
  if (args.positionals.length > 0) throw usageFailure(`wants no ${JSON.stringify(args.positionals[0])}`);
  const path = args.one("config");
  const file = path === undefined ? EMPTY_FILE : readConfigFile(path);
  if (file.faults.length > 0) throw usageFailure(faultText(file.faults));
  const listed = composeConfig(file.values, {});
  const port = args.one("port");
  const config = composeConfig(file.values, {
    host: args.one("host"),
    port: port !== undefined && /^\d+$/.test(port) ? Number(port) : port,
    data: args.one("data"),
    users: args.one("users"),
    logLevel: args.one("log-level"),
    aliases: [...new Set([...listed.aliases, ...args.all("alias")])],
    sources: [...listed.sources, ...flaggedSources(args, listed.sources)],
  });
  return { config, file };
}

/** One line, as a bad configuration is everywhere; `gazetteer check` shows the rest. */
export function faultText([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} (and ${more.length} more: gazetteer check lists them)`;
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
  for (const path of args.all("file")) sources.push(named("file", { path }));
  return sources;
}
