/** `gazetteer serve`: runs the service. The service and its libraries are loaded only for this command. */
import { LEVELS } from "../lib/logger.ts";
import type { Flag } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS } from "./failure.ts";
import { renderStartupBanner } from "./startup-banner.ts";
import { catchStopSignals } from "./stop-signals.ts";

const SERVE_FLAGS: readonly Flag[] = [
  { name: "config", value: "FILE", help: "Configuration file (YAML). Flags override its values." },
  { name: "host", value: "H", help: "Address to listen on. Default 127.0.0.1" },
  { name: "port", value: "N", help: "Port to listen on; 0 picks a free one. Default 8181" },
  {
    name: "data",
    value: "DIR",
    help: "Folder for the change log and the users file; :memory: writes nothing. Default ./data",
  },
  { name: "users", value: "FILE", help: "Users file. Default: users in the data folder" },
  {
    name: "demo",
    value: "SPEC",
    optional: true,
    help: "Add a simulated network: devices=50,hosts=300,churn=0.33,seed=1",
  },
  {
    name: "openflow",
    value: "[HOST:]PORT",
    optional: true,
    help: "Act as the controller of OpenFlow switches that connect here. Default 127.0.0.1:6653",
  },
  {
    name: "file",
    value: "PATH",
    repeated: true,
    help: "Add the network described in a JSON or YAML file. Changes of the file are applied.",
  },
  {
    name: "alias",
    value: "NAME",
    repeated: true,
    help: "Serve the same resources under /NAME/v1 too, such as onos.",
  },
  {
    name: "readers",
    value: "N",
    help: "Processes that serve requests; auto is one for each core. Default 1",
  },
  {
    name: "log-level",
    value: "LEVEL",
    help: `Lowest level logged to standard error: ${LEVELS.join(", ")}. Default info`,
  },
];

export const serveCommand: Command = {
  name: "serve",
  operands: "[FLAGS]",
  summary: "Run the service.",
  flags: SERVE_FLAGS,
  notes: `
GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' in the environment is a user. Without it and without a users file, the
first start creates a user and shows the password once.

  gazetteer serve --demo
  gazetteer serve --openflow 6653
  gazetteer serve --file network.yaml --alias onos --port 8181
  gazetteer serve --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const { loadServeConfig } = await import("./serve-config.ts");
    const config = loadServeConfig(args);
    const { runService } = await import("../service/service.ts");
    using stop = catchStopSignals(() => context.exit(EXIT_STATUS.failed));
    await runService(config, {
      credentials: context.env.GAZETTEER_CREDENTIALS,
      signal: stop.signal,
      onListening: (facts) => context.out(renderStartupBanner(facts)),
    });
    return EXIT_STATUS.ok;
  },
};
