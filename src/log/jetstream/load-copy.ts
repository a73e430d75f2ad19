/** Begins this node's copy of the log with the newest snapshot of the stream, or empty where the stream has everything. */
import { rmSync } from "node:fs";
import { forStoreKinds, LogError } from "../log.ts";
import { filesOfLog, IN_MEMORY } from "../log-file.ts";
import { openRetryingLog, type RetryingLog } from "../retrying-log.ts";
import { openIdentity } from "./identity.ts";
import type { StreamInfo } from "./log-stream.ts";
import { type Base, readMessage } from "./messages.ts";
import type { OpenOptions } from "./open-options.ts";
import { encodePosition, type Position } from "./position.ts";
import type { StoredSnapshot } from "./snapshots.ts";

export interface LoadedCopy {
  readonly local: RetryingLog;
  readonly position: Position;
}

/** Rejects with `StreamError` when NATS cannot be used now, and with `LogError` when the stream is no use. */
export async function loadCopy(options: OpenOptions, info: StreamInfo): Promise<LoadedCopy> {
  const { snapshots, secret, path, clock, logger } = options;
  const base = await readBase(options, info);
  const newest = (await snapshots.list(info.created)).find(
    ({ facts }) => facts.position.sequence + 1 >= info.firstSequence && (!base || facts.log === base.log),
  );
  const begin = newest?.facts ?? base;
  if (!begin || (!newest && begin.revision > 0)) throw noSnapshot();
  const local = openRetryingLog(path, { clock, logger }, { identity: openIdentity(secret, begin) });
  if (!newest) return { local, position: { created: info.created, sequence: 1, holders: {} } };
  try {
    await load(local, newest, options);
    return { local, position: newest.facts.position };
  } catch (error) {
    await local.close();
    if (path !== IN_MEMORY) for (const file of filesOfLog(path)) rmSync(file, { force: true });
    throw error;
  }
}

async function load(
  local: RetryingLog,
  snapshot: StoredSnapshot,
  { snapshots, clock, logger }: OpenOptions,
): Promise<void> {
  const { revision, time, graphTime, versions, position } = snapshot.facts;
  const startedAt = clock.monotonic();
  await local.loadSnapshot(
    { revision, time, graphTime, versions: { ...forStoreKinds(() => 0), graph: 0, ...versions } },
    snapshots.read(snapshot),
    encodePosition(position),
  );
  const seconds = Math.round((clock.monotonic() - startedAt) / 100) / 10;
  logger.info("loaded a snapshot of the cluster's log", { revision, bytes: snapshot.bytes, seconds });
}

/** The first message; undefined when it is purged, and every snapshot says the same. */
async function readBase({ stream }: OpenOptions, info: StreamInfo): Promise<Base | undefined> {
  const first = info.firstSequence > 1 ? undefined : await stream.message(1);
  if (!first) return undefined;
  const read = readMessage(first);
  if (read.type === "base") return read.base;
  throw new LogError(
    "unreadable",
    "the stream of the cluster does not begin as a log does; give another cluster.name",
  );
}

const noSnapshot = () =>
  new LogError(
    "unreadable",
    "the stream of the cluster has no complete state: messages after its last snapshot were deleted; delete the stream and start a node that has a copy first",
  );
