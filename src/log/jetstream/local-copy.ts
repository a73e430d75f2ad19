/** The reads of the past, which a node answers from its copy of the log, and the upkeep of the copy. */
import type { Paced } from "../../lib/steps.ts";
import type { Batch, LocalHistory, LogStats, Snapshot } from "../log.ts";
import type { RetryingLog } from "../retrying-log.ts";

export class LocalCopy implements LocalHistory {
  readonly id: string;
  readonly signingKey: Uint8Array;
  readonly #local: RetryingLog;

  constructor(local: RetryingLog) {
    this.id = local.id;
    this.signingKey = local.signingKey;
    this.#local = local;
  }

  read(revision: number, until?: number): Paced<Batch> {
    return this.#local.read(revision, until);
  }

  snapshotAtOrBefore(revision: number): Snapshot | undefined {
    return this.#local.snapshotAtOrBefore(revision);
  }

  writeSnapshot(snapshot: Snapshot): Promise<void> {
    return this.#local.writeSnapshot(snapshot);
  }

  dropSnapshot(revision: number): Promise<void> {
    return this.#local.dropSnapshot(revision);
  }

  revisionAt(time: number): number | undefined {
    return this.#local.revisionAt(time);
  }

  timeOf(revision: number): number | undefined {
    return this.#local.timeOf(revision);
  }

  histogram(from: number, to: number, buckets: number): readonly number[] {
    return this.#local.histogram(from, to, buckets);
  }

  prune(keepSince: number, maxBytes: number): Promise<void> {
    return this.#local.prune(keepSince, maxBytes);
  }

  /** The listener is called with true when the copy cannot be written, and with false when it can again. */
  onWriteFailing(listener: (isFailing: boolean) => void): void {
    this.#local.onFailing(listener);
  }

  stats(): LogStats {
    return this.#local.stats();
  }

  close(): Promise<void> {
    return this.#local.close();
  }
}
