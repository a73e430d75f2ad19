/** The options for opening the log of a cluster, and the copy with which it is opened. */

import type { Traces } from "../../cluster/nats/nats-cluster.ts";
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { EmbeddedLog } from "../embedded.ts";
import type { Log, Snapshot } from "../log.ts";
import type { LogStream } from "./log-stream.ts";
import type { StreamPosition } from "./position.ts";
import type { ClusterSnapshots } from "./snapshots.ts";
import type { StreamError } from "./stream-error.ts";

/** Compares this node's clock, which stamps its batches, with the clock of NATS, which all nodes share. */
export interface ClockGuard {
  check(): Promise<"right" | "wrong" | "suspect">;
  /** Whether `time` was read while the clock was ahead. */
  isAhead(time: number): boolean;
}

export interface OpenOptions {
  readonly stream: LogStream;
  readonly snapshots: ClusterSnapshots;
  /** Path of this node's copy, or `:memory:`. */
  readonly path: string;
  /** The file that the log of a single node would have, which begins the log of a new cluster; undefined without a folder. */
  readonly singlePath?: string | undefined;
  /** The name of this run of this node, unique among all runs of all nodes. */
  readonly node: string;
  readonly secret: ClusterSecret;
  /** The state at the newest revision of a log. */
  readonly newestState: (log: Log) => Snapshot;
  /** The traces of this cluster in NATS, without those of this node. Rejects with `StreamError`. */
  readonly traces: () => Promise<Traces>;
  /** The comparison with the clock of NATS; absent where the clock of this machine is not compared. */
  readonly clockCheck?: ClockGuard | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Signal that ends the attempt to open the log. */
  readonly signal: AbortSignal;
}

/** This node's copy of the log, and the position up to which it is complete. */
export interface LoadedCopy {
  readonly local: EmbeddedLog;
  readonly position: StreamPosition;
}

export interface OpenedCopy extends LoadedCopy {
  /** The reason for which the log is opened from its copy, without the stream; undefined where the stream is used. */
  readonly trouble?: StreamError | undefined;
  /** Whether the copy was made now, from a snapshot or the stream. */
  readonly isFresh?: boolean | undefined;
}
