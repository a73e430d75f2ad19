/** What every read needs, and the few steps that all of them share: finding the moment, and cutting out a neighbourhood. */
import type { Log } from "../../log/log.ts";
import type { History, Resolved } from "../../view/history.ts";
import { parseStored, type Reading, type View } from "../../view/view.ts";
import { badParameter, Problem, quoted } from "../problem.ts";
import { type Filter, withinFilter } from "../query/filter.ts";
import type { Query } from "../query/query.ts";

export interface ReadContext {
  readonly view: View;
  readonly history: History;
  readonly log: Log;
}

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

/** A revision number or an RFC 3339 time. */
export function momentOf(context: ReadContext, name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return settled(context.history.resolve(Number(text)), name);
  const time = TIME.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(time)) {
    const sign = / \d\d:\d\d$/.test(text) ? " (a + in an address must be written %2B)" : "";
    throw badParameter(
      name,
      `is ${quoted(text)}; it must be a revision or a time such as 2026-11-15T03:00:00Z${sign}.`,
    );
  }
  return settled(context.history.resolveTime(time), name);
}

export function settled(found: Resolved, name: string): number {
  if (found.ok) return found.revision;
  const { fault } = found;
  if (fault.code === "revision-unknown") {
    throw new Problem(
      "revision-unknown",
      `${name} asks for a revision after the newest, which is ${fault.newest}.`,
    );
  }
  const since = new Date(fault.oldestTime).toISOString();
  throw new Problem(
    "revision-expired",
    `${name} asks for what is no longer kept; the oldest there is: revision ${fault.oldest}, ${since}. List again without it.`,
  );
}

/** The network a query asks about: now, or as it was `at` some moment. */
export function readingOf(context: ReadContext, query: Query): Reading {
  if (query.at === undefined) return context.view;
  return context.history.at(momentOf(context, "at", query.at));
}

/** A query's filters, with the neighbourhood of `around` as one more. */
export function filtersOf(reading: Reading, query: Query): readonly Filter[] {
  if (!query.around) return query.filters;
  return [...query.filters, withinFilter(neighbourhood(reading, query.around))];
}

export function neighbourhood(reading: Reading, { id, hops }: NonNullable<Query["around"]>): Set<string> {
  if (reading.get("devices", id) !== undefined) return reading.graph.around([id], hops);
  const host = reading.get("hosts", id);
  if (host === undefined) {
    throw badParameter(
      "around",
      `is ${quoted(id)}, which is the id of no device and no host; look one up in /devices or /hosts.`,
    );
  }
  const places = parseStored("hosts", host).locations.map((at) => at.elementId);
  return reading.graph.around(
    places.filter((device) => reading.get("devices", device) !== undefined),
    hops,
  );
}
