/** `gazetteer check`: whether the service would start with this configuration file. Lists all faults, with lines. */
import type { Command } from "./command.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";

export const checkCommand: Command = {
  name: "check",
  operands: "CONFIGFILE",
  summary: "Check a configuration file without starting anything.",
  flags: [],
  async run(args, context) {
    const [path, ...extra] = args.positionals;
    if (path === undefined || extra.length > 0) throw usageFailure("wants one CONFIGFILE");
    // Loaded here, so that commands without a configuration start without its libraries.
    const { loadConfig } = await import("../config/config.ts");
    const { renderFault } = await import("../config/faults.ts");
    const loaded = loadConfig(path);
    if (loaded.ok) {
      await context.out(`${path}: ok\n`);
      return EXIT_STATUS.ok;
    }
    const [first] = loaded.faults;
    // Without a position, the file could not be read at all.
    if (first && !first.position) throw usageFailure(renderFault(first));
    await context.err(loaded.faults.map((fault) => `${renderFault(fault)}\n`).join(""));
    return EXIT_STATUS.usage;
  },
};
