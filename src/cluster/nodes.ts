/**
 * The list of the nodes of a cluster, for operators. Each node writes its status every two seconds. A node that no longer writes
 * is lost, and stays in the list until it returns or a week has passed; one that stops in order is removed.
 */
import { type KV, type KvEntry, Kvm } from "@nats-io/kv";
import Type from "typebox";
import type { Clock } from "../lib/clock.ts";
import { createPoll } from "../lib/poll.ts";
import { entryReader, type OnMalformed, readBucket, TtlBucket } from "./bucket.ts";
import type { ClockCheck } from "./clock-check.ts";
import type { NatsClient } from "./nats/nats-client.ts";

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
    sequence: Type.Integer({ description: "Of the last message of the stream that the node has applied." }),
    sources: Type.Array(Type.String(), { description: "Those that the node has configured." }),
    held: Type.Array(Type.String(), { description: "Those that it runs." }),
    startedAt: Type.Integer({ description: "Epoch milliseconds." }),
    clockOffsetMs: Type.Optional(
      Type.Integer({ description: "By how much its clock is ahead of that of NATS." }),
    ),
    trouble: Type.Optional(Type.String({ description: "What is wrong between the node and NATS." })),
  },
  { $id: "NodeStatus" },
);
export type NodeStatus = Readonly<Type.Static<typeof NodeStatus>>;
const readStatus = entryReader(NodeStatus);

/** The bucket of the list, and the parts that are needed to read it. */
export interface NodesPlace {
  readonly nats: NatsClient;
  readonly bucket: string;
  readonly clock: Clock;
  readonly onMalformed?: OnMalformed;
}

export interface NodesOptions extends NodesPlace {
  readonly replicas: number;
  /** The clock check, which gets the time of NATS from each write. */
  readonly clockCheck?: Pick<ClockCheck, "observe">;
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
  const { nats, bucket: name, replicas, clock } = options;
  const bucket = new TtlBucket({ nats, name, replicas, ttlMs: KEPT_MS });
  const { node, nodeName } = status();
  let key = nodeName;
  let written = 0;
  let isTtlChecked = false;
  await createPoll({ intervalMs: WRITE_INTERVAL_MS, clock, signal }).run(async () => {
    try {
      const { kv, ttlMs } = await bucket.open();
      if (ttlMs < KEPT_MS && !isTtlChecked) await lengthenTtl(nats, name);
      isTtlChecked = true;
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
  const { nats, bucket: name, replicas } = options;
  try {
    const { kv } = await new TtlBucket({ nats, name, replicas, ttlMs: KEPT_MS }).open();
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
  if (isOwn) await clockCheck?.observe(entry.created.getTime(), sentAt, receivedAt);
  return { revision, entry };
}

/** Changes the TTL of a bucket that an earlier version has made. An account without the permission leaves it unchanged. */
async function lengthenTtl({ manager }: NatsClient, bucket: string): Promise<void> {
  await manager.streams.update(`KV_${bucket}`, { max_age: KEPT_MS * 1e6 }).catch(() => {});
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

/** Reads the nodes in the list, ordered by name. Rejects when NATS cannot be used now. */
export async function readNodes({ nats, bucket, clock, onMalformed }: NodesPlace): Promise<SeenNode[]> {
  const { entries, time } = await readBucket(nats, bucket);
  return seenNodes(entries, time ?? clock.now(), onMalformed);
}

export function seenNodes(entries: readonly KvEntry[], time: number, onMalformed?: OnMalformed): SeenNode[] {
  // The time of NATS is at least that of the newest entry; the clock of this machine may be behind it.
  const now = Math.max(time, ...entries.map(({ created }) => created.getTime()));
  const nodes = entries.flatMap((entry): SeenNode[] => {
    const status = readStatus(entry, onMalformed);
    const written = entry.created.getTime();
    const ageMs = now - written;
    return status ? [{ ...status, ageMs, lostSince: ageMs > LOST_AFTER_MS ? written : undefined }] : [];
  });
  return nodes.sort((a, b) =>
    a.nodeName < b.nodeName ? -1 : a.nodeName > b.nodeName ? 1 : a.node < b.node ? -1 : 1,
  );
}

/** Removes all nodes from the list. Running nodes add themselves again. Rejects when NATS cannot be used now. */
export async function clearNodes({ nats, bucket }: NodesPlace): Promise<void> {
  const { entries } = await readBucket(nats, bucket);
  const kv = await new Kvm(nats.jetstream).open(bucket);
  await Promise.all(entries.map(({ key }) => kv.delete(key)));
}
