/** What the interface shows of the cluster that this node belongs to. Nothing of it is in a body under `/controller`. */

/** What every process of a node knows. */
export interface ClusterView {
  /**
   * Epoch milliseconds, while the log of the cluster cannot be followed: the view was complete then, and may be older than
   * the log now.
   */
  readonly staleSince: number | undefined;
}

/** What cannot be done with the log of the cluster, for the operator. */
export interface ClusterTrouble {
  readonly condition: string;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** What the main process of a node knows. */
export interface ClusterStatus extends ClusterView {
  readonly name: string;
  readonly node: string;
  readonly trouble: ClusterTrouble | undefined;
  /** All conditions that there can be. */
  readonly conditions: readonly string[];
  /** Messages of the log that this node knows of and has not applied yet. */
  readonly lag: number;
  /** By how much the clock of this node is ahead of that of NATS; undefined before it was compared. */
  readonly clockOffsetMs: number | undefined;
  /** NATS servers that are to store the log, and those that have all of it: 0 while it does not answer. */
  readonly replicas: { readonly configured: number; readonly current: number };
  /** What no node of the cluster has written, by where it was found. It is ignored. */
  readonly foreignMessages: Readonly<Record<string, number>>;
  /** Commits that were computed again because another node had appended first. */
  readonly overtaken: number;
  /** A view that may be older than this is not ready; 0 is any age. */
  readonly maxStaleSeconds: number;
}

/** Whole seconds; undefined while the view is up to date. */
export const staleSeconds = ({ staleSince }: ClusterView, now: number): number | undefined =>
  staleSince === undefined ? undefined : Math.max(0, Math.floor((now - staleSince) / 1000));
