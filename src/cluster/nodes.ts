/** The nodes of a cluster as people see them: each writes what it is and does every few seconds, for status displays only. */
import Type from "typebox";
import type { Clock } from "../lib/clock.ts";
import type { Engine } from "../nats/engine.ts";
import { entryReader, type OnMalformed, readEntries, TtlBucket } from "./bucket.ts";

const TTL_MS = 16_000;
const WRITE_INTERVAL_MS = 2_000;

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
    trouble: Type.Optional(Type.String({ description: "What is wrong between the node and NATS." })),
  },
  { $id: "NodeStatus" },
);
export type NodeStatus = Readonly<Type.Static<typeof NodeStatus>>;
const readStatus = entryReader(NodeStatus);

export interface NodesOptions {
  readonly engine: Engine;
  readonly bucket: string;
  readonly replicas: number;
  readonly onMalformed?: OnMalformed;
}

const bucketOf = ({ engine, bucket, replicas }: NodesOptions): TtlBucket =>
  new TtlBucket({ engine, name: bucket, replicas, ttlMs: TTL_MS });

/** Writes the status until `signal` aborts, then removes it. What fails is tried again with the next one. */
export async function announceNode(
  options: NodesOptions & { readonly clock: Clock },
  status: () => NodeStatus,
  signal: AbortSignal,
): Promise<void> {
  const bucket = bucketOf(options);
  const { node } = status();
  while (!signal.aborted) {
    try {
      const { kv } = await bucket.open();
      await kv.put(node, JSON.stringify(status()));
    } catch {
      bucket.forget();
    }
    await options.clock.sleep(WRITE_INTERVAL_MS, signal);
  }
  await bucket.open().then(
    ({ kv }) => kv.delete(node).catch(() => {}),
    () => {},
  );
}

/** Those that have written within the TTL, by name. Rejects when NATS cannot be used now. */
export async function readNodes(options: NodesOptions): Promise<NodeStatus[]> {
  const entries = await readEntries(bucketOf(options));
  const nodes = entries.flatMap((entry) => readStatus(entry, options.onMalformed) ?? []);
  return nodes.sort((a, b) =>
    a.nodeName < b.nodeName ? -1 : a.nodeName > b.nodeName ? 1 : a.node < b.node ? -1 : 1,
  );
}
