/**
 * Opens the log of a cluster on this node: finds the stream, or makes it, and this node's copy of it. A copy that belongs to
 * another stream, or that lacks messages which the stream no longer has, is moved away and begun again.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { ClusterSecret } from "../../nats/sealed.ts";
import { LogError } from "../log.ts";
import { IN_MEMORY, type LogIdentity } from "../log-file.ts";
import { openRetryingLog, type RetryingLog } from "../retrying-log.ts";
import { JetStreamLog } from "./jetstream-log.ts";
import { type LogStream, StreamError, type StreamInfo } from "./log-stream.ts";
import { type Base, encodeBase, readMessage } from "./messages.ts";
import { decodePosition, type Position } from "./position.ts";

const SIGNING_KEY = "signing key";
const RETRY_MS = 1_000;

export interface OpenOptions {
  readonly stream: LogStream;
  /** Of the copy, or `:memory:`. */
  readonly path: string;
  readonly node: string;
  readonly secret: ClusterSecret;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/** The log follows the stream once it is started. Rejects with `LogError`. */
export async function openJetStreamLog(options: OpenOptions): Promise<JetStreamLog> {
  const { stream, node, clock, logger } = options;
  const copy = openCopy(options);
  const known = copy && decodePosition(copy.position);
  const info = await ensureStream(options);
  if (copy && known && canResume(known, info))
    return new JetStreamLog({ local: copy, stream, node, position: known, clock, logger });
  const base = await readBase(options, info);
  const identity = { id: base.log, signingKey: openKey(options, base) };
  await copy?.close();
  if (copy) moveAway(options, copy.id);
  const local = openRetryingLog(options.path, { clock, logger }, { identity });
  const position = { created: info.created, sequence: 1, holders: {} };
  return new JetStreamLog({ local, stream, node, position, clock, logger });
}

/** The copy in the data folder; undefined where there is none yet. */
function openCopy({ path, clock, logger }: OpenOptions): RetryingLog | undefined {
  return path === IN_MEMORY || !existsSync(path) ? undefined : openRetryingLog(path, { clock, logger });
}

const canResume = ({ created, sequence }: Position, info: StreamInfo): boolean =>
  created === info.created && sequence + 1 >= info.firstSequence && sequence <= info.lastSequence;

/** Waits for NATS: a node that has no copy can do nothing without. */
async function ensureStream({ stream, clock, logger, signal }: OpenOptions): Promise<StreamInfo> {
  for (let tries = 0; ; tries++) {
    try {
      return await stream.ensure();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.condition === "replicas" || signal.aborted)
        throw new LogError("unreadable", error.message, { cause: error });
      if (tries === 0) logger.warn("waiting for the log of the cluster", { why: error.message });
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** The first message of the stream; written by the first node. */
async function readBase(options: OpenOptions, info: StreamInfo): Promise<Base> {
  const { stream, secret, clock } = options;
  if (info.lastSequence === 0) {
    const key = Buffer.from(secret.seal(SIGNING_KEY, randomBytes(32))).toString("base64");
    const base = { log: randomBytes(6).toString("base64url"), revision: 0, time: clock.now(), key };
    const { stored } = await stream.publish(encodeBase(base, randomUUID()), 0);
    if (stored) return base;
  }
  const first = await stream.message(1);
  const read = first && readMessage(first);
  if (read?.type !== "base")
    throw new LogError(
      "unreadable",
      "the stream of the cluster does not begin as a log does; give another cluster.name",
    );
  return read.base;
}

function openKey({ secret }: OpenOptions, { key }: Base): LogIdentity["signingKey"] {
  const opened = secret.open(SIGNING_KEY, Buffer.from(key, "base64"));
  if (!opened)
    throw new LogError(
      "unreadable",
      "the secret of the cluster is another one; give the same cluster.secretFile to all nodes",
    );
  return opened;
}

/** Nothing is deleted: the history of another log may be wanted. */
function moveAway({ path, logger }: OpenOptions, id: string): void {
  const away = `${path}.${id}`;
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(path + suffix)) renameSync(path + suffix, away + suffix);
  logger.warn("the copy of the log is not of this cluster's log; it was moved away", { file: away });
}
