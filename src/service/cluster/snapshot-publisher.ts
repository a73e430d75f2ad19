/**
 * Writes snapshots of the cluster's log to NATS, from which new nodes begin, and purges the stream before them. Every node
 * runs this. When a snapshot is due, each waits for a random delay and checks again, so that only the first one writes it. A
 * snapshot is also due when the stream lacks messages after the newest one, because no node could continue from that.
 *
 * The stream keeps the messages after the last snapshot but one, and at least as many as are due between two snapshots, so that
 * a node that was away for less continues from its copy. Only a full stream is purged up to the newest snapshot.
 */
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { createPoll } from "../../lib/poll.ts";
import { sealKey } from "../../log/jetstream/identity.ts";
import type { StreamInfo } from "../../log/jetstream/log-stream.ts";
import type { StoredSnapshot } from "../../log/jetstream/snapshots.ts";
import type { Committer } from "../../view/committer.ts";
import { snapshotOf } from "../../view/view.ts";
import type { ClusterMember } from "./open-cluster.ts";

export interface SnapshotPublisherOptions {
  readonly intervalMs?: number;
  readonly maxDelayMs?: number;
  /** Number of messages after which a snapshot is due. It is also due after `bytes`, or the size of the last one if larger. */
  readonly messages?: number;
  readonly bytes?: number;
}

/** The owner of this work on the scheduler. */
const OWNER = "log";

export class SnapshotPublisher {
  readonly #cluster: Pick<ClusterMember, "log" | "snapshots" | "secret">;
  readonly #committer: Committer;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #options: Required<SnapshotPublisherOptions>;

  constructor(
    cluster: Pick<ClusterMember, "log" | "snapshots" | "secret">,
    committer: Committer,
    clock: Clock,
    logger: Logger,
    options: SnapshotPublisherOptions = {},
  ) {
    this.#cluster = cluster;
    this.#committer = committer;
    this.#clock = clock;
    this.#logger = logger;
    this.#options = {
      intervalMs: 5_000,
      maxDelayMs: 5_000,
      messages: 10_000,
      bytes: 32 * 1024 * 1024,
      ...options,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs, maxDelayMs } = this.#options;
    await createPoll({ intervalMs, clock: this.#clock, signal }).run(async () => {
      try {
        if (!(await this.#isDue())) return;
        await this.#clock.sleep(Math.random() * maxDelayMs, signal);
        if (!signal.aborted && (await this.#isDue())) await this.publish();
      } catch (error) {
        this.#logger.warn("a snapshot for the cluster was not written", { why: errorMessage(error) });
      }
    });
  }

  /** Writes a snapshot of the current state, and purges. Rejects with `StreamError`. */
  async publish(): Promise<void> {
    const { log, snapshots, secret } = this.#cluster;
    const { view, scheduler } = this.#committer;
    const state = view.capture();
    const position = log.positionAt(state.revision);
    if (!position) throw new Error(`revision ${state.revision} has no place in the stream`);
    const snapshot = await scheduler.run(OWNER, snapshotOf(state));
    // A node that loads the snapshot could not continue from messages that NATS has replaced.
    await log.ensureApplied();
    const identity = { log: log.id, key: sealKey(secret, log.signingKey), position };
    if (!(await snapshots.write(identity, snapshot))) return;
    this.#logger.info("wrote a snapshot for the cluster", { revision: snapshot.revision });
    await this.#purge();
  }

  async #purge(): Promise<void> {
    const { log } = this.#cluster;
    const [{ lastSequence }, [newest, before]] = await Promise.all([log.stream.info(), this.#ownSnapshots()]);
    const covering = (this.#isFull ? newest : before)?.facts.position.sequence ?? 0;
    const unneeded = this.#isFull ? covering : Math.min(covering, lastSequence - this.#options.messages);
    if (unneeded > 0) await log.stream.purge(unneeded + 1);
  }

  async #isDue(): Promise<boolean> {
    const { log } = this.#cluster;
    if (log.lost.aborted || log.blocked.aborted || log.health.staleSince !== undefined) return false;
    const [info, [newest]] = await Promise.all([log.stream.info(), this.#ownSnapshots()]);
    const since = messagesSince(info, newest);
    if (this.#isFull) return since > 0;
    if (!(await log.stream.hasAllAfter(newest?.facts.position.sequence ?? 0, info))) return true;
    const bytes = info.messages === 0 ? 0 : (info.bytes / info.messages) * since;
    const maxBytes = Math.max(this.#options.bytes, newest?.bytes ?? 0);
    return since >= this.#options.messages || bytes >= maxBytes;
  }

  get #isFull(): boolean {
    return this.#cluster.log.health.trouble?.condition === "full";
  }

  /** The snapshots of this log, the newest first. */
  async #ownSnapshots(): Promise<StoredSnapshot[]> {
    const { log, snapshots } = this.#cluster;
    const stored = await snapshots.list(log.position.created);
    return stored.filter(({ facts }) => facts.log === log.id);
  }
}

/** Number of messages since the newest snapshot. The first message of a stream is not a change and not counted. */
const messagesSince = ({ lastSequence }: StreamInfo, newest: StoredSnapshot | undefined): number =>
  lastSequence - (newest?.facts.position.sequence ?? 1);
