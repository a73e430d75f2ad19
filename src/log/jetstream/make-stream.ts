/**
 * Begins the log in a new stream. From a copy, it is another log with the same state: revisions go on from that of the
 * copy, under a new id, because nodes may have seen revisions that this copy lacks, and with a new signing key, so that
 * whoever knows the former one, or the secret that it was sealed with, cannot write to it. The snapshot is stored before the first
 * message names its revision, so that a stream with a first message can always be opened.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { changeIdentity, newLogId } from "../log-file.ts";
import { openRetryingLog, type RetryingLog } from "../retrying-log.ts";
import { sealKey } from "./identity.ts";
import type { LoadedCopy } from "./load-copy.ts";
import type { StreamInfo } from "./log-stream.ts";
import { encodeBase } from "./messages.ts";
import type { OpenOptions } from "./open-options.ts";
import { encodePosition, firstPosition } from "./position.ts";

/** An empty log. Returns its id; undefined where somebody else was first. */
export async function beginLog({
  stream,
  secret,
  clock,
}: Pick<OpenOptions, "stream" | "secret" | "clock">): Promise<string | undefined> {
  const key = randomBytes(32);
  const base = { log: newLogId(), revision: 0, time: clock.now(), key: sealKey(secret, key) };
  const { stored } = await stream.publish(encodeBase(base, key, randomUUID()), 0);
  return stored ? base.log : undefined;
}

/** Undefined when another node was first: then the copy is as it was. Closes `local` otherwise. */
export async function beginFromCopy(
  options: OpenOptions,
  local: RetryingLog,
  { created }: StreamInfo,
): Promise<LoadedCopy | undefined> {
  const { stream, snapshots, secret, newestState, path, clock, logger } = options;
  const identity = { id: newLogId(), signingKey: randomBytes(32) };
  const names = { log: identity.id, key: sealKey(secret, identity.signingKey) };
  const state = newestState(local);
  const { revision, time } = state;
  const base = encodeBase({ ...names, revision, time }, identity.signingKey, randomUUID());
  const position = firstPosition(created, base.signature);
  if (revision > 0 && !(await snapshots.write({ ...names, position }, state))) return undefined;
  const { stored } = await stream.publish(base, 0);
  if (!stored) return undefined;
  const former = local.id;
  await local.close();
  changeIdentity(path, identity, encodePosition(position));
  logger.warn("the stream of the cluster was gone: made again from this node's copy", {
    revision,
    former,
    log: identity.id,
  });
  return { local: openRetryingLog(path, { clock, logger }, { identity }), position };
}
