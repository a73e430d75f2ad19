/**
 * What changed: after a revision (`since`), between two moments (`diff`), and how much when (`timeline`). A change is
 * told to a reader through that reader's filters: what begins to match is added for it, what ceases to is removed.
 */
import type { Entry } from "../../log/log.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { valuesOf } from "../../view/past.ts";
import { parseStored, type Reading } from "../../view/view.ts";
import { JSON_TYPE } from "../answer.ts";
import { badParameter, quoted } from "../problem.ts";
import type { Filter } from "../query/filter.ts";
import type { Query } from "../query/query.ts";
import { select } from "../query/select.ts";
import type { Representation } from "../represent.ts";
import { filtersOf, momentOf, type ReadContext, settled } from "./context.ts";
import { bytesOf, jsonList } from "./json.ts";

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
  if (!resource) return undefined;
  const passes = (text: string | null): text is string =>
    text !== null &&
    (filters.length === 0 || filters.every((filter) => filter.test(parseStored(resource, text))));
  if (passes(after)) {
    return passes(before)
      ? { event: "updated", resource, id, value: after, changed }
      : { event: "added", resource, id, value: after, changed: [] };
  }
  return passes(before) ? { event: "removed", resource, id, value: before, changed: [] } : undefined;
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

/** `since` as a revision whose changes can be told. */
export function sinceOf(context: ReadContext, text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw badParameter(
      "since",
      `is ${quoted(text)}; it must be a revision: the Gazetteer-Revision of a list, or an event's id.`,
    );
  }
  return settled(context.history.resolve(Number(text)), "since");
}

export function changesRead(context: ReadContext, kind: Kind | undefined, query: Query): Representation {
  const since = sinceOf(context, query.since ?? "");
  const { revision } = context.view;
  return {
    key: `changes ${kind ?? "topology"} ${query.fingerprint}`,
    mark: revision,
    revision,
    contentType: JSON_TYPE,
    make: () => {
      const folded = query.fold || query.around !== undefined;
      const texts = folded
        ? foldedTexts(context, kind, query, since)
        : changeTexts(context, kind, query, since);
      return { pieces: bytesOf(jsonList('{"changes":[', texts, `],"revision":${revision}}`)) };
    },
  };
}

function* changeTexts(
  context: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since: number,
): Generator<string> {
  const scope = scopeOf(kind);
  for (const batch of context.history.changes(since)) {
    for (const entry of batch.entries) {
      const change = changeFor(entry, scope, query.filters);
      if (change) yield `{"event":"${change.event}",${changeFields(change, batch.revision, batch.time)}}`;
    }
  }
}

/** Only the last of each thing: the difference between then and now. A neighbourhood is always told so. */
function* foldedTexts(
  context: ReadContext,
  kind: Kind | undefined,
  query: Query,
  since: number,
): Generator<string> {
  const { view, history } = context;
  for (const change of differences(history.at(since), view, kind, query)) {
    const { revision, lastChanged } = JSON.parse(change.value);
    const at = change.event === "removed" ? view.revision : revision;
    const time = change.event === "removed" ? view.time : Date.parse(lastChanged);
    yield `{"event":"${change.event}",${changeFields(change, at, time)}}`;
  }
}

interface Difference extends Change {
  readonly before: string | undefined;
}

/** What a reader with this query sees differ between two readings, by resource, then id. */
export function* differences(
  from: Reading,
  to: Reading,
  kind: Kind | undefined,
  query: Query,
): Generator<Difference> {
  for (const resource of scopeOf(kind)) {
    const then = matching(from, resource, query);
    const now = matching(to, resource, query);
    for (const id of [...new Set([...then.keys(), ...now.keys()])].sort()) {
      const before = then.get(id);
      const after = now.get(id);
      if (before === after) continue;
      if (after === undefined) {
        yield { event: "removed", resource, id, value: before ?? "", changed: [], before };
      } else if (before === undefined) {
        yield { event: "added", resource, id, value: after, changed: [], before };
      } else {
        yield {
          event: "updated",
          resource,
          id,
          value: after,
          changed: fieldsThatDiffer(before, after),
          before,
        };
      }
    }
  }
}

function matching(reading: Reading, kind: Kind, query: Query): Map<string, string> {
  const filters = filtersOf(reading, query);
  if (filters.length === 0) return new Map(valuesOf(reading.pages(kind)));
  const found = new Map<string, string>();
  for (const { id, text } of select(reading, kind, filters)) found.set(id, text);
  return found;
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
  const moment = (revision: number) => JSON.stringify({ revision, time: history.timeOf(revision) });
  return {
    key: `diff ${kind ?? "topology"} ${from} ${to} ${query.fingerprint}`,
    mark: to,
    revision: to,
    contentType: JSON_TYPE,
    make: () => {
      const open = `{"from":${moment(from)},"to":${moment(to)},"changes":[`;
      const texts = diffTexts(differences(history.at(from), history.at(to), kind, query));
      return { pieces: bytesOf(jsonList(open, texts, "]}")) };
    },
  };
}

function* diffTexts(all: Iterable<Difference>): Generator<string> {
  for (const { event, resource, value, before, changed } of all) {
    const more = event === "updated" ? `,"before":${before},"changed":${JSON.stringify(changed)}` : "";
    yield `{"event":"${event}","resource":"${resource}","value":${value}${more}}`;
  }
}

export function timelineRead(context: ReadContext, query: Query): Representation {
  const { view, log } = context;
  const { oldest, oldestTime } = log.facts();
  const spans = query.timeline ?? 1;
  const first = oldestTime > 0 ? oldestTime : (log.timeOf(1) ?? view.time);
  const from = timeOf("from", query.from) ?? first;
  const to = timeOf("to", query.to) ?? view.time + 1;
  if (to <= from) throw badParameter("to", "must be after from.");
  return {
    key: `timeline ${query.fingerprint}`,
    mark: view.revision,
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
      return { pieces: bytesOf([JSON.stringify(body)]) };
    },
  };
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw badParameter(name, `is ${quoted(text)}; it must be a time such as 2026-11-15T03:00:00Z.`);
  return time;
}
