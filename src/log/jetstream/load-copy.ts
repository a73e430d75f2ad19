/** Begins this node's copy of the log with the newest snapshot of the stream, or empty where the stream has every message. */
import { rmSync } from "node:fs";
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import { type EmbeddedLog, openEmbeddedLog } from "../embedded.ts";
import { forStoreKinds, LogError } from "../log.ts";
import { filesOfLog, IN_MEMORY, type LogIdentity } from "../log-file.ts";
import { isSealedWith, openIdentity } from "./identity.ts";
import type { LogStream, StreamInfo } from "./log-stream.ts";
import { type Base, FORMAT, isSigned, readMessage, signatureIn } from "./messages.ts";
import type { LoadedCopy, OpenOptions } from "./open-options.ts";
import { encodePosition, firstPosition, type StreamPosition } from "./position.ts";
import { DamagedSnapshotError } from "./snapshot-pages.ts";
import type { ClusterSnapshots, StoredSnapshot } from "./snapshots.ts";
import { StreamError } from "./stream-error.ts";

/**
 * Whether a complete state that has message `beyond` can be loaded: a snapshot after which the stream has every message, or
 * the whole stream. Rejects with `StreamError`.
 */
export async function canLoad(
  { stream, snapshots }: Pick<OpenOptions, "stream" | "snapshots">,
  beyond: number,
): Promise<boolean> {
  const info = await stream.info();
  const stored = (await snapshots.list(info.created)).filter(({ facts }) => facts.format === FORMAT);
  for (const end of [...stored.map(({ facts }) => facts.position.sequence), 0])
    if (end >= beyond && (await stream.hasAllAfter(end, info))) return true;
  return false;
}

/** Creates the error for the case that no complete state can be loaded yet. */
export const missingSnapshot = (): StreamError =>
  new StreamError(
    "gap",
    "the stream lacks messages that this node needs, and there is no snapshot after them: a node that has them writes one within 15 seconds. Where no such node runs, start one; if there is none, delete the stream and start a node that has a copy first",
  );

/**
 * Loads the newest snapshot. If that fails, it loads the other one, or begins an empty copy if the stream has every message.
 * Rejects with `StreamError` when NATS cannot be used now or a node has yet to write a snapshot, and with `LogError` when no
 * snapshot can be used.
 */
export async function loadCopy(options: OpenOptions, info: StreamInfo): Promise<LoadedCopy> {
  const { snapshots, secret, path, clock, logger } = options;
  const open = (identity: LogIdentity) => openEmbeddedLog(path, { identity, retry: { clock, logger } });
  const base = await readBase(options, info);
  const stored = (await snapshots.list(info.created)).filter(
    ({ facts }) => facts.position.sequence + 1 >= info.firstSequence && (!base || facts.log === base.log),
  );
  let failure: Error | undefined;
  for (const snapshot of stored) {
    if (snapshot.facts.format !== FORMAT) {
      failure ??= otherVersion();
      continue;
    }
    const replaced = await replacedLink(options, snapshot.facts.position, info);
    if (replaced !== undefined) {
      const { revision } = snapshot.facts;
      const why = `NATS has replaced message ${replaced} of its log`;
      logger.warn("a snapshot of the cluster's log cannot be used", { revision, why });
      continue;
    }
    const local = open(openIdentity(secret, snapshot.facts));
    try {
      await load(local, snapshot, options);
      return { local, position: snapshot.facts.position };
    } catch (error) {
      await local.close();
      if (path !== IN_MEMORY) for (const file of filesOfLog(path)) rmSync(file, { force: true });
      if (!(error instanceof StreamError || error instanceof DamagedSnapshotError)) throw error;
      const { revision } = snapshot.facts;
      logger.warn("a snapshot of the cluster's log cannot be used", { revision, why: error.message });
      // A `StreamError` is kept as the reason: the caller tries again, because that snapshot only did not arrive.
      if (!(failure instanceof StreamError)) failure = error;
    }
  }
  if (base?.revision === 0)
    return {
      local: open(openIdentity(secret, base)),
      position: firstPosition(info.created, base.signature),
    };
  if (failure === undefined && !snapshots.hasForeign) throw missingSnapshot();
  throw failure instanceof DamagedSnapshotError || failure === undefined
    ? noSnapshot(snapshots.hasForeign)
    : failure;
}

/** The sequence of a message whose signature differs between stream and snapshot: the writer of the snapshot had diverged. */
async function replacedLink(
  { stream }: OpenOptions,
  { links, ignored }: StreamPosition,
  { firstSequence }: StreamInfo,
): Promise<number | undefined> {
  for (const { sequence, signature } of [...links, ...ignored]) {
    if (sequence < firstSequence) continue;
    const stored = await stream.message(sequence);
    if (stored && signatureIn(stored) !== signature) return sequence;
  }
  return undefined;
}

async function load(
  local: EmbeddedLog,
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

/** Reads the first message; undefined when it is purged. Every snapshot has the same log id and key. */
export async function readBase(
  { stream, secret }: Pick<OpenOptions, "stream" | "secret">,
  info: StreamInfo,
): Promise<(Base & { readonly signature: string }) | undefined> {
  const first = info.firstSequence > 1 ? undefined : await stream.message(1);
  if (!first) return undefined;
  const read = readMessage(first);
  if (read.type === "base" && isSigned(first, openIdentity(secret, read).signingKey))
    return { ...read, signature: signatureIn(first) };
  if (read.type === "newer" || read.type === "older") throw otherVersion();
  throw new LogError(
    "unreadable",
    "the stream of the cluster does not begin as a log does; give another cluster.name",
  );
}

const otherVersion = () =>
  new LogError("unreadable", "the log of the cluster is of another version; install the same version here");

const noSnapshot = (hasForeign: boolean) =>
  new LogError(
    "unreadable",
    hasForeign
      ? "the snapshots of the cluster are not signed with this secret; give the cluster.secretFile of the other nodes. If it is the same, somebody else has written them: delete the stream and start a node that has a copy first"
      : "the stream of the cluster has no complete state: messages after its last snapshot that can be used were deleted; delete the stream and start a node that has a copy first",
  );

/**
 * Whether nodes with another secret wrote the log of the cluster. Decided by the first message, or by the snapshots once that
 * is purged. Rejects with `StreamError`.
 */
export async function hasOtherSecret(
  stream: LogStream,
  snapshots: ClusterSnapshots,
  secret: ClusterSecret,
): Promise<boolean> {
  const info = await stream.info();
  const first = info.firstSequence > 1 ? undefined : await stream.message(1);
  const read = first && readMessage(first);
  if (read?.type === "base") return !isSealedWith(secret, read);
  const usable = await snapshots.list(info.created);
  return usable.length === 0 && snapshots.hasForeign;
}
