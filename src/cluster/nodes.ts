/**
 * The list of the nodes of a cluster, for operators. Each node writes its status every two seconds. A node that no longer writes
 * is lost, and stays in the list until it returns or a week has passed; one that stops in order is removed.
 */
import { type KV, type KvEntry, Kvm } from "@nats-io/kv";
import Type from "typebox";
import type { Clock } from "../lib/clock.ts";
import { createPoll } from "../lib/poll.ts";
import { type BucketsOfCluster, entryReader, readBucket, TtlBucket } from "./bucket.ts";
import type { ClockCheck } from "./clock-check.ts";
import type { ForeignMessages, NatsCluster } from "./nats/nats-cluster.ts";

const WRITE_INTERVAL_MS = 2_000;
/** Time without a write after which a node is lost. */
const LOST_AFTER_MS = 16_000;
/** Time for which a lost node stays in the list. */
const KEPT_MS = 7 * 86_400_000;

export const NodeStatus = Type.Object(
  {
    node: Type.String({ description: "Names this run of the node." }),
    nodeName: Type.String(),
    url: Type.String(),
    version: Type.String(),
    revision: Type.Integer(),
    sequence: Type.Integer({ description: "The sequence of the last message that the node has applied." }),
    sources: Type.Array(Type.String(), { description: "The names of the sources in its configuration." }),
    held: Type.Array(Type.String(), { description: "The names of the sources that it runs." }),
    startedAt: Type.Integer({ description: "The time of its start, in epoch milliseconds." }),
    clockOffsetMs: Type.Optional(
      Type.Integer({ description: "By how much its clock is ahead of that of NATS." }),
    ),
    trouble: Type.Optional(Type.String({ description: "What is wrong between the node and NATS." })),
    lostServers: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), since: Type.Integer() }), {
        description: "The NATS servers of the log that the node has found offline, with epoch milliseconds.",
      }),
    ),
  },
  { $id: "NodeStatus" },
);
export type NodeStatus = Readonly<Type.Static<typeof NodeStatus>>;
const readStatus = entryReader("nodes", NodeStatus);

export interface NodesOptions {
  readonly cluster: BucketsOfCluster;
  readonly clock: Clock;
  /** The clock check, which gets the time of NATS from each write. */
  readonly clockCheck: Pick<ClockCheck, "observe">;
  /** Called at the stop. Whether the entry stays, because other nodes must know the revision that this one has. */
  readonly isKept?: () => boolean;
}

/**
 * Writes the status at intervals until `signal` aborts, then removes it, unless it is kept. A failed write is made up for by the
 * next one. The key is the name of the node, so that its next run replaces this one. If two nodes have one name, one of them
 * uses the name of its run as the key.
 */
export async function announceNode(
  options: NodesOptions,
  status: () => NodeStatus,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock } = options;
  const bucket = new TtlBucket(cluster, "nodes", KEPT_MS);
  const { node, nodeName } = status();
  let key = nodeName;
  let written = 0;
  await createPoll({ intervalMs: WRITE_INTERVAL_MS, clock, signal }).run(async () => {
    try {
      const { kv } = await bucket.open();
      const text = JSON.stringify(status());
      const own = await writeAndRead(options, kv, key, () => kv.put(key, text));
      written = own.revision;
      if (own.entry && isOfOtherRun(own.entry, node)) key = node;
    } catch {
      bucket.forget();
    }
  });
  if (options.isKept?.()) return;
  await bucket.open().then(
    ({ kv }) => kv.delete(key, { previousSeq: written }).catch(() => {}),
    () => {},
  );
}

/**
 * Removes the entry of the previous run, which has ended. This also measures the time of NATS before this node writes to the
 * log. If it fails, the first status does both.
 */
export async function clearFormerRun(options: NodesOptions, nodeName: string): Promise<void> {
  try {
    const { kv } = await new TtlBucket(options.cluster, "nodes", KEPT_MS).open();
    await writeAndRead(options, kv, nodeName, async () => {
      await kv.delete(nodeName);
      return 0;
    });
  } catch {
    // While NATS cannot be used, this node writes nothing to the log either.
  }
}

/** Calls `write` and reads the entry back, for the time of NATS. `revision` is the result of `write`; 0 where it deletes. */
async function writeAndRead(
  { clock, clockCheck }: NodesOptions,
  kv: KV,
  key: string,
  write: () => Promise<number>,
): Promise<{ readonly revision: number; readonly entry: KvEntry | null }> {
  const sentAt = clock.monotonic();
  const revision = await write();
  const receivedAt = clock.monotonic();
  const entry = await kv.get(key);
  const isOwn = entry && (revision === 0 ? entry.operation !== "PUT" : entry.revision === revision);
  if (isOwn) await clockCheck.observe(entry.created.getTime(), sentAt, receivedAt);
  return { revision, entry };
}

/** Whether another run, of a node with the same name, has written the entry. */
const isOfOtherRun = (entry: KvEntry, node: string): boolean => {
  const status = readStatus(entry);
  return status !== undefined && status.node !== node;
};

/** A node of the list, with the age of its status. */
export interface SeenNode extends NodeStatus {
  readonly ageMs: number;
  /** The time of the last status of a lost node, in epoch milliseconds; undefined for other nodes. */
  readonly lostSince: number | undefined;
}

/**
 * Reads the nodes in the list, ordered by name. Servers that do not report their time need `clock`. Rejects when NATS cannot be
 * used now.
 */
export async function readNodes(cluster: NatsCluster, clock: Pick<Clock, "now">): Promise<SeenNode[]> {
  const { entries, time } = await readBucket(cluster, "nodes");
  return seenNodes(entries, time ?? clock.now(), cluster.foreign);
}

export function seenNodes(entries: readonly KvEntry[], time: number, foreign?: ForeignMessages): SeenNode[] {
  // The time of NATS is at least that of the newest entry; the clock of this machine may be behind it.
  const now = Math.max(time, ...entries.map(({ created }) => created.getTime()));
  const nodes = entries.flatMap((entry): SeenNode[] => {
    const status = readStatus(entry, foreign);
    const written = entry.created.getTime();
    const ageMs = now - written;
    return status ? [{ ...status, ageMs, lostSince: ageMs > LOST_AFTER_MS ? written : undefined }] : [];
  });
  return nodes.sort((a, b) =>
    a.nodeName < b.nodeName ? -1 : a.nodeName > b.nodeName ? 1 : a.node < b.node ? -1 : 1,
  );
}

/** Removes all nodes from the list. Running nodes add themselves again. Rejects when NATS cannot be used now. */
export async function clearNodes(cluster: NatsCluster): Promise<void> {
  const { entries } = await readBucket(cluster, "nodes");
  const kv = await new Kvm(cluster.nats.jetstream).open(cluster.names.nodes);
  await Promise.all(entries.map(({ key }) => kv.delete(key)));
}
