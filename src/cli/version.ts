/** `gazetteer version`: the version of Gazetteer and of its runtime. */
import { VERSION } from "../lib/version.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS } from "./failure.ts";

export const versionCommand: Command = {
  name: "version",
  operands: "",
  summary: "Show the version.",
  flags: [],
  async run(_args, context) {
    await context.out(`gazetteer ${VERSION} (Bun ${Bun.version}, ${process.platform} ${process.arch})\n`);
    return EXIT_STATUS.ok;
  },
};
