/** `gazetteer cluster`: what an operator does with a cluster. A new action is a row of the table. */
import type { Config } from "../config/schema.ts";
import type { Arguments } from "./args.ts";
import type { Command, Context } from "./command.ts";
import { CONFIG_FLAGS, CONFIG_NOTE } from "./config-flags.ts";
import { EXIT_STATUS, usageFailure } from "./failure.ts";

/** Returns the exit status, or throws a CommandFailure. */
type Action = (args: Arguments, context: Context) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { join, leave };

export const clusterCommand: Command = {
  name: "cluster",
  operands: "join|leave [FLAGS]",
  summary: "Take a single node with its history into a cluster, or out of it.",
  flags: CONFIG_FLAGS,
  notes: `
  join    Make the log of a single node the log of a new cluster: revisions, history and cursors stay valid.
  leave   Make this node's copy of the cluster's log the log of a single node. Where the cluster still exists, the log
          gets a new id: clients begin again.

The service must not be running on the data folder.

${CONFIG_NOTE}

  gazetteer cluster join --cluster nats://10.0.0.1:4222 --data /var/lib/gazetteer
  gazetteer cluster leave --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const [name = "", ...extra] = args.positionals;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action || extra.length > 0) throw usageFailure(`wants one of ${Object.keys(ACTIONS).join(", ")}`);
    return action(args, context);
  },
};

async function join(args: Arguments, context: Context): Promise<number> {
  const config = await clusterConfig(args, context);
  const { joinCluster } = await import("../service/cluster-join.ts");
  const { log, oldest, newest } = await joinCluster(config);
  await context.out(
    `the cluster ${config.cluster.name} has the log ${log}, revisions ${oldest} to ${newest}; start the service with cluster.servers\n`,
  );
  return EXIT_STATUS.ok;
}

async function leave(args: Arguments, context: Context): Promise<number> {
  const config = await clusterConfig(args, context);
  const { leaveCluster } = await import("../service/cluster-leave.ts");
  const { log, isNewLog, oldest, newest } = await leaveCluster(config);
  const id = isNewLog ? `the new id ${log}, because the cluster may go on` : `the id ${log} as before`;
  await context.out(
    `${config.data} has the log of a single node, revisions ${oldest} to ${newest}, with ${id}; start the service without cluster.servers\n`,
  );
  return EXIT_STATUS.ok;
}

/** The configuration of a node. */
async function clusterConfig(args: Arguments, { env }: Context): Promise<Config> {
  // Loaded here, so that the help starts without its libraries.
  const { loadConfig } = await import("../config/config.ts");
  const { requireConfig } = await import("./serve-config.ts");
  const { config } = requireConfig(loadConfig({ file: args.one("config"), flags: args, environment: env }));
  if (config.cluster.servers.length === 0)
    throw usageFailure("wants the NATS servers: --cluster, or cluster.servers in the configuration");
  return config;
}
