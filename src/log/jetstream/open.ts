/**
 * Opens the log of a cluster on this node.
 *
 * - A copy that the stream goes on from is used; also when NATS cannot be used now, and then the view is old. A stream that is
 *   sealed with another secret is refused: whoever knows that one has the signing key, which the copy has too.
 * - Otherwise the node loads the newest snapshot of the stream (`load-copy.ts`), and its own copy is moved away. Until there is
 *   one that helps, a copy of the same stream is served, and a node without waits.
 * - Where there is no stream, the node makes it: from its copy, as a new log that goes on from the same revision, or empty
 *   (`make-stream.ts`). Where NATS has traces of a former log, nobody begins an empty one: the others would move their copies
 *   away for it. A node without a copy waits for one that has it, and a node with a copy for one whose copy is newer.
 * - A node without a copy in whose folder the log of a single node is begins the cluster's log with that. Where the cluster has
 *   or had a log, the start is refused.
 */
import { existsSync, rmSync } from "node:fs";
import { LogError } from "../log.ts";
import { filesOfLog, IN_MEMORY, moveLog } from "../log-file.ts";
import { openRetryingLog, type RetryingLog } from "../retrying-log.ts";
import { sealedWithOtherSecret } from "./identity.ts";
import { JetStreamLog } from "./jetstream-log.ts";
import { canLoad, hasOtherSecret, loadCopy, missingSnapshot } from "./load-copy.ts";
import type { StreamInfo } from "./log-stream.ts";
import { beginFromCopy, beginFromSingleNode, beginLog } from "./make-stream.ts";
import type { OpenOptions, Traces } from "./open-options.ts";
import { COPY_TO_DELETE, decodePosition, type StreamPosition } from "./position.ts";
import { StreamError } from "./stream-error.ts";

const RETRY_MS = 1_000;
/** A stream is made again from a copy only when it is missing for as many checks. */
const CHECKS_UNTIL_DELETED = 3;
/** Whoever makes the stream writes its first message; others wait for that, and not forever. */
const CHECKS_UNTIL_ABANDONED = 30;

interface Copy {
  readonly local: RetryingLog;
  readonly position: StreamPosition;
}

/** The log follows the stream once it is started. Rejects with `LogError`. */
export async function openJetStreamLog(given: OpenOptions): Promise<JetStreamLog> {
  // A folder with a copy has been in the cluster: a log of a single node beside it is of other times, also when the copy goes.
  const hasCopy = given.path !== IN_MEMORY && existsSync(given.path);
  const options = hasCopy ? { ...given, singlePath: undefined } : given;
  const copy = await openCopy(options);
  try {
    const { local, position, trouble, isFresh } = copy
      ? await continueCopy(options, copy)
      : await untilUsable(options, () => openWithoutCopy(options));
    const { stream, node, clockCheck, clock, logger } = options;
    const load = (beyond: number) => canLoad(options, beyond);
    return new JetStreamLog({
      local,
      stream,
      node,
      position,
      trouble,
      isFresh,
      canLoad: load,
      clockCheck,
      clock,
      logger,
    });
  } catch (error) {
    await copy?.local.close();
    throw error;
  }
}

/** The copy in the data folder; undefined where there is none that was ever complete. */
async function openCopy(options: OpenOptions): Promise<Copy | undefined> {
  const { path, clock, logger } = options;
  if (path === IN_MEMORY || !existsSync(path)) return undefined;
  const local = openRetryingLog(path, { clock, logger });
  const position = decodePosition(local.position);
  if (position) return { local, position };
  const isEmpty = local.stats().newest === 0 || local.position === COPY_TO_DELETE;
  await local.close();
  if (!isEmpty) moveAway(options, local.id);
  else for (const file of filesOfLog(path)) rmSync(file, { force: true });
  return undefined;
}

type Opened = Copy & { readonly trouble?: StreamError; readonly isFresh?: boolean };

async function continueCopy(options: OpenOptions, copy: Copy): Promise<Opened> {
  const found = await untilSure(options);
  if (!(found instanceof StreamError) && found.created === copy.position.created) {
    const isOther = await hasOtherSecret(options.stream, options.snapshots, options.secret).catch(asTrouble);
    if (isOther === true) throw sealedWithOtherSecret();
    if (isOther !== false) return { ...copy, trouble: isOther };
    // One that lost messages is none that a copy may be thrown away for.
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

async function openWithoutCopy(options: OpenOptions): Promise<Opened> {
  const { singlePath, clock, logger } = options;
  if (singlePath !== undefined && existsSync(singlePath)) {
    const single = openRetryingLog(singlePath, { clock, logger });
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

/** What NATS says of the stream, or why it says nothing. That there is none is checked again. */
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
 * The stream, made where it does not exist. It has a message, unless this node is the one to write the first. `revision` is
 * that of this node's copy. Rejects with `StreamError` where another node must be the one.
 */
async function begunStream(options: OpenOptions, revision?: number): Promise<StreamInfo> {
  const { stream, clock, signal } = options;
  for (let checks = 0; ; checks++) {
    if (!(await stream.hasMessages())) {
      const refusal = whyNotToBegin(await options.traces(), revision);
      // Whoever was first has left traces since.
      if (refusal !== undefined && !(await stream.hasMessages())) throw new StreamError("deleted", refusal);
    }
    const { info, isNew } = await stream.ensure();
    if (info.lastSequence > 0 || isNew || checks >= CHECKS_UNTIL_ABANDONED || signal.aborted) return info;
    await clock.sleep(RETRY_MS, signal);
  }
}

/** Why a node whose copy has this revision, or that has none, must not begin the log. */
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

/** Waits for NATS, and for other nodes. */
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

/** Rethrows everything else. */
function asTrouble(error: unknown): StreamError {
  if (error instanceof StreamError) return error;
  throw error;
}

const asLogError = (error: StreamError): LogError =>
  new LogError("unreadable", error.message, { cause: error });

/** Nothing is deleted: the history may be wanted. */
function moveAway({ path, logger }: OpenOptions, id: string): void {
  const away = `${path}.${id}`;
  moveLog(path, away);
  logger.warn("the stream does not continue this node's copy of the log: it was moved away", { file: away });
}
