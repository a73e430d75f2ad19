/** The context of every read: the current view, its history and its log, all of the same network. */
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import type { Scheduler } from "../../lib/scheduler.ts";
import type { Steps } from "../../lib/steps.ts";
import type { Log } from "../../log/log.ts";
import type { Problems } from "../../query/problems/problems.ts";
import type { NamedRevisions } from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import type { View } from "../../view/view.ts";
import type { ServerLimits } from "../limits/admission.ts";
import type { Dialect } from "../onos/dialect.ts";
import type { SharedChunks } from "../stream/shared-chunks.ts";
import type { Drawings } from "./drawings.ts";

export interface ReadContext {
  readonly view: View;
  readonly history: History;
  readonly log: Log;
  /** The problems of the network, which are not HTTP problems. */
  readonly problems: Problems;
  /** Runs all work whose time grows with the network. */
  readonly scheduler: Scheduler;
  /** Renders drawings in a thread, because they cannot be drawn in steps. */
  readonly drawings: Drawings;
}

export type ReadLimits = Pick<ServerLimits, "pageLimit" | "paths">;

/** The context of one request, with the dialect of its path. */
export interface RequestContext extends ReadContext {
  /** Counts the memory that the response holds: captured states, and data whose size grows with the network. */
  readonly memory: MemoryAccount;
  readonly dialect: Dialect;
  readonly limits: ReadLimits;
  /** The revisions that `at`, `since` and `diff` name. */
  readonly revisions: NamedRevisions;
  /**
   * Waits for a revision that another node may have, and throws a `ProblemDetails` if the view does not reach it in time.
   * Returns false at once if no other node writes.
   */
  awaitRevision(revision: number): Steps<boolean>;
  /** The chunks that streams at the same position share. */
  readonly chunks: SharedChunks;
}
