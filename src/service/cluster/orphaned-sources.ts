/**
 * Sources of a cluster that no node runs any more, because the only ones that have them configured are gone: one of the other
 * nodes marks their claims as stale, as a failing source's are. A node that has such a source takes it over again at any time.
 */
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { within } from "../../lib/within.ts";
import type { Committer } from "../../view/committer.ts";
import type { SourceSet } from "../source-set.ts";
import type { ClusterMember } from "./open-cluster.ts";

export interface OrphanedSourcesParts {
  readonly cluster: Pick<ClusterMember, "leases" | "log">;
  readonly sources: Pick<SourceSet, "markOrphaned">;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function markOrphanedSources(
  { cluster, sources, committer, clock, logger }: OrphanedSourcesParts,
  signal: AbortSignal,
): Promise<void> {
  const { leases, log } = cluster;
  /** By source, monotonic. */
  const freeSince = new Map<string, number>();
  while (!signal.aborted) {
    await clock.sleep(leases.ttlMs / 4, signal);
    const now = clock.monotonic();
    const { trouble } = log.health;
    // Without NATS nothing is known of leases. With a wrong clock they are known all the same.
    const isUnknown = trouble !== undefined && trouble.condition !== "clock";
    for (const { name } of committer.rules.settings.sources) {
      const isLive = committer.rules.facts.get(name)?.hasSynced === true && !committer.rules.isStale(name);
      if (!isLive || isUnknown || leases.holderOf(name)) freeSince.delete(name);
      else if (!freeSince.has(name)) freeSince.set(name, now);
    }
    for (const [name, since] of freeSince) {
      // Who has it configured would have taken the lease by now.
      if (signal.aborted || now - since < 2 * leases.ttlMs) continue;
      try {
        await within(clock, leases.ttlMs, signal, (limited) => sources.markOrphaned(name, limited));
      } catch (error) {
        logger.error("the status of a source was not stored", { source: name, why: errorMessage(error) });
      }
    }
  }
}
