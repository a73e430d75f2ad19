/** `gazetteer reader-process`: started by `serve --readers N`, never by a person, so no help names it. */
import type { Command } from "./command.ts";

export const READER_COMMAND = "reader-process";

export const readerCommand: Command = {
  name: READER_COMMAND,
  operands: "",
  summary: "Answer requests beside the service that started this.",
  flags: [],
  async run(_args, context) {
    const { runReader } = await import("../service/reader-process.ts");
    return runReader(context);
  },
};
