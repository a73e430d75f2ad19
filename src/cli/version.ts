/** `gazetteer version`: which Gazetteer this is, and what it runs on. */
import manifest from "../../package.json";
import type { Command } from "./command.ts";
import { STATUS } from "./failure.ts";

export const VERSION = manifest.version;

export const versionCommand: Command = {
  name: "version",
  operands: "",
  summary: "Say which version this is.",
  flags: [],
  async run(_args, context) {
    await context.out(`gazetteer ${VERSION} (Bun ${Bun.version}, ${process.platform} ${process.arch})\n`);
    return STATUS.ok;
  },
};
