/** `gazetteer serve`: the service itself. All that it is made of is loaded only when it is asked for. */
import { LEVELS } from "../lib/logger.ts";
import type { Flag } from "./args.ts";
import type { Command } from "./command.ts";

const SERVE_FLAGS: readonly Flag[] = [
  { name: "config", value: "FILE", help: "Configuration (YAML); flags come before what it says." },
  { name: "host", value: "H", help: "Address to listen on. Default 127.0.0.1" },
  { name: "port", value: "N", help: "Port to listen on; 0 takes a free one. Default 8181" },
  {
    name: "data",
    value: "DIR",
    help: "Where changes and users are kept; :memory: keeps nothing. Default ./data",
  },
  { name: "users", value: "FILE", help: "Users file. Default: users in the data folder" },
  {
    name: "demo",
    value: "SPEC",
    optional: true,
    help: "A simulated network: devices=50,hosts=300,churn=0.33,seed=1",
  },
  {
    name: "openflow",
    value: "[HOST:]PORT",
    optional: true,
    help: "Be the controller of OpenFlow switches that connect here. Default 127.0.0.1:6653",
  },
  {
    name: "file",
    value: "PATH",
    repeated: true,
    help: "A network described in a JSON or YAML file, followed as it changes.",
  },
  { name: "alias", value: "NAME", repeated: true, help: "Serve the same under /NAME/v1 too, such as onos." },
  {
    name: "readers",
    value: "N",
    help: "Processes that answer requests; auto is one a core. Default 1",
  },
  {
    name: "log-level",
    value: "LEVEL",
    help: `How much to say on standard error: ${LEVELS.join(", ")}. Default info`,
  },
];

export const serveCommand: Command = {
  name: "serve",
  operands: "[FLAGS]",
  summary: "Run the service.",
  flags: SERVE_FLAGS,
  notes: `
GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' in the environment is a user. Without it and without a users file, the
first start makes a user and shows the password once.

  gazetteer serve --demo
  gazetteer serve --openflow 6653
  gazetteer serve --file network.yaml --alias onos --port 8181
  gazetteer serve --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const { serveOptions } = await import("../config/flags.ts");
    const options = serveOptions(args);
    const { runService } = await import("../service/service.ts");
    return runService(options, context);
  },
};
