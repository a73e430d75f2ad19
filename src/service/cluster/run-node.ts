/**
 * The tasks of a cluster node while it runs: it watches the leases, writes its status to the list of nodes, answers requests of
 * the command line, spreads sources over the nodes, and completes work that other nodes have left unfinished.
 */

import { announceNode, type NodeStatus, readNodes } from "../../cluster/nodes.ts";
import {
  answerRequests,
  type ClusterAnswer,
  type ClusterRequest,
  RequestError,
} from "../../cluster/requests.ts";
import { aborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { createPoll } from "../../lib/poll.ts";
import { VERSION } from "../../lib/version.ts";
import { within } from "../../lib/within.ts";
import { MergeRules } from "../../view/merge-rules.ts";
import type { SourceSet } from "../source-set.ts";
import type { ServiceStorage } from "../storage.ts";
import { withKeptSources } from "./cluster-settings.ts";
import type { ClusterMember } from "./open-cluster.ts";
import { sourceToGiveUp } from "./source-leases.ts";

/** Maximum wait for the lease of a source to forget. A free lease is acquired at once. */
const FORGET_TIMEOUT_MS = 5_000;
/** Pause after which a node that lacks permissions tries again. */
const REQUESTS_RETRY_MS = 30_000;

/** Pause between two sources that this node gives up, long enough for another node to show in the list that it runs the first. */
const SPREAD_INTERVAL_MS = 30_000;

export interface ClusterNodeParts {
  readonly store: Pick<ServiceStorage, "committer" | "view">;
  readonly sources: SourceSet;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly url: string;
}

/** The parts of a running node that each of its tasks uses. */
interface NodeTask {
  readonly cluster: ClusterMember;
  readonly parts: ClusterNodeParts;
  readonly signal: AbortSignal;
}

export async function runClusterNode(
  cluster: ClusterMember,
  parts: ClusterNodeParts,
  signal: AbortSignal,
): Promise<void> {
  const { store, sources, clock, url } = parts;
  const { committer, view } = store;
  const { leases, log, node, nodeName, clockCheck, lost } = cluster;
  const task: NodeTask = { cluster, parts, signal };
  const startedAt = clock.now();
  const held = () => leases.held.filter((name) => sources.names.includes(name));
  const status = (): NodeStatus => {
    const { trouble } = log.health;
    const { offsetMs: clockOffsetMs } = clockCheck;
    const lostServers = [...lost.servers];
    return {
      node,
      nodeName,
      url,
      version: VERSION,
      revision: log.newestStored,
      sequence: log.sequence,
      sources: sources.names,
      held: held(),
      startedAt,
      ...(clockOffsetMs !== undefined && { clockOffsetMs }),
      ...(trouble && { trouble: trouble.message }),
      ...(lostServers.length > 0 && { lostServers }),
    };
  };
  const fulfil = async (request: ClusterRequest): Promise<ClusterAnswer> => {
    if (request.op === "apply")
      // Sources that the applied settings lack are kept, because another node may have them.
      await committer.changeSettings((clustered) => withKeptSources(request.settings, clustered));
    else if (request.op === "forget") await forget(task, request.source);
    return { revision: view.revision, settings: MergeRules.read(view).settings };
  };
  // If the log is gone, the entry must stay: without it, a node that waits for this one would begin the log from an older copy.
  const isKept = () => ["deleted", "truncated"].includes(log.health.trouble?.condition ?? "");
  await Promise.all([
    leases.run(signal),
    announceNode({ cluster, clock, clockCheck, isKept }, status, signal),
    answer(task, fulfil),
    markOrphanedSources(task),
    finishMerges(task),
    spreadSources(task, held),
    lost.run(cluster, log.stream, clockCheck.natsClock, signal),
  ]);
}

/** Answers requests of the command line. */
async function answer(
  { cluster, parts: { clock, logger }, signal }: NodeTask,
  fulfil: (request: ClusterRequest) => Promise<ClusterAnswer>,
): Promise<void> {
  // A node with a copy of the log starts before NATS is reached.
  await Promise.race([cluster.nats.reached, aborted(signal)]);
  while (!signal.aborted) {
    try {
      await answerRequests({ cluster, node: cluster.node, clock, fulfil }, signal);
    } catch (error) {
      // Only the command line needs the answers, so the node goes on.
      logger.error(
        "requests of the command line are not answered: check the permissions in NATS (docs/cluster.md)",
        { subject: cluster.names.requests, why: errorMessage(error) },
      );
      await clock.sleep(REQUESTS_RETRY_MS, signal);
    }
  }
}

/** Gives up sources for nodes that run fewer, one at a time. */
async function spreadSources(
  { cluster, parts: { sources, clock }, signal }: NodeTask,
  held: () => string[],
): Promise<void> {
  const { natsClock } = cluster.clockCheck;
  await createPoll({ intervalMs: SPREAD_INTERVAL_MS, clock, signal }).run(async () => {
    if (held().length < 2) return;
    // While the list cannot be read, the other nodes are unknown, and nothing is given up.
    const others = await readNodes(cluster, natsClock).catch(() => []);
    const isMovable = (source: string) => sources.isMovable(source);
    const source = sourceToGiveUp(cluster.node, held(), others, isMovable, natsClock.now());
    if (source !== undefined && !signal.aborted) sources.giveUp(source);
  });
}

async function forget(
  { cluster, parts: { sources, clock }, signal }: NodeTask,
  source: string,
): Promise<void> {
  const having = (await readNodes(cluster, cluster.clockCheck.natsClock)).filter(
    (node) => node.lostSince === undefined && node.sources.includes(source),
  );
  if (having.length > 0) {
    const names = having.map(({ nodeName }) => nodeName).join(", ");
    throw new RequestError(`the source ${source} is configured on ${names}; remove it there first`);
  }
  await within(clock, FORGET_TIMEOUT_MS, signal, (limited) => sources.forget(source, limited));
}

/**
 * Marks the claims of sources as stale that no node runs any more, because all nodes that have them configured are gone. A node
 * that has such a source configured can take it over again at any time.
 */
async function markOrphanedSources({ cluster, parts, signal }: NodeTask): Promise<void> {
  const { leases, log } = cluster;
  const { store, sources, clock, logger } = parts;
  const { committer } = store;
  /** The monotonic time since which no node has the lease, by source. */
  const freeSince = new Map<string, number>();
  await createPoll({ intervalMs: () => leases.ttlMs / 4, clock, signal }).run(async () => {
    const now = clock.monotonic();
    const { trouble } = log.health;
    // Without NATS the leases are unknown. A wrong clock does not affect that.
    const isUnknown = trouble !== undefined && trouble.condition !== "clock";
    for (const { name } of committer.rules.settings.sources) {
      const isLive = committer.rules.facts.get(name)?.hasSynced === true && !committer.rules.isStale(name);
      if (!isLive || isUnknown || leases.holderOf(name)) freeSince.delete(name);
      else if (!freeSince.has(name)) freeSince.set(name, now);
    }
    for (const [name, since] of freeSince) {
      // A node that has the source configured would have taken the lease by now.
      if (signal.aborted || now - since < 2 * leases.ttlMs) continue;
      try {
        await within(clock, leases.ttlMs, signal, (limited) => sources.markOrphaned(name, limited));
      } catch (error) {
        logger.error("the status of a source was not stored", { source: name, why: errorMessage(error) });
      }
    }
  });
}

/** The name of the lease for finishing the merges of other nodes. No source can have this name. */
const MERGE_LEASE = " merge";

/**
 * Finishes a merge by changed rules that another node has begun and not finished for two lease TTLs. Merging twice changes
 * nothing, so this is harmless if the first node is only slow. A lease keeps several nodes from doing it at once.
 */
async function finishMerges({ cluster: { leases }, parts, signal }: NodeTask): Promise<void> {
  const { store, clock, logger } = parts;
  const { committer } = store;
  let since: number | undefined;
  await createPoll({ intervalMs: () => leases.ttlMs / 4, clock, signal }).run(async () => {
    since = committer.isMergingElsewhere ? (since ?? clock.monotonic()) : undefined;
    if (since === undefined || clock.monotonic() - since < 2 * leases.ttlMs) return;
    const lease = await within(clock, leases.ttlMs, signal, (limited) =>
      leases.acquire(MERGE_LEASE, limited, () => {}),
    );
    try {
      if (lease) await committer.mergeForOthers();
    } catch (error) {
      logger.error("changed settings of sources were not applied", { why: errorMessage(error) });
    } finally {
      await lease?.release();
    }
  });
}
