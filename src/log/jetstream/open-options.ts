/** The options for opening the log of a cluster. */

import type { Traces } from "../../cluster/nats/nats-cluster.ts";
import type { ClusterSecret } from "../../cluster/nats/sealed.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Log, Snapshot } from "../log.ts";
import type { LogStream } from "./log-stream.ts";
import type { ClusterSnapshots } from "./snapshots.ts";

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
  readonly node: string;
  readonly secret: ClusterSecret;
  /** The state at the newest revision of a log. */
  readonly newestState: (log: Log) => Snapshot;
  /** The traces of this cluster in NATS, without those of this node. Rejects with `StreamError`. */
  readonly traces: () => Promise<Traces>;
  readonly clockCheck?: ClockGuard | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Signal that ends the attempt to open the log. */
  readonly signal: AbortSignal;
}
