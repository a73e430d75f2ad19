/** Loads the configuration of `serve` and `cluster`. A faulty one is a usage failure with a message of one line. */
import { type ConfigResult, loadConfig } from "../config/config.ts";
import { type ConfigFault, renderFault } from "../config/faults.ts";
import { type Arguments, type Context, usageFailure } from "./command.ts";

export function loadServeConfig(args: Arguments, { env }: Pick<Context, "env">): ConfigResult {
  const [unexpected] = args.positionals;
  if (unexpected !== undefined) throw usageFailure(`wants no ${JSON.stringify(unexpected)}`);
  return loadConfig({ file: args.one("config"), flags: args, environment: env });
}

export function requireConfig(loaded: ConfigResult): Extract<ConfigResult, { ok: true }> {
  if (!loaded.ok) throw usageFailure(summarizeFaults(loaded.faults));
  return loaded;
}

function summarizeFaults([first, ...others]: readonly ConfigFault[]): string {
  if (!first) return "the configuration is not valid";
  const text = renderFault(first);
  return others.length === 0 ? text : `${text} (and ${others.length} more: gazetteer check lists them)`;
}
