/** `gazetteer check`: is this configuration one the service would start with? Says everything that is wrong with it. */
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import type { Command } from "./command.ts";
import { STATUS, usageFailure } from "./failure.ts";

export const checkCommand: Command = {
  name: "check",
  operands: "CONFIGFILE",
  summary: "Check a configuration file without starting anything.",
  flags: [],
  async run(args, context) {
    const [path, ...more] = args.positionals;
    if (path === undefined || more.length > 0) throw usageFailure("wants one CONFIGFILE");
    const faults = await faultsIn(path);
    if (faults.length === 0) {
      await context.out(`${path}: ok\n`);
      return STATUS.ok;
    }
    await context.err(faults.map((fault) => `${fault}\n`).join(""));
    return STATUS.usage;
  },
};

async function faultsIn(path: string): Promise<readonly string[]> {
  // Loaded here, so that the commands that need no configuration start without its libraries.
  const { composeConfig, readConfigFile } = await import("../config/config.ts");
  const { makeSources } = await import("../config/sources.ts");
  const file = readConfigFile(path);
  if (file.faults.length > 0) return file.faults;
  const config = composeConfig(file.values, {});
  const made = makeSources(config, file, { clock: systemClock, log: silentLogger });
  return made.ok ? [] : made.faults;
}
