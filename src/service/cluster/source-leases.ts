/**
 * Decides which sources this node of a cluster may run: those whose lease it holds, once it has appended a takeover to the log.
 * The log then refuses the writes of the previous node. A node that runs more sources than others gives some up.
 */
import type { Lease, Leases } from "../../cluster/leases.ts";
import type { SeenNode } from "../../cluster/nodes.ts";
import { aborted } from "../../lib/aborted.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { JetStreamLog } from "../../log/jetstream/jetstream-log.ts";
import { LogError } from "../../log/log.ts";
import type { RunPermit } from "../../sources/supervise.ts";

/** Time for which a given-up source is left to others. A node that waits for its lease gets it well before that. */
const LEFT_TO_OTHERS_MS = 5_000;
/** Minimum uptime of a node that gets sources, because one that has just started may be restarted again and again. */
const MIN_UPTIME_MS = 60_000;
/** Minimum difference in the number of sources. With a smaller one, a source would move back and forth. */
const MIN_DIFFERENCE = 2;

type LeasesOfNodes = Pick<Leases, "acquire" | "holderOf">;
type TakenOverLog = Pick<JetStreamLog, "takeOver" | "blocked">;

export class SourceLeases {
  readonly #leases: LeasesOfNodes;
  readonly #log: TakenOverLog;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #permits = new Map<string, AbortController>();
  /** The monotonic time until which a source is left to other nodes, by source. */
  readonly #leftUntil = new Map<string, number>();

  constructor(leases: LeasesOfNodes, log: TakenOverLog, clock: Clock, logger: Logger) {
    this.#leases = leases;
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The name of the node that runs a source; undefined where it is not known. */
  nodeOf(source: string): string | undefined {
    return this.#leases.holderOf(source)?.nodeName;
  }

  async permitFor(
    source: string,
    signal: AbortSignal,
    onWait: () => void = () => {},
  ): Promise<RunPermit | undefined> {
    while (!signal.aborted) {
      const { blocked } = this.#log;
      if (blocked.aborted) {
        // A node that cannot write would only keep the source from nodes that can.
        onWait();
        await aborted(signal);
        return undefined;
      }
      const leftMs = (this.#leftUntil.get(source) ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) {
        onWait();
        await this.#clock.sleep(leftMs, signal);
        continue;
      }
      const lease = await this.#leases.acquire(source, signal, onWait);
      if (!lease) return undefined;
      const revoked = new AbortController();
      const lost = AbortSignal.any([lease.ended, revoked.signal, blocked]);
      if (await this.#takeOver(source, lease, AbortSignal.any([signal, lost]))) {
        this.#permits.set(source, revoked);
        return { lost, release: () => lease.release() };
      }
      await lease.release();
      onWait();
    }
    return undefined;
  }

  /** Ends the run of a source, after the log has refused a write because another node has taken the source over. */
  revoke(source: string): void {
    this.#permits.get(source)?.abort();
  }

  /** Ends the run of a source, and leaves its lease to other nodes. */
  giveUp(source: string): void {
    this.#leftUntil.set(source, this.#clock.monotonic() + LEFT_TO_OTHERS_MS);
    this.#permits.get(source)?.abort();
  }

  async #takeOver(source: string, lease: Lease, signal: AbortSignal): Promise<boolean> {
    try {
      const isTaken = await this.#log.takeOver(source, signal, () => lease.isValid());
      if (isTaken) this.#logger.info("source taken over by this node", { source });
      return isTaken && !signal.aborted;
    } catch (error) {
      if (error instanceof LogError) return false;
      throw error;
    }
  }
}

/** A node that may run a source. */
type SpreadNode = Pick<SeenNode, "node" | "sources" | "held" | "startedAt" | "trouble" | "lostSince">;

/** A source of `held`, the sources that this node runs, that another node should run because it runs fewer. */
export function sourceToGiveUp(
  node: string,
  held: readonly string[],
  nodes: readonly SpreadNode[],
  isMovable: (source: string) => boolean,
  now: number,
): string | undefined {
  const others = nodes.filter(
    (other) =>
      other.node !== node &&
      other.lostSince === undefined &&
      other.trouble === undefined &&
      now - other.startedAt >= MIN_UPTIME_MS &&
      held.length - other.held.length >= MIN_DIFFERENCE,
  );
  return held.find((source) => isMovable(source) && others.some(({ sources }) => sources.includes(source)));
}
