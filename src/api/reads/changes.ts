/**
 * The representations of changes: after a revision (`since`), and between two states (`diff`). Both are streamed item by
 * item, so that a body is never whole in memory. Faults are found before a representation exists, because a condition
 * (`If-None-Match`) must not turn them into a 304.
 */

import { runToEnd } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import {
  type CommittedChange,
  changesSince,
  type Difference,
  diffStates,
  foldedChangesSince,
} from "../../query/changes.ts";
import { type FilteredState, filterBothStates } from "../../query/filtered-state.ts";
import type { Query } from "../../query/query.ts";
import { resolveDiff, resolveSince } from "../../query/revision.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { throwIfFault } from "../query-problem.ts";
import type { Representation } from "../representation.ts";
import { changeIn, changeMembers } from "./change-json.ts";
import { jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";

export function changesRepresentation(
  { history, view, dialect }: RequestContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Representation {
  const since = throwIfFault(resolveSince(history, query.since ?? ""));
  const { revision } = view;
  const states =
    query.around &&
    throwIfFault(
      filterBothStates(runToEnd(history.stateAt(since)), runToEnd(history.stateAt(revision)), query),
    );
  const changes = (): Iterable<CommittedChange> => {
    if (states) return neighbourhoodChanges(...states, kind);
    return (query.fold ? foldedChangesSince : changesSince)(history, kind, query, since, revision);
  };
  return {
    key: `${dialect.keyPrefix}changes ${kind ?? "topology"} ${query.fingerprint}`,
    version: revision,
    tagIsVersion: true,
    revision,
    contentType,
    render: () => ({
      chunks: jsonList('{"changes":[', renderChanges(dialect, changes()), `],"revision":${revision}}`),
    }),
  };
}

/** Compares the neighbourhood at both ends: what entered it and left it again in between is not reported. */
function* neighbourhoodChanges(
  from: FilteredState,
  to: FilteredState,
  kind: Kind | undefined,
): Generator<CommittedChange> {
  const { revision, time } = to.state;
  for (const change of diffStates(from, to, kind)) yield { change, revision, time };
}

function* renderChanges(dialect: Dialect, changes: Iterable<CommittedChange>): Generator<string> {
  for (const { change: committed, revision, time } of changes) {
    const change = changeIn(dialect, committed);
    if (change) yield `{"event":"${change.event}",${changeMembers(change, revision, time)}}`;
  }
}

export function diffRepresentation(
  { history, dialect }: RequestContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Representation {
  const { from, to } = throwIfFault(resolveDiff(history, query.diff ?? ""));
  const states = throwIfFault(
    filterBothStates(runToEnd(history.stateAt(from)), runToEnd(history.stateAt(to)), query),
  );
  const renderEnd = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  return {
    key: `${dialect.keyPrefix}diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    version: to,
    tagIsVersion: true,
    revision: to,
    contentType,
    render: () => {
      const open = `{"from":${renderEnd(from)},"to":${renderEnd(to)},"changes":[`;
      return { chunks: jsonList(open, renderDifferences(dialect, diffStates(...states, kind)), "]}") };
    },
  };
}

function* renderDifferences(dialect: Dialect, differences: Iterable<Difference>): Generator<string> {
  for (const difference of differences) {
    const shown = changeIn(dialect, difference);
    if (!shown) continue;
    const { event, resource, value, changed } = shown;
    // The entity changed and changed back: only its revision differs.
    if (event === "updated" && changed.length === 0) continue;
    const before = dialect.entity(resource, difference.before ?? "");
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    yield `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  }
}
