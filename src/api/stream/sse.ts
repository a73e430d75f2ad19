/**
 * The text of server-sent events. Only the last record of a revision has the id, so that a client that resumes by id has
 * either all changes of a revision or none. The id also names the log, because after the data folder was emptied the same
 * revision has other changes, and a browser that resumes sends only the last id.
 */
import type { Steps } from "../../lib/steps.ts";
import type { Log } from "../../log/log.ts";
import type { ResetReason } from "../../query/revision.ts";
import type { NetworkState } from "../../view/view.ts";
import { changeMembers, type StreamedChange } from "../endpoints/json-list.ts";

/** Number of characters after which a chunk of records ends. */
export const CHUNK_CHARS = 65_536;

export type LogId = Pick<Log, "id">;

/** The line with the id, which begins a record. */
export const idLine = ({ id }: LogId, revision: number): string => `id: ${id}.${revision}\n`;

/** The record of a revision without changes. */
export const revisionRecord = (log: LogId, revision: number): string => `${idLine(log, revision)}\n`;

/**
 * Keeps the connection alive. An id without data is not an event, but it moves the position to resume from. Without it a
 * subscriber whose filters match little would resume from a revision that is no longer kept.
 */
export const heartbeatRecord = (log: LogId, revision: number): string =>
  `: heartbeat\n${revisionRecord(log, revision)}`;
export const HEARTBEAT_COMMENT = ": heartbeat\n\n";
/** The comment that is sent first, so that the client sees at once that it is connected. */
export const OPENING_COMMENT = ": connected\n\n";

/** The record before the snapshot of a stream that cannot resume from its `Last-Event-ID`. */
export const resetRecord = (reason: ResetReason, revision: number): string =>
  `event: reset\ndata: {"reason":"${reason}","revision":${revision}}\n\n`;

export const snapshotRecord = (resource: string, revision: number, value: string): string =>
  `event: snapshot\ndata: {"resource":"${resource}","revision":${revision},"value":${value}}\n\n`;

/**
 * The record after a snapshot. It contains the revisions that last changed each collection, so that a replica computes the
 * same entity tags.
 */
export function* syncedRecord(log: LogId, state: NetworkState): Steps<string> {
  const { revision, time, versions } = state;
  const graphTime = yield* state.graphTime();
  const { claims: _claims, settings: _settings, ...marks } = versions;
  const data = { revision, time, graphTime, marks };
  return `${idLine(log, revision)}event: synced\ndata: ${JSON.stringify(data)}\n\n`;
}

export const overflowRecord = (revision: number): string =>
  `event: overflow\ndata: {"revision":${revision}}\n\n`;

export const closingRecord = (reason: "shutdown" | "credentials", retryMs: number): string =>
  `retry: ${retryMs}\nevent: closing\ndata: {"reason":"${reason}"}\n\n`;

/** The record of a change that is followed by others of its revision. */
export const changeRecord = (change: StreamedChange, revision: number, time: number): string =>
  `event: ${change.event}\ndata: {${changeMembers(change, revision, time)}}\n\n`;

/** The record of the last change of a revision. */
export const lastChangeRecord = (
  log: LogId,
  change: StreamedChange,
  revision: number,
  time: number,
): string => idLine(log, revision) + changeRecord(change, revision, time);

const NO_BYTES = new Uint8Array();

export const encodeText = (text: string): Uint8Array => (text === "" ? NO_BYTES : Buffer.from(text));
