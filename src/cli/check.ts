/** `gazetteer check`: is this configuration one the service would start with? Says everything that is wrong with it. */
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { createSources } from "../sources/install.ts";
import type { Command } from "./command.ts";
import { type ConfigFile, composeConfig, readConfigFile } from "./config.ts";
import { shownPath } from "./config-faults.ts";
import { STATUS, usageFailure } from "./failure.ts";

export const checkCommand: Command = {
  name: "check",
  operands: "CONFIGFILE",
  summary: "Check a configuration file without starting anything.",
  flags: [],
  async run(args, context) {
    const [path, ...more] = args.positionals;
    if (path === undefined || more.length > 0) throw usageFailure("wants one CONFIGFILE");
    const file = readConfigFile(path);
    const faults = file.faults.length > 0 ? file.faults : sourceFaults(file);
    if (faults.length === 0) {
      await context.out(`${path}: ok\n`);
      return STATUS.ok;
    }
    await context.err(faults.map((fault) => `${fault}\n`).join(""));
    return STATUS.usage;
  },
};

/** What the sources have against their entries; making one touches nothing outside. */
export function sourceFaults(file: ConfigFile): string[] {
  const { sources } = composeConfig(file.values, {});
  const made = createSources(sources, { clock: systemClock, log: silentLogger });
  if (made.ok) return [];
  return made.faults.map(({ index, field, message }) => {
    const path = ["sources", index, ...(field === "" ? [] : field.split("."))];
    return `${file.place(path)}: ${shownPath(path)}: ${message}`;
  });
}
