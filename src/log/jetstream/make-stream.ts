/**
 * Begins the log in a new stream: with a snapshot of the state that it continues, and the first message, which names the
 * revision of that state. The snapshot is stored before the first message, so that a stream with a first message can always be
 * opened.
 *
 * - From nothing: an empty log.
 * - From a copy of a former log of the cluster: another log with the same state. Revisions continue from that of the copy. The
 *   id is new, because nodes may have seen revisions that this copy lacks. The signing key is new, so that nobody who knows the
 *   former key, or the secret that it was sealed with, can write to the log.
 * - From the log of a single node: the same log, with its id and signing key, so that cursors and ETags of clients stay valid.
 *   Its file becomes this node's copy. It keeps the history before the snapshot, which other nodes do not get.
 */
import { randomUUID } from "node:crypto";
import { type EmbeddedLog, openEmbeddedLog } from "../embedded.ts";
import { LogError } from "../log.ts";
import { changeIdentity, type LogIdentity, moveLog, newIdentity } from "../log-file.ts";
import { sealKey } from "./identity.ts";
import { readBase } from "./load-copy.ts";
import type { StreamInfo } from "./log-stream.ts";
import { encodeBase } from "./messages.ts";
import type { LoadedCopy, OpenOptions } from "./open-options.ts";
import { encodePosition, firstPosition, type StreamPosition } from "./position.ts";

/** Begins an empty log. Returns its id; undefined where another node was first. */
export async function beginLog({
  stream,
  secret,
  clock,
}: Pick<OpenOptions, "stream" | "secret" | "clock">): Promise<string | undefined> {
  const { id, signingKey } = newIdentity();
  const base = { log: id, revision: 0, time: clock.now(), key: sealKey(secret, signingKey) };
  const { stored } = await stream.publish(encodeBase(base, signingKey, randomUUID()), 0);
  return stored ? id : undefined;
}

/** Begins the log from this node's copy, and closes `local`. Undefined when another node was first: then nothing is changed. */
export async function beginFromCopy(
  options: OpenOptions,
  local: EmbeddedLog,
  { created }: StreamInfo,
): Promise<LoadedCopy | undefined> {
  const { path, clock, logger } = options;
  const identity = newIdentity();
  const position = await publishState(options, local, identity, created);
  if (!position) return undefined;
  const former = local.id;
  await local.close();
  changeIdentity(path, identity, encodePosition(position));
  logger.warn("the stream of the cluster was gone: made again from this node's copy", {
    revision: local.stats().newest,
    former,
    log: identity.id,
  });
  return { local: openEmbeddedLog(path, { identity, retry: { clock, logger } }), position };
}

/**
 * Makes the log of a single node at `singlePath` the log of the cluster. Closes `local`. Continues where an earlier start was
 * interrupted. Throws `LogError` where the cluster has or had another log.
 */
export async function beginFromSingleNode(
  options: OpenOptions,
  singlePath: string,
  local: EmbeddedLog,
): Promise<LoadedCopy> {
  const { stream, path, clock, logger } = options;
  if (!(await stream.hasMessages())) await refuseFormerLog(options, singlePath, local.id);
  const { info } = await stream.ensure();
  const position =
    (info.lastSequence === 0 && (await publishState(options, local, local, info.created))) ||
    (await positionAfterOwnBase(options, local));
  if (!position)
    throw new LogError(
      "other-log",
      `the cluster has a log already, and ${singlePath} is the log of a single node, which cannot be added to it: move that ` +
        "file away to start this node without its history, or give another cluster.name. To keep a history, start the " +
        "node that has it first, where the cluster has no log yet",
    );
  await local.close();
  changeIdentity(singlePath, local, encodePosition(position));
  moveLog(singlePath, path);
  logger.info("the log of this single node is now that of the cluster", {
    log: local.id,
    revision: local.stats().newest,
  });
  return { local: openEmbeddedLog(path, { identity: local, retry: { clock, logger } }), position };
}

/** Throws `LogError` where NATS has traces of a log of this cluster other than `log`. */
async function refuseFormerLog(
  { stream, snapshots, traces }: OpenOptions,
  singlePath: string,
  log: string,
): Promise<void> {
  const { places } = await traces();
  // Snapshots of this same log come from an earlier start that was interrupted before the first message.
  const isOwn = places.includes(snapshots.stream) && (await snapshots.hasOnly(log));
  const former = places.filter((place) => !isOwn || place !== snapshots.stream);
  // Another node may have begun the log meanwhile, and the traces are those of its log.
  if (former.length === 0 || (await stream.hasMessages())) return;
  throw new LogError(
    "other-log",
    `the log of the cluster is gone, NATS has traces of it (${former.join(", ")}), and ${singlePath} is the log of a single node: ` +
      "start a node that has a copy of the cluster's log. To give that log up and begin with this one, delete the traces " +
      "(nats stream rm NAME), or give another cluster.name",
  );
}

/** Writes the state of `local` as the beginning of the log with this identity. Undefined when another node was first. */
async function publishState(
  { stream, snapshots, secret, newestState }: OpenOptions,
  local: EmbeddedLog,
  { id, signingKey }: LogIdentity,
  created: string,
): Promise<StreamPosition | undefined> {
  const state = newestState(local);
  const { revision, time } = state;
  // A snapshot contains the signature of the first message, so a snapshot of an interrupted start needs its same sealed key.
  const earlier = (await snapshots.list(created)).find(
    ({ facts }) => facts.log === id && facts.revision === revision,
  );
  const names = { log: id, key: earlier?.facts.key ?? sealKey(secret, signingKey) };
  const base = encodeBase({ ...names, revision, time }, signingKey, randomUUID());
  const position = firstPosition(created, base.signature);
  if (!earlier && revision > 0 && !(await snapshots.write({ ...names, position }, state))) return undefined;
  const { stored } = await stream.publish(base, 0);
  return stored ? position : undefined;
}

/** The position after the first message, where an earlier start has begun the stream with this state of `local`. */
async function positionAfterOwnBase(
  options: OpenOptions,
  local: EmbeddedLog,
): Promise<StreamPosition | undefined> {
  const info = await options.stream.info();
  const base = await readBase(options, info);
  if (base?.log !== local.id || base.revision !== local.stats().newest) return undefined;
  return firstPosition(info.created, base.signature);
}
