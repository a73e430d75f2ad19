/**
 * Changed rules of a cluster by which some node has begun to merge again, and has not finished: after a while another node
 * does. Merging again what is merged already changes nothing, so it does no harm when the first one is only slow. A lease keeps
 * several nodes from doing it at once.
 */
import type { Leases } from "../../cluster/leases.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { within } from "../../lib/within.ts";
import type { Committer } from "../../view/committer.ts";

/** No source has this name. */
const LEASE = " merge";

export interface UnfinishedMergesParts {
  readonly leases: Leases;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function finishMerges(
  { leases, committer, clock, logger }: UnfinishedMergesParts,
  signal: AbortSignal,
): Promise<void> {
  let since: number | undefined;
  while (!signal.aborted) {
    await clock.sleep(leases.ttlMs / 4, signal);
    since = committer.isMergingElsewhere ? (since ?? clock.monotonic()) : undefined;
    if (signal.aborted || since === undefined || clock.monotonic() - since < 2 * leases.ttlMs) continue;
    const lease = await within(clock, leases.ttlMs, signal, (limited) =>
      leases.acquire(LEASE, limited, () => {}),
    );
    try {
      if (lease) await committer.mergeForOthers();
    } catch (error) {
      logger.error("changed settings of sources were not applied", { why: errorMessage(error) });
    } finally {
      await lease?.release();
    }
  }
}
