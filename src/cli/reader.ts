/** `gazetteer reader-process`: `serve --readers N` starts it, not people, so the help does not list it. */
import { READER_COMMAND } from "../service/reader-command.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS } from "./failure.ts";
import { catchServiceSignals } from "./service-signals.ts";

export const readerCommand: Command = {
  name: READER_COMMAND,
  operands: "",
  summary: "Serve requests beside the service that started this process.",
  flags: [],
  async run(_args, context) {
    const { runReader } = await import("../service/reader-process.ts");
    const exitNow = () => context.exit(EXIT_STATUS.failed);
    // SIGHUP is ignored: when it is sent to all processes of the service, the writer reloads and sends the new settings.
    using stop = catchServiceSignals(exitNow, false);
    await runReader({
      input: Bun.stdin.stream(),
      write: (line) => context.out(line),
      signal: stop.signal,
      onWriterGone: exitNow,
    });
    return EXIT_STATUS.ok;
  },
};
