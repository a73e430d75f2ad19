/**
 * What a node does for its cluster while it runs: it follows the leases, shows itself to the other nodes, answers requests
 * of the command line, and does what another node can no longer do. On a single node, nothing.
 */
import { announceNode, type NodeStatus, type NodesPlace, readNodes } from "../../cluster/nodes.ts";
import {
  answerRequests,
  type ClusterAnswer,
  type ClusterRequest,
  RequestError,
} from "../../cluster/requests.ts";
import type { Config } from "../../config/schema.ts";
import { aborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { VERSION } from "../../lib/version.ts";
import { within } from "../../lib/within.ts";
import { MergeRules } from "../../view/merge-rules.ts";
import type { SourceSet } from "../source-set.ts";
import type { ServiceStorage } from "../storage.ts";
import { withKeptSources } from "./cluster-settings.ts";
import { nodesOf, requestsOf } from "./open-cluster.ts";
import { markOrphanedSources } from "./orphaned-sources.ts";
import { sourceToGiveUp } from "./source-leases.ts";
import { finishMerges } from "./unfinished-merges.ts";

/** A lease that nobody has is to be had at once. */
const FORGET_TIMEOUT_MS = 5_000;
/** Until permissions that a node lacks are tried again. */
const REQUESTS_RETRY_MS = 30_000;

/** Between two sources that this node gives up: another node shows what it runs long before. */
const SPREAD_INTERVAL_MS = 30_000;

export interface ClusterNodeParts {
  readonly config: Config;
  readonly store: ServiceStorage;
  readonly sources: SourceSet;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly url: string;
}

export async function runClusterNode(parts: ClusterNodeParts, signal: AbortSignal): Promise<void> {
  const { config, store, sources, clock, logger, url } = parts;
  const { cluster, committer, view } = store;
  if (!cluster) return;
  const { nats, leases, log, secret, node, nodeName, foreign, clockCheck } = cluster;
  const startedAt = clock.now();
  const nodes = nodesOf(cluster);
  const held = () => leases.held.filter((name) => sources.names.includes(name));
  const status = (): NodeStatus => {
    const { trouble } = log.health;
    const { offsetMs: clockOffsetMs } = clockCheck;
    return {
      node,
      nodeName,
      url,
      version: VERSION,
      revision: view.revision,
      sequence: log.sequence,
      sources: sources.names,
      held: held(),
      startedAt,
      ...(clockOffsetMs !== undefined && { clockOffsetMs }),
      ...(trouble && { trouble: trouble.message }),
    };
  };
  const fulfil = async (request: ClusterRequest): Promise<ClusterAnswer> => {
    if (request.op === "apply")
      // No node removes sources of another.
      await committer.changeSettings((clustered) => withKeptSources(request.settings, clustered));
    else if (request.op === "forget") await forget(request.source, parts, nodes, signal);
    return { revision: view.revision, settings: MergeRules.read(view).settings };
  };
  const answer = async (): Promise<void> => {
    // A node with a copy of the log starts before NATS is reached.
    await Promise.race([nats.reached, aborted(signal)]);
    if (signal.aborted) return;
    const { connection } = nats;
    const onForeign = () => foreign.count("requests");
    const place = { connection, ...requestsOf(config.cluster.name, secret) };
    while (!signal.aborted) {
      try {
        await answerRequests({ ...place, node, clock, fulfil, onForeign }, signal);
      } catch (error) {
        // Only the command line needs it, so the node goes on without.
        logger.error(
          "requests of the command line are not answered: check the permissions in NATS (docs/cluster.md)",
          { subject: place.subject, why: errorMessage(error) },
        );
        await clock.sleep(REQUESTS_RETRY_MS, signal);
      }
    }
  };
  // Where the log is gone, a node that waits for this one would begin it from an older copy once this one is off the list.
  const isKept = () => ["deleted", "truncated"].includes(log.health.trouble?.condition ?? "");
  await Promise.all([
    leases.run(signal),
    announceNode({ ...nodes, replicas: config.cluster.replicas, clockCheck, isKept }, status, signal),
    answer(),
    markOrphanedSources({ cluster, sources, committer, clock, logger }, signal),
    finishMerges({ leases, committer, clock, logger }, signal),
    spreadSources(parts, { node, held, nodes }, signal),
  ]);
}

/** Gives up sources for nodes that run fewer, one at a time. */
async function spreadSources(
  { sources, clock }: ClusterNodeParts,
  { node, held, nodes }: { readonly node: string; readonly held: () => string[]; readonly nodes: NodesPlace },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(SPREAD_INTERVAL_MS, signal);
    if (signal.aborted || held().length < 2) continue;
    // While the list cannot be read, nothing is known of the other nodes.
    const others = await readNodes(nodes).catch(() => []);
    const source = sourceToGiveUp(node, held(), others, sources.isMovable.bind(sources), nodes.clock.now());
    if (source !== undefined && !signal.aborted) sources.giveUp(source);
  }
}

async function forget(
  source: string,
  { sources, clock }: ClusterNodeParts,
  nodes: NodesPlace,
  signal: AbortSignal,
): Promise<void> {
  const having = (await readNodes(nodes)).filter(
    (node) => node.lostSince === undefined && node.sources.includes(source),
  );
  if (having.length > 0) {
    const names = having.map(({ nodeName }) => nodeName).join(", ");
    throw new RequestError(`the source ${source} is configured on ${names}; remove it there first`);
  }
  await within(clock, FORGET_TIMEOUT_MS, signal, (limited) => sources.forget(source, limited));
}
