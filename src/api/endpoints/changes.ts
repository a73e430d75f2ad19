/**
 * The representations of changes: after a revision (`since`), and between two states (`diff`). Both are rendered item by
 * item while they are sent, so that a large body is never completely in memory. Faults are found before a representation
 * exists, because a condition (`If-None-Match`) must not turn them into a 304.
 */

import Type from "typebox";
import { CHANGES_FORMAT, DIFFERENCES_FORMAT, type Format } from "../../formats/formats.ts";
import { mapPaced, type Paced, type Steps } from "../../lib/steps.ts";
import { Collection } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import { int64 } from "../../model/schema-parts.ts";
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
import type { ParameterName } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { Dialect } from "../onos/dialect.ts";
import { DEVICE, DISCONNECTED, NEWEST, OLDEST } from "../openapi/example-network.ts";
import { throwIfFault } from "../response/problem.ts";
import type { Representation } from "../response/representation.ts";
import { createChangeCursor } from "../stream/change-cursor.ts";
import type { Variant } from "./endpoint.ts";
import { changeIn, changeMembers, jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";

/** The parameters for changes, which lists and the topology have. */
export const CHANGE_PARAMETERS: readonly ParameterName[] = ["since", "fold", "diff"];

type StreamVariant = Pick<Variant<object>, "stream">;

/** The stream of one kind or of all kinds; empty if the resource has no stream format. */
export const streamOf = (kind: Kind | undefined, formats: readonly Format[]): StreamVariant =>
  formats.some((format) => format.stream)
    ? {
        stream: (context, _params, query, start) =>
          createChangeCursor(context, kind, query, start, context.chunks),
      }
    : {};

/** The variant of `since`. It also has the stream formats of the resource. */
export const changesVariant = (kind: Kind | undefined, formats: readonly Format[]): Variant<object> => ({
  parameter: "since",
  formats: [CHANGES_FORMAT, ...formats.filter((format) => format.stream)],
  schema: Changes,
  example: { changes: [{ ...CHANGE_EXAMPLE, ...NEWEST }], revision: NEWEST.revision },
  read: (context, _params, query) => changesRepresentation(context, kind, query),
  ...streamOf(kind, formats),
});

export const differencesVariant = (kind: Kind | undefined): Variant<object> => ({
  parameter: "diff",
  formats: [DIFFERENCES_FORMAT],
  schema: Differences,
  example: { from: OLDEST, to: NEWEST, changes: [{ ...CHANGE_EXAMPLE, before: DEVICE }] },
  read: (context, _params, query) => differencesRepresentation(context, kind, query),
});

export const Moment = Type.Object(
  { revision: int64("A revision of the view."), time: int64("Epoch milliseconds of that revision.") },
  { $id: "Moment" },
);
export const AnyEntity = Type.Record(Type.String(), Type.Unknown(), {
  $id: "Entity",
  description: "The Device, Port, Link or Host, as `resource` says; its last value when removed.",
});
const change = {
  event: Type.Enum(["added", "updated", "removed"], { $id: "ChangeEvent" }),
  resource: Collection,
  value: AnyEntity,
  changed: Type.Optional(
    Type.Array(Type.String(), { description: "The top-level fields that differ, on updated." }),
  ),
};
const Changes = Type.Object(
  {
    changes: Type.Array(
      Type.Object(
        {
          ...change,
          revision: int64("The revision that made the change."),
          time: int64("The time of that revision, in epoch milliseconds."),
        },
        { $id: "Change" },
      ),
    ),
    revision: int64("Pass it as `since` to read the changes after these."),
  },
  { $id: "Changes" },
);
const Differences = Type.Object(
  {
    from: Moment,
    to: Moment,
    changes: Type.Array(Type.Object({ ...change, before: Type.Optional(AnyEntity) }, { $id: "Difference" })),
  },
  { $id: "Differences" },
);
const CHANGE_EXAMPLE = {
  event: "updated",
  resource: "devices",
  value: DISCONNECTED,
  changed: ["available", "lastUpdate", "humanReadableLastUpdate"],
};

function* changesRepresentation(
  { history, view, dialect, memory, revisions }: RequestContext,
  kind: Kind | undefined,
  query: ParsedQuery,
): Steps<Representation> {
  const since = revisions.since ?? 0;
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
    tagVersion: revision,
    revision,
    contentType: CHANGES_FORMAT.contentType,
  };
  return {
    info,
    render() {
      const close = `],"revision":${revision}}`;
      return { chunks: jsonList('{"changes":[', renderChanges(dialect, changes()), close) };
    },
  };
}

/** Compares the neighbourhoods at both ends. Entities that entered and left in between are not reported. */
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

const NO_DIFFERENCE = { from: 0, to: 0 };

function* differencesRepresentation(
  { history, dialect, memory, revisions }: RequestContext,
  kind: Kind | undefined,
  query: ParsedQuery,
): Steps<Representation> {
  const { from, to } = revisions.diff ?? NO_DIFFERENCE;
  const [before, after] = [yield* history.stateAt(from), yield* history.stateAt(to)];
  const states = throwIfFault(yield* filterBothStates(before, after, query));
  for (const { state } of states) memory.hold(state);
  const count = (bytes: number) => memory.add(bytes);
  const renderEnd = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  const open = `{"from":${renderEnd(from)},"to":${renderEnd(to)},"changes":[`;
  const info = {
    key: `${dialect.keyPrefix}diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    version: to,
    tagVersion: to,
    revision: to,
    contentType: DIFFERENCES_FORMAT.contentType,
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
    // The entity changed and changed back, so only its revision differs.
    if (event === "updated" && changed.length === 0) return undefined;
    const before = dialect.entity(resource, difference.before ?? "");
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    return `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  });
