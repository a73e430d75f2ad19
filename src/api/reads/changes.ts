/**
 * What changed: after a revision (`since`), between two moments (`diff`), and how much when (`timeline`). A change is
 * told to a reader through that reader's filters: what begins to match is added for it, what ceases to is removed.
 */

import { JSON_TYPE } from "../../http1/response.ts";
import type { Entry } from "../../log/log.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { type Filter, mayPass, passes } from "../../query/filter.ts";
import type { Query } from "../../query/parse-query.ts";
import { select } from "../../query/select.ts";
import { diffValues } from "../../view/diff.ts";
import type { NetworkState } from "../../view/view.ts";
import type { Representation } from "../body-renderer.ts";
import { badParameter, quoted } from "../problem.ts";
import { jsonList } from "./json-list.ts";
import {
  type FilteredState,
  filteredStateOf,
  filteredStateOrEmpty,
  momentOf,
  type ReadContext,
  settled,
  timeOf,
} from "./read-context.ts";

export type ChangeEvent = "added" | "updated" | "removed";

export interface Change {
  readonly event: ChangeEvent;
  readonly resource: Kind;
  readonly id: string;
  /** The value's JSON; for `removed` the last one. */
  readonly value: string;
  readonly changed: readonly string[];
}

/** Which collections a path's changes are about. */
export const scopeOf = (kind: Kind | undefined): readonly Kind[] => (kind ? [kind] : KINDS);

/** An entry of the log as a reader with these filters sees it; undefined when it sees nothing. */
export function changeFor(
  entry: Entry,
  scope: readonly Kind[],
  filters: readonly Filter[],
): Change | undefined {
  const { id, before, after, changed } = entry;
  const resource = scope.find((kind) => kind === entry.kind);
  if (!resource || !mayPass(id, filters)) return undefined;
  const seen = (text: string | null): text is string =>
    text !== null && (filters.length === 0 || passes(resource, text, filters));
  if (seen(after)) {
    return seen(before)
      ? { event: "updated", resource, id, value: after, changed }
      : { event: "added", resource, id, value: after, changed: [] };
  }
  return seen(before) ? { event: "removed", resource, id, value: before, changed: [] } : undefined;
}

/** The data of a change as both the stream and the delta send it. */
export function changeFields(
  { resource, value, changed, event }: Change,
  revision: number,
  time: number,
): string {
  const fields = event === "updated" ? `,"changed":${JSON.stringify(changed)}` : "";
  return `"resource":"${resource}","revision":${revision},"time":${time},"value":${value}${fields}`;
}

/** `since` as a revision whose changes can be told; `name` is where the client wrote it. */
export function sinceOf(context: ReadContext, text: string, name = "since"): number {
  if (/^\d{1,15}$/.test(text)) return settled(context.history.resolve(Number(text)), name);
  throw badParameter(
    name,
    `is ${quoted(text)}; it must be a revision: the Gazetteer-Revision of a list, or an event's id.`,
  );
}

export function changesRead(context: ReadContext, kind: Kind | undefined, query: Query): Representation {
  const since = sinceOf(context, query.since ?? "");
  const { history, view } = context;
  const { revision } = view;
  const ends = query.around && sights(history.at(since), history.frozen(revision), query);
  const texts = () => {
    if (ends) return aroundTexts(...ends, kind);
    return (query.fold ? foldedTexts : changeTexts)(context, kind, query, since, revision);
  };
  return {
    key: `changes ${kind ?? "topology"} ${query.fingerprint}`,
    version: revision,
    revision,
    contentType: JSON_TYPE,
    make: () => ({ pieces: jsonList('{"changes":[', texts(), `],"revision":${revision}}`) }),
  };
}

const changeText = (change: Change, revision: number, time: number): string =>
  `{"event":"${change.event}",${changeFields(change, revision, time)}}`;

function* changeTexts(
  { history }: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since: number,
  until: number,
): Generator<string> {
  const scope = scopeOf(kind);
  for (const { entries, revision, time } of history.changes(since, until)) {
    for (const entry of entries) {
      const change = changeFor(entry, scope, query.filters);
      if (change) yield changeText(change, revision, time);
    }
  }
}

/** One change a thing, from what it was at the beginning to what it is at the end, where it last changed. */
function* foldedTexts(
  { history }: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since: number,
  until: number,
): Generator<string> {
  const scope = scopeOf(kind);
  const folded = new Map<string, { entry: Entry; revision: number; time: number }>();
  for (const { entries, revision, time } of history.changes(since, until)) {
    for (const entry of entries) {
      if (!scope.some((one) => one === entry.kind)) continue;
      const key = `${entry.kind} ${entry.id}`;
      const first = folded.get(key)?.entry ?? entry;
      folded.delete(key); // so that the order is that of the last changes
      folded.set(key, { entry: { ...entry, before: first.before }, revision, time });
    }
  }
  for (const { entry, revision, time } of folded.values()) {
    const { before, after } = entry;
    if (before === after) continue;
    const changed = before !== null && after !== null ? fieldsThatDiffer(before, after) : [];
    const change = changeFor({ ...entry, changed }, scope, query.filters);
    if (change) yield changeText(change, revision, time);
  }
}

/** A neighbourhood moves with the graph, so its two ends are compared, and what came and went between is not told. */
function* aroundTexts(from: FilteredState, to: FilteredState, kind: Kind | undefined): Generator<string> {
  const { revision, time } = to.reading;
  for (const change of differences(from, to, kind)) yield changeText(change, revision, time);
}

/** Both ends of a comparison. What `around` names must have been there at one of them. */
function sights(
  from: NetworkState,
  to: NetworkState,
  query: Query,
): [from: FilteredState, to: FilteredState] {
  const then = filteredStateOrEmpty(from, query);
  return then.within?.size === 0
    ? [then, filteredStateOf(to, query)]
    : [then, filteredStateOrEmpty(to, query)];
}

interface Difference extends Change {
  readonly before: string | undefined;
}

/** What differs between two sights of the network, by resource, then id. */
export function* differences(
  from: FilteredState,
  to: FilteredState,
  kind: Kind | undefined,
): Generator<Difference> {
  for (const resource of scopeOf(kind)) {
    for (const { id, before, after } of pairs(from, to, resource)) {
      if (after === undefined) {
        yield { event: "removed", resource, id, value: before ?? "", changed: [], before };
      } else if (before === undefined) {
        yield { event: "added", resource, id, value: after, changed: [], before };
      } else {
        const changed = fieldsThatDiffer(before, after);
        yield { event: "updated", resource, id, value: after, changed, before };
      }
    }
  }
}

interface Pair {
  readonly id: string;
  /** As seen at each end; undefined when not seen there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function* pairs(from: FilteredState, to: FilteredState, kind: Kind): Generator<Pair> {
  const seenBefore = seer(kind, from.filters(kind));
  const seenAfter = seer(kind, to.filters(kind));
  const sameWithin =
    from.within === to.within || from.within?.symmetricDifference(to.within ?? new Set()).size === 0;
  const all = sameWithin ? [] : membersOf(from, to, kind);
  const differing = diffValues(from.reading.pages(kind), to.reading.pages(kind));
  for (const pair of sameWithin ? differing : all) {
    const before = seenBefore(pair.before);
    const after = seenAfter(pair.after);
    if (before !== after) yield { id: pair.id, before, after };
  }
}

function seer(kind: Kind, filters: readonly Filter[]): (text: string | undefined) => string | undefined {
  if (filters.length === 0) return (text) => text;
  return (text) => (text !== undefined && passes(kind, text, filters) ? text : undefined);
}

/** Whatever either end sees: a thing that did not change may still have come into the neighbourhood. */
function* membersOf(from: FilteredState, to: FilteredState, kind: Kind): Generator<Pair> {
  const ids = new Set<string>();
  for (const { reading, filters } of [from, to]) {
    for (const { id } of select(reading, kind, filters(kind))) ids.add(id);
  }
  for (const id of [...ids].sort()) {
    yield { id, before: from.reading.get(kind, id), after: to.reading.get(kind, id) };
  }
}

function fieldsThatDiffer(before: string, after: string): string[] {
  const was: Record<string, unknown> = JSON.parse(before);
  const is: Record<string, unknown> = JSON.parse(after);
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (field) => field !== "revision" && field !== "lastChanged" && !Bun.deepEquals(was[field], is[field]),
  );
}

export function diffRead(context: ReadContext, kind: Kind | undefined, query: Query): Representation {
  const [fromText = "", toText = "", ...more] = (query.diff ?? "").split("..");
  if (fromText === "" || more.length > 0 || !query.diff?.includes("..")) {
    throw badParameter(
      "diff",
      `is ${quoted(query.diff ?? "")}; it must be A..B (or A.. for until now), each a revision or an RFC 3339 time.`,
    );
  }
  const from = momentOf(context, "diff", fromText);
  const to = toText === "" ? context.view.revision : momentOf(context, "diff", toText);
  const { history } = context;
  const [then, now] = sights(history.at(from), history.frozen(to), query);
  const moment = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  return {
    key: `diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    version: to,
    revision: to,
    contentType: JSON_TYPE,
    make: () => {
      const open = `{"from":${moment(from)},"to":${moment(to)},"changes":[`;
      return { pieces: jsonList(open, diffTexts(differences(then, now, kind)), "]}") };
    },
  };
}

function* diffTexts(all: Iterable<Difference>): Generator<string> {
  for (const { event, resource, value, before, changed } of all) {
    // It changed and changed back: it is what it was.
    if (event === "updated" && changed.length === 0) continue;
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    yield `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  }
}

export function timelineRead(context: ReadContext, query: Query): Representation {
  const { view, log } = context;
  const { oldest, oldestTime } = log.facts();
  const spans = query.timeline ?? 1;
  const first = oldestTime > 0 ? oldestTime : (log.timeOf(1) ?? view.time);
  const from = query.from === undefined ? first : timeOf("from", query.from);
  const to = query.to === undefined ? view.time + 1 : timeOf("to", query.to);
  if (to <= from) {
    const shown = (time: number) => new Date(time).toISOString();
    throw badParameter(
      query.to === undefined ? "from" : "to",
      `leaves no time to look at: from ${shown(from)} to ${shown(to)}; from must be before to.`,
    );
  }
  return {
    key: `timeline ${from} ${to} ${oldest} ${query.fingerprint}`,
    version: view.revision,
    revision: view.revision,
    contentType: JSON_TYPE,
    make: () => {
      const body = {
        from,
        to,
        counts: log.density(from, to, spans),
        oldest: { revision: oldest, time: first },
        newest: { revision: view.revision, time: view.time },
      };
      return { pieces: JSON.stringify(body) };
    },
  };
}
