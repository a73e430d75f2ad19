/** `gazetteer serve`: the service itself. What it is made of stands in service.ts, loaded only when it is asked for. */
import type { Command } from "./command.ts";
import { SERVE_FLAGS, serveOptions } from "./serve-options.ts";

export const serveCommand: Command = {
  name: "serve",
  operands: "[FLAGS]",
  summary: "Run the service.",
  flags: SERVE_FLAGS,
  notes: `
GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' in the environment is a user. Without it and without a users file, the
first start makes a user and shows the password once.

  gazetteer serve --demo
  gazetteer serve --file network.yaml --alias onos --port 8181
  gazetteer serve --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const options = serveOptions(args);
    const { runService } = await import("./service.ts");
    return runService(options, context);
  },
};
