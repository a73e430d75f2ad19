/**
 * The representations of changes: after a revision (`since`), and between two states (`diff`). Both are streamed item by
 * item, so that a body is never whole in memory. Faults are found before a representation exists, because a condition
 * (`If-None-Match`) must not turn them into a 304.
 */

import { mapPaced, type Paced, type Steps } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { findAmbiguity } from "../../query/bound-filters.ts";
import {
  type CommittedChange,
  changesSince,
  type Difference,
  diffStates,
  foldedChangesSince,
} from "../../query/changes.ts";
import type { CountBytes } from "../../query/count-bytes.ts";
import { type FilteredState, filterBothStates } from "../../query/filtered-state.ts";
import type { Query } from "../../query/query.ts";
import { resolveDiff, resolveSince } from "../../query/revision.ts";
import type { Dialect } from "../onos/dialect.ts";
import { throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { changeIn, changeMembers } from "./change-json.ts";
import { jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";

export function* changesRepresentation(
  { history, view, dialect, memory }: RequestContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Steps<Representation> {
  const since = throwIfFault(resolveSince(history, query.since ?? ""));
  const now = view.capture();
  const { revision } = now;
  throwIfFault(findAmbiguity(query, now));
  const states =
    query.around && throwIfFault(yield* filterBothStates(yield* history.stateAt(since), now, query));
  for (const { state } of states ?? []) memory.hold(state);
  const count = (bytes: number) => memory.add(bytes);
  const changes = (): Paced<CommittedChange> => {
    if (states) return neighbourhoodChanges(...states, kind, count);
    return query.fold
      ? foldedChangesSince(history, kind, query, since, revision, count)
      : changesSince(history, kind, query, since, revision);
  };
  const info = {
    key: `${dialect.keyPrefix}changes ${kind ?? "topology"} ${query.fingerprint}`,
    version: revision,
    tagIsVersion: true,
    revision,
    contentType,
  };
  return {
    info,
    render() {
      const close = `],"revision":${revision}}`;
      return { chunks: jsonList('{"changes":[', renderChanges(dialect, changes()), close) };
    },
  };
}

/** Compares the neighbourhood at both ends: what entered it and left it again in between is not reported. */
function neighbourhoodChanges(
  from: FilteredState,
  to: FilteredState,
  kind: Kind | undefined,
  count: CountBytes,
): Paced<CommittedChange> {
  const { revision, time } = to.state;
  return mapPaced(diffStates(from, to, kind, count), (change) => ({ change, revision, time }));
}

const renderChanges = (dialect: Dialect, changes: Paced<CommittedChange>): Paced<string> =>
  mapPaced(changes, ({ change: committed, revision, time }) => {
    const change = changeIn(dialect, committed);
    return change && `{"event":"${change.event}",${changeMembers(change, revision, time)}}`;
  });

export function* diffRepresentation(
  { history, dialect, memory }: RequestContext,
  kind: Kind | undefined,
  query: Query,
  contentType: string,
): Steps<Representation> {
  const { from, to } = throwIfFault(resolveDiff(history, query.diff ?? ""));
  const [before, after] = [yield* history.stateAt(from), yield* history.stateAt(to)];
  const states = throwIfFault(yield* filterBothStates(before, after, query));
  for (const { state } of states) memory.hold(state);
  const count = (bytes: number) => memory.add(bytes);
  const renderEnd = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  const open = `{"from":${renderEnd(from)},"to":${renderEnd(to)},"changes":[`;
  const info = {
    key: `${dialect.keyPrefix}diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    version: to,
    tagIsVersion: true,
    revision: to,
    contentType,
  };
  return {
    info,
    render() {
      return { chunks: jsonList(open, renderDifferences(dialect, diffStates(...states, kind, count)), "]}") };
    },
  };
}

const renderDifferences = (dialect: Dialect, differences: Paced<Difference>): Paced<string> =>
  mapPaced(differences, (difference) => {
    const shown = changeIn(dialect, difference);
    if (!shown) return undefined;
    const { event, resource, value, changed } = shown;
    // The entity changed and changed back: only its revision differs.
    if (event === "updated" && changed.length === 0) return undefined;
    const before = dialect.entity(resource, difference.before ?? "");
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    return `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  });
