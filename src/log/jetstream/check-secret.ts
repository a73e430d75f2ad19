/** Whether the log of a cluster is of nodes with another secret: for commands that only read it, and nodes with a copy of it. */
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import { isSealedWith } from "./identity.ts";
import type { LogStream } from "./log-stream.ts";
import { readMessage } from "./messages.ts";
import type { ClusterSnapshots } from "./snapshots.ts";

/** By the first message, or by the snapshots once it is purged. Rejects with `StreamError`. */
export async function hasOtherSecret(
  stream: LogStream,
  snapshots: ClusterSnapshots,
  secret: ClusterSecret,
): Promise<boolean> {
  const info = await stream.info();
  const first = info.firstSequence > 1 ? undefined : await stream.message(1);
  const read = first && readMessage(first);
  if (read?.type === "base") return !isSealedWith(secret, read.base);
  const usable = await snapshots.list(info.created);
  return usable.length === 0 && snapshots.hasForeign;
}
