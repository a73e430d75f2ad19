/** The time line: its start and end, and the revisions at both ends of the kept history. */

import type { History } from "../view/history.ts";
import { MergeRules } from "../view/merge-rules.ts";
import { badParameter, QueryFault } from "./fault.ts";
import type { ParsedQuery } from "./query.ts";
import { parseTime } from "./revision.ts";

/** A time line. Its times are epoch milliseconds. */
export interface ResolvedTimeline {
  readonly from: number;
  readonly to: number;
  /** Number of equal spans into which the time is divided. */
  readonly spans: number;
  readonly oldest: RevisionTime;
  /** The revision at the end of the first load, or the oldest one. Later changes are changes of the network. */
  readonly loaded: RevisionTime;
  readonly newest: RevisionTime;
}

interface RevisionTime {
  readonly revision: number;
  readonly time: number;
}

export function resolveTimeline(history: History, query: ParsedQuery): ResolvedTimeline | QueryFault {
  const { view, log } = history;
  const { oldest, oldestTime } = log.stats();
  // Revision 0, the empty view, has no time, so the time line begins with the first change.
  const firstTime = oldestTime > 0 ? oldestTime : (log.timeOf(1) ?? view.time);
  const from = query.from === undefined ? firstTime : parseTime("from", query.from);
  if (from instanceof QueryFault) return from;
  const to = query.to === undefined ? view.time + 1 : parseTime("to", query.to);
  if (to instanceof QueryFault) return to;
  if (to <= from) {
    const format = (time: number) => new Date(time).toISOString();
    return badParameter(
      query.to === undefined ? "from" : "to",
      `leaves an empty span of time: from ${format(from)} to ${format(to)}; from must be before to.`,
    );
  }
  return {
    from,
    to,
    spans: query.timeline ?? 1,
    oldest: { revision: oldest, time: firstTime },
    loaded: loadedAt(history, Math.max(oldest, Math.min(1, view.revision))),
    newest: { revision: view.revision, time: view.time },
  };
}

/**
 * The revision at which the first load ended. The log stores it with the next change after it; until then it is the newest
 * revision. A log that does not have it although all sources have reported was written before this was stored.
 */
function loadedAt(history: History, first: number): RevisionTime {
  const rules = MergeRules.read(history.view);
  const loaded = rules.loadedRevision ?? (rules.isLoaded ? first : history.view.revision);
  const revision = Math.max(first, loaded);
  return { revision, time: history.timeOf(revision) };
}
