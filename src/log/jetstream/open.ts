/**
 * Opens the log of a cluster on this node.
 *
 * - If the stream continues this node's copy, the copy is used. It is also used, with an old view, while NATS cannot be used.
 *   A stream whose signing key is sealed with another secret is refused, because everyone with that secret could sign messages.
 * - Otherwise the node loads the newest snapshot of the stream (`load-copy.ts`), and moves its own copy away. Until a usable
 *   snapshot exists, a node with a copy of the same stream serves the copy, and a node without a copy waits.
 * - If there is no stream, the node makes it (`make-stream.ts`): from its copy, as a new log that continues from the same
 *   revision, or empty. If NATS has traces of a former log, no node begins an empty one, because the others would move their
 *   copies away for it. A node without a copy then waits for a node with one, and a node with a copy for one with a newer copy.
 * - A node without a copy whose folder contains the log of a single node begins the cluster's log with that log. If the cluster
 *   has or had a log, the start is refused.
 */
import { existsSync, rmSync } from "node:fs";
import type { Traces } from "../../cluster/nats/nats-cluster.ts";
import { openEmbeddedLog } from "../embedded.ts";
import { LogError } from "../log.ts";
import { filesOfLog, IN_MEMORY, moveLog } from "../log-file.ts";
import { sealedWithOtherSecret } from "./identity.ts";
import { JetStreamLog } from "./jetstream-log.ts";
import { canLoad, hasOtherSecret, loadCopy, missingSnapshot } from "./load-copy.ts";
import type { StreamInfo } from "./log-stream.ts";
import { beginFromCopy, beginFromSingleNode, beginLog } from "./make-stream.ts";
import type { LoadedCopy, OpenedCopy, OpenOptions } from "./open-options.ts";
import { COPY_TO_DELETE, decodePosition } from "./position.ts";
import { StreamError } from "./stream-error.ts";

const RETRY_MS = 1_000;
/** Number of checks in a row that must find no stream before it is made again from a copy. */
const CHECKS_UNTIL_DELETED = 3;
/** Number of checks after which a node stops waiting for the first message, which the node that made the stream should write. */
const CHECKS_UNTIL_ABANDONED = 30;

/** Opens the log. It follows the stream only after `start` is called. Rejects with `LogError`. */
export async function openJetStreamLog(given: OpenOptions): Promise<JetStreamLog> {
  // A node with a copy has been in the cluster, so a single-node log beside it is obsolete, also if the copy is moved away.
  const hasCopy = given.path !== IN_MEMORY && existsSync(given.path);
  const options = hasCopy ? { ...given, singlePath: undefined } : given;
  const copy = await openCopy(options);
  try {
    const opened = copy
      ? await continueCopy(options, copy)
      : await untilUsable(options, () => openWithoutCopy(options));
    return new JetStreamLog({ ...options, ...opened, canLoad: (beyond) => canLoad(options, beyond) });
  } catch (error) {
    await copy?.local.close();
    throw error;
  }
}

/** Opens the copy in the data folder; undefined if there is no usable one. Moves away or deletes a copy that is not usable. */
async function openCopy(options: OpenOptions): Promise<LoadedCopy | undefined> {
  const { path, clock, logger } = options;
  if (path === IN_MEMORY || !existsSync(path)) return undefined;
  const local = openEmbeddedLog(path, { retry: { clock, logger } });
  const position = decodePosition(local.position);
  if (position) return { local, position };
  const isEmpty = local.stats().newest === 0 || local.position === COPY_TO_DELETE;
  await local.close();
  if (!isEmpty) moveAway(options, local.id);
  else for (const file of filesOfLog(path)) rmSync(file, { force: true });
  return undefined;
}

async function continueCopy(options: OpenOptions, copy: LoadedCopy): Promise<OpenedCopy> {
  const found = await untilSure(options);
  if (!(found instanceof StreamError) && found.created === copy.position.created) {
    const isOther = await hasOtherSecret(options.stream, options.snapshots, options.secret).catch(asTrouble);
    if (isOther === true) throw sealedWithOtherSecret();
    if (isOther !== false) return { ...copy, trouble: isOther };
    // The copy is kept unless a complete state can be loaded, because a stream that lost messages must not cost the copy too.
    const { sequence } = copy.position;
    if (sequence + 1 >= found.firstSequence) return copy;
    const isLoadable = await canLoad(options, sequence + 1).catch(asTrouble);
    if (isLoadable !== true) return { ...copy, trouble: isLoadable || missingSnapshot() };
  }
  if (found instanceof StreamError && found.condition !== "deleted") {
    if (found.condition === "replicas") throw asLogError(found);
    options.logger.warn("NATS cannot be used: the last known view is served", { why: found.message });
    return { ...copy, trouble: found };
  }
  const { local } = copy;
  const made = await untilUsable(options, async () => {
    const info = await begunStream(options, local.stats().newest);
    return info.lastSequence === 0 ? beginFromCopy(options, local, info) : undefined;
  });
  if (made) return made;
  await local.close();
  moveAway(options, local.id);
  return untilUsable(options, () => openWithoutCopy(options));
}

async function openWithoutCopy(options: OpenOptions): Promise<OpenedCopy> {
  const { singlePath, clock, logger } = options;
  if (singlePath !== undefined && existsSync(singlePath)) {
    const single = openEmbeddedLog(singlePath, { retry: { clock, logger } });
    try {
      if (single.stats().newest > 0) return await beginFromSingleNode(options, singlePath, single);
    } finally {
      await single.close();
    }
  }
  const info = await begunStream(options);
  if (info.lastSequence === 0) await beginLog(options);
  return { ...(await loadCopy(options, await options.stream.info())), isFresh: true };
}

/** Reads the state of the stream, or returns the error. Checks several times before it reports that there is no stream. */
async function untilSure({ stream, clock, signal }: OpenOptions): Promise<StreamInfo | StreamError> {
  for (let checks = 1; ; checks++) {
    try {
      return await stream.info();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.condition !== "deleted" || checks >= CHECKS_UNTIL_DELETED || signal.aborted) return error;
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/**
 * Returns the stream, and makes it if it does not exist. The stream has a message, unless this node is to write the first one.
 * `revision` is the revision of this node's copy. Rejects with `StreamError` where another node must begin the log.
 */
async function begunStream(options: OpenOptions, revision?: number): Promise<StreamInfo> {
  const { stream, clock, signal } = options;
  for (let checks = 0; ; checks++) {
    if (!(await stream.hasMessages())) {
      const refusal = whyNotToBegin(await options.traces(), revision);
      // Another node may have begun the log meanwhile, and the traces are those of its log.
      if (refusal !== undefined && !(await stream.hasMessages())) throw new StreamError("deleted", refusal);
    }
    const { info, isNew } = await stream.ensure();
    if (info.lastSequence > 0 || isNew || checks >= CHECKS_UNTIL_ABANDONED || signal.aborted) return info;
    await clock.sleep(RETRY_MS, signal);
  }
}

/** The reason why a node must not begin the log; undefined if it may. `revision` is that of its copy; undefined without one. */
export function whyNotToBegin({ places, nodes }: Traces, revision: number | undefined): string | undefined {
  if (revision === undefined)
    return places.length === 0
      ? undefined
      : `the log of the cluster is gone, and NATS has traces of it (${places.join(", ")}): start a node that has a copy of the log, or give the log up with gazetteer cluster begin`;
  const [newest] = [...nodes].sort((a, b) => b.revision - a.revision);
  if (!newest || newest.revision <= revision) return undefined;
  const { nodeName } = newest;
  return `the log of the cluster is gone, and the node ${nodeName} shows revision ${newest.revision}, this node's copy only ${revision}: restart ${nodeName} first, it makes the stream from its copy. If that copy is lost, see docs/cluster.md, "When the log is gone"`;
}

/** Calls `open` until it succeeds, while NATS or another node is not ready. */
async function untilUsable<Result>(
  { clock, logger, signal }: OpenOptions,
  open: () => Promise<Result>,
): Promise<Result> {
  let said = "";
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.condition === "replicas" || signal.aborted) throw asLogError(error);
      if (error.message !== said) logger.warn("waiting for the log of the cluster", { why: error.message });
      said = error.message;
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Returns a `StreamError`, and rethrows every other error. */
function asTrouble(error: unknown): StreamError {
  if (error instanceof StreamError) return error;
  throw error;
}

const asLogError = (error: StreamError): LogError =>
  new LogError("unreadable", error.message, { cause: error });

/** Moves this node's copy away. It is not deleted, because the operator may want its history. */
function moveAway({ path, logger }: OpenOptions, id: string): void {
  const away = `${path}.${id}`;
  moveLog(path, away);
  logger.warn("the stream does not continue this node's copy of the log: it was moved away", { file: away });
}
