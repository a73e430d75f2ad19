/** The status of the cluster that this node belongs to. No response body under `/controller` contains any of it. */

import type { LostMember } from "../model/readiness.ts";

/** The part of the status that every process of a node knows. */
export interface ClusterView {
  /**
   * The last time (epoch milliseconds) at which the view was complete. Set only while the log of the cluster cannot be
   * followed, so that the view may be older than the log.
   */
  readonly staleSince: number | undefined;
}

/** A failure to use the log of the cluster, as shown to the operator. */
export interface ClusterTrouble {
  readonly condition: string;
  readonly message: string;
  /** The time when the failure began (epoch milliseconds). */
  readonly since: number;
}

/** The status that only the main process of a node knows. */
export interface ClusterStatus extends ClusterView {
  readonly name: string;
  readonly node: string;
  readonly trouble: ClusterTrouble | undefined;
  /** All values that `trouble.condition` can have. */
  readonly conditions: readonly string[];
  /** Number of messages in the log that this node has not applied yet, as far as it has been informed. */
  readonly lag: number;
  /** Milliseconds by which the clock of this node is ahead of that of NATS; undefined until they are compared. */
  readonly clockOffsetMs: number | undefined;
  /** Number of NATS servers configured to store the log, and of those that have all of it: 0 while NATS does not respond. */
  readonly replicas: { readonly configured: number; readonly current: number };
  /** The nodes and NATS servers that are lost. */
  readonly lost: readonly LostMember[];
  /** Number of ignored messages that no node of the cluster has written, by the place where they were found. */
  readonly foreignMessages: Readonly<Record<string, number>>;
  /** Number of commits that were computed again because another node had appended first. */
  readonly overtaken: number;
  /** Age of the view in seconds beyond which the node is not ready; 0 for no limit. */
  readonly maxStaleSeconds: number;
}

/** The age of the view in whole seconds; undefined while it is up to date. */
export const staleSeconds = ({ staleSince }: ClusterView, now: number): number | undefined =>
  staleSince === undefined ? undefined : Math.max(0, Math.floor((now - staleSince) / 1000));
