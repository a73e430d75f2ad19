/** `gazetteer cluster`: the actions of a cluster's operator. A new action is a new entry of `ACTIONS`. */
import type { Config } from "../config/schema.ts";
import type { ClusterOverview } from "../model/cluster-overview.ts";
import { OUTPUT_FLAG, SERVICE_FLAGS, wantsColour, wantsJson, withClient } from "./client-command.ts";
import { renderClusterStatus } from "./cluster-text.ts";
import {
  type Arguments,
  type Command,
  CommandFailure,
  type Context,
  EXIT_STATUS,
  type Flag,
  usageFailure,
} from "./command.ts";
import { CONFIG_FLAGS, CONFIG_NOTE } from "./config-flags.ts";
import { escapeControlCharacters } from "./table.ts";

/** Returns the exit status, or throws a CommandFailure. */
type Action = (args: Arguments, context: Context) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { status, apply, forget, begin };

/** The flags that select a node to read the status from. */
const NODE_FLAGS: readonly Flag[] = SERVICE_FLAGS.map((flag) => ({
  ...flag,
  help:
    flag.name === "url"
      ? "Of status: read it from the node at this address instead of from NATS."
      : flag.help,
}));

export const clusterCommand: Command = {
  name: "cluster",
  operands: "status|apply|forget|begin [SOURCE] [FLAGS]",
  summary: "Show a cluster, change its settings, or begin its log.",
  flags: [
    { ...OUTPUT_FLAG, help: "Of status: text or json. Default text" },
    { name: "dry-run", help: "With apply: only show what would change." },
    { name: "discard", help: "With begin: also where nodes show a former log, which is given up." },
    ...NODE_FLAGS,
    ...CONFIG_FLAGS,
  ],
  notes: `
  status  Show the nodes, which of them runs each source, and the NATS servers that store the log. With --url or --server
          it is read from a node, with the credentials of gazetteer get. What cannot be read now is named at the end, and
          the exit status is 1.
  apply   Make the settings of this configuration the cluster's: the order of the sources, role, merge, identity and
          history. Shows what changes first. Sources that only other nodes have stay, after those of this file.
  forget  Remove a SOURCE that no node has configured any more, with its claims.
  begin   Make the stream with an empty log, where the former one is gone and no node has a copy. Refuses where the stream has
          messages and, without --discard, where a node shows a revision.

The configuration is that of gazetteer serve. A single node becomes the first node of a new cluster when it is started with the
section cluster, and a node goes on alone when it is started without it.

${CONFIG_NOTE}

  gazetteer cluster status --config /etc/gazetteer.yaml
  gazetteer cluster status --url https://10.0.0.1:8181
  gazetteer cluster apply --dry-run --config /etc/gazetteer.yaml`,
  async run(args, context) {
    const [name = "", ...extra] = args.positionals;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    const operands = action === forget ? 1 : 0;
    if (!action) throw usageFailure(`wants one of ${Object.keys(ACTIONS).join(", ")}`);
    if (extra.length !== operands)
      throw usageFailure(operands === 1 ? "forget wants one SOURCE" : `${name} wants no operand`);
    if (isReadFromNode(args) && action !== status)
      throw usageFailure(`${name} takes no --url and no --server`);
    return action(args, context);
  },
};

const isReadFromNode = (args: Arguments): boolean => args.has("url") || args.has("server");

async function status(args: Arguments, context: Context): Promise<number> {
  const isJson = wantsJson(args);
  const overview = isReadFromNode(args)
    ? await overviewOfNode(args, context)
    : await overviewFromNats(args, context);
  if (isJson) await context.out(`${JSON.stringify(overview, null, 2)}\n`);
  else await context.out(renderClusterStatus(overview, { colour: wantsColour(context), now: Date.now() }));
  return overview.errors === undefined ? EXIT_STATUS.ok : EXIT_STATUS.failed;
}

async function overviewFromNats(args: Arguments, context: Context): Promise<ClusterOverview> {
  const config = await clusterConfig(args, context);
  const { readOverview } = await import("../service/cluster/cluster-commands.ts");
  return orFailure(() => readOverview(config));
}

async function overviewOfNode(args: Arguments, context: Context): Promise<ClusterOverview> {
  const overview = await withClient(args, context, (client) => client.cluster());
  if (overview.name === undefined) throw new CommandFailure("that service is a single node, of no cluster");
  return overview;
}

async function apply(args: Arguments, context: Context): Promise<number> {
  const config = await clusterConfig(args, context);
  const { applySettings, findChanges } = await import("../service/cluster/cluster-commands.ts");
  const changes = await orFailure(() => findChanges(config));
  for (const { what, clustered, own } of changes) await context.out(`${what}: ${clustered} → ${own}\n`);
  if (changes.length === 0) await context.out("the cluster has these settings already\n");
  if (changes.length === 0 || args.has("dry-run")) return EXIT_STATUS.ok;
  const revision = await orFailure(() => applySettings(config));
  await context.out(`applied at revision ${revision}; nodes with another file log the differences\n`);
  return EXIT_STATUS.ok;
}

async function forget(args: Arguments, context: Context): Promise<number> {
  const [, source = ""] = args.positionals;
  const config = await clusterConfig(args, context);
  const { forgetSource } = await import("../service/cluster/cluster-commands.ts");
  const revision = await orFailure(() => forgetSource(config, source));
  await context.out(`the source ${source} and its claims are removed at revision ${revision}\n`);
  return EXIT_STATUS.ok;
}

/** Turns an error of NATS or of a request to the cluster into a CommandFailure. */
async function orFailure<T>(work: () => Promise<T>): Promise<T> {
  const { RequestError } = await import("../cluster/requests.ts");
  const { NatsError } = await import("../cluster/nats/nats-error.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestError || error instanceof NatsError)) throw error;
    throw new CommandFailure(escapeControlCharacters(error.message), EXIT_STATUS.failed, { cause: error });
  }
}

async function begin(args: Arguments, context: Context): Promise<number> {
  const config = await clusterConfig(args, context);
  const { beginCluster } = await import("../service/cluster/cluster-commands.ts");
  const log = await orFailure(() => beginCluster(config, args.has("discard")));
  await context.out(
    `the cluster ${config.cluster.name} has the empty log ${log}; nodes move copies of a former one away, and keep them\n`,
  );
  return EXIT_STATUS.ok;
}

/** Loads the configuration of a node, which must name NATS servers. */
async function clusterConfig(args: Arguments, context: Context): Promise<Config> {
  // The module is imported here, so that the help does not load its libraries.
  const { readConfig } = await import("./serve-config.ts");
  const config = readConfig(args, context);
  if (config.cluster.servers.length === 0)
    throw usageFailure("wants the NATS servers: --cluster, or cluster.servers in the configuration");
  return config;
}
