/** The errors of a cluster's stream, and of this node's copy of it. */

/**
 * - `unreachable`: no server is connected.
 * - `unanswered`: a server is connected, and the stream does not answer: it has no leader, or the servers no quorum.
 * - `full`: the stream or the account has no room.
 * - `deleted`: there is no stream of this name.
 * - `replaced`: the stream of this name is another one than before.
 * - `passed`: the stream no longer has messages that this node needs, and a snapshot covers them.
 * - `gap`: the stream no longer has messages that this node needs, or that a later one follows, and no snapshot covers them.
 * - `diverged`: the stream has other messages than this node has applied.
 * - `newer`: the stream has messages of a newer version, which this one cannot read.
 * - `slow`: this node is far behind the stream.
 * - `silent`: the stream has messages that have not arrived, and sends nothing.
 * - `disk`: this node cannot write its copy.
 * - `clock`: the clocks of this node and of NATS differ.
 * - `truncated`: the stream ends before messages that this node has applied.
 * - `replicas`: there are fewer servers than replicas.
 */
export const STREAM_CONDITIONS = [
  "unreachable",
  "unanswered",
  "full",
  "deleted",
  "replaced",
  "passed",
  "gap",
  "diverged",
  "newer",
  "slow",
  "silent",
  "disk",
  "clock",
  "truncated",
  "replicas",
] as const;
export type StreamCondition = (typeof STREAM_CONDITIONS)[number];

/** The error while the stream or the copy cannot be used. The message is for the operator. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly condition: StreamCondition;

  constructor(condition: StreamCondition, message: string, options?: ErrorOptions) {
    super(message, options);
    this.condition = condition;
  }
}
