/**
 * The representations of changes: after a revision (`since`), and between two states (`diff`). Both are streamed item by
 * item, so that a body is never whole in memory. Faults are found before a representation exists, because a condition
 * (`If-None-Match`) must not turn them into a 304.
 */

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
import { throwIfFault } from "../query-problem.ts";
import type { Representation } from "../representation.ts";
import { changeMembers } from "./change-json.ts";
import { jsonList } from "./json-list.ts";
import type { ReadContext } from "./read-context.ts";

export function changesRepresentation(
  { history, view }: ReadContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Representation {
  const since = throwIfFault(resolveSince(history, query.since ?? ""));
  const { revision } = view;
  const states =
    query.around &&
    throwIfFault(filterBothStates(history.stateAt(since), history.immutableStateAt(revision), query));
  const changes = (): Iterable<CommittedChange> => {
    if (states) return neighbourhoodChanges(...states, kind);
    return (query.fold ? foldedChangesSince : changesSince)(history, kind, query, since, revision);
  };
  return {
    key: `changes ${kind ?? "topology"} ${query.fingerprint}`,
    version: revision,
    tagIsVersion: true,
    revision,
    contentType,
    render: () => ({
      chunks: jsonList('{"changes":[', renderChanges(changes()), `],"revision":${revision}}`),
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

function* renderChanges(changes: Iterable<CommittedChange>): Generator<string> {
  for (const { change, revision, time } of changes)
    yield `{"event":"${change.event}",${changeMembers(change, revision, time)}}`;
}

export function diffRepresentation(
  { history }: ReadContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Representation {
  const { from, to } = throwIfFault(resolveDiff(history, query.diff ?? ""));
  const states = throwIfFault(filterBothStates(history.stateAt(from), history.immutableStateAt(to), query));
  const renderEnd = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  return {
    key: `diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    version: to,
    tagIsVersion: true,
    revision: to,
    contentType,
    render: () => {
      const open = `{"from":${renderEnd(from)},"to":${renderEnd(to)},"changes":[`;
      return { chunks: jsonList(open, renderDifferences(diffStates(...states, kind)), "]}") };
    },
  };
}

function* renderDifferences(differences: Iterable<Difference>): Generator<string> {
  for (const { event, resource, value, before, changed } of differences) {
    // The entity changed and changed back: only its revision differs.
    if (event === "updated" && changed.length === 0) continue;
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    yield `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  }
}
