/** What every read is made from: the current view, its history and its log. All three belong to the same network. */
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import type { Scheduler } from "../../lib/scheduler.ts";
import type { Steps } from "../../lib/steps.ts";
import type { Log } from "../../log/log.ts";
import type { Problems } from "../../query/problems/problems.ts";
import type { NamedRevisions } from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import type { View } from "../../view/view.ts";
import type { ServerLimits } from "../limits/server-limits.ts";
import type { Dialect } from "../onos/dialect.ts";
import type { SharedChunks } from "../stream/shared-chunks.ts";
import type { Drawings } from "./drawings.ts";

export interface ReadContext {
  readonly view: View;
  readonly history: History;
  readonly log: Log;
  /** The problems of the network, which are no HTTP problems. */
  readonly problems: Problems;
  /** Everything that grows with the network runs on it. */
  readonly scheduler: Scheduler;
  /** What cannot be drawn in steps is drawn there. */
  readonly drawings: Drawings;
}

export type ReadLimits = Pick<ServerLimits, "pageLimit" | "paths">;

/** The same for one request, which is answered in the dialect of its path. */
export interface RequestContext extends ReadContext {
  /** Counts what the response keeps in memory: captured states, and what grows with the network. */
  readonly memory: MemoryAccount;
  readonly dialect: Dialect;
  readonly limits: ReadLimits;
  /** The revisions that `at`, `since` and `diff` name. */
  readonly revisions: NamedRevisions;
  /**
   * Waits for a revision that another node may have, and throws a `Problem` when it does not come in time. Returns false at
   * once where no other node writes.
   */
  readonly awaitRevision: (revision: number) => Steps<boolean>;
  /** What streams send, shared by those that are at the same position. */
  readonly chunks: SharedChunks;
}
