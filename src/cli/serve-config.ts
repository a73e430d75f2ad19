/** The configuration of `gazetteer serve`, from its arguments. A faulty one is a usage failure of one line. */
import { loadConfig } from "../config/config.ts";
import { type ConfigFault, renderFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import type { Arguments } from "./args.ts";
import { usageFailure } from "./failure.ts";

export function loadServeConfig(args: Arguments): Config {
  const [unexpected] = args.positionals;
  if (unexpected !== undefined) throw usageFailure(`wants no ${JSON.stringify(unexpected)}`);
  const loaded = loadConfig(args.one("config"), {
    host: args.one("host"),
    port: args.one("port"),
    readers: args.one("readers"),
    data: args.one("data"),
    users: args.one("users"),
    logLevel: args.one("log-level"),
    aliases: args.all("alias"),
    demo: args.one("demo"),
    openflow: args.one("openflow"),
    files: args.all("file"),
  });
  if (loaded.ok) return loaded.config;
  throw usageFailure(summarizeFaults(loaded.faults));
}

/** `gazetteer check` lists only faults that are in a file, so only for those it is worth mentioning. */
function summarizeFaults([first, ...others]: readonly ConfigFault[]): string {
  if (!first) return "the configuration is not valid";
  const text = renderFault(first);
  if (!first.position || others.length === 0) return text;
  return `${text} (and ${others.length} more: gazetteer check lists them)`;
}
