/** Loads the configuration that commands share. A faulty one is a usage failure with a message of one line. */

import { type ConfigResult, loadConfig } from "../config/config.ts";
import { type ConfigFault, renderFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import { type Arguments, type Context, usageFailure } from "./command.ts";

export function loadServeConfig(args: Arguments, { env }: Pick<Context, "env">): ConfigResult {
  const [unexpected] = args.positionals;
  if (unexpected !== undefined) throw usageFailure(`wants no ${JSON.stringify(unexpected)}`);
  return loadConfig({ file: args.one("config"), flags: args, environment: env });
}

/** The valid configuration of the flags, of a command that has operands of its own. */
export const readConfig = (args: Arguments, { env }: Pick<Context, "env">): Config =>
  requireConfig(loadConfig({ file: args.one("config"), flags: args, environment: env })).config;

export function requireConfig(loaded: ConfigResult): Extract<ConfigResult, { ok: true }> {
  if (!loaded.ok) throw usageFailure(summarizeFaults(loaded.faults));
  return loaded;
}

function summarizeFaults([first, ...others]: readonly ConfigFault[]): string {
  if (!first) return "the configuration is not valid";
  const text = renderFault(first);
  return others.length === 0 ? text : `${text} (and ${others.length} more: gazetteer check lists them)`;
}
