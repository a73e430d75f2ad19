/**
 * Which sources this node of a cluster may run: those whose lease it has, once it has taken them over in the log. The log
 * then refuses whatever the node before it still writes.
 */
import type { Lease, Leases } from "../cluster/leases.ts";
import { aborted } from "../lib/aborted.ts";
import type { Logger } from "../lib/logger.ts";
import type { JetStreamLog } from "../log/jetstream/jetstream-log.ts";
import { LogError } from "../log/log.ts";
import type { RunPermit } from "../sources/supervise.ts";

type LeasesOfNodes = Pick<Leases, "acquire" | "holderOf">;
type TakenOverLog = Pick<JetStreamLog, "takeOver" | "blocked">;

export class SourceLeases {
  readonly #leases: LeasesOfNodes;
  readonly #log: TakenOverLog;
  readonly #logger: Logger;
  readonly #permits = new Map<string, AbortController>();

  constructor(leases: LeasesOfNodes, log: TakenOverLog, logger: Logger) {
    this.#leases = leases;
    this.#log = log;
    this.#logger = logger;
  }

  /** The name of the node that runs a source, as far as it is known. */
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
        // A node that can write nothing would only keep the source from those that can.
        onWait();
        await aborted(signal);
        return undefined;
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

  /** The log has refused a write, because another node has taken the source over. */
  revoke(source: string): void {
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
