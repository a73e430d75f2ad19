/** What every read needs, and the few steps that all of them share: finding the moment, and cutting out a neighbourhood. */
import type { Log } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import { type Filter, withinFilter } from "../../query/filter.ts";
import type { Query } from "../../query/parse-query.ts";
import type { History, Resolved } from "../../view/history.ts";
import type { LinkGraph } from "../../view/link-graph.ts";
import { type NetworkState, parseStored, type View } from "../../view/view.ts";
import { badParameter, Problem, quoted } from "../problem.ts";
import { canonicalHostId } from "../route.ts";

export interface ReadContext {
  readonly view: View;
  readonly history: History;
  readonly log: Log;
}

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

/** A revision number or an RFC 3339 time. */
export function momentOf(context: ReadContext, name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return settled(context.history.resolve(Number(text)), name);
  return settled(context.history.resolveTime(timeOf(name, text, "a revision or a time")), name);
}

/** An RFC 3339 time as epoch milliseconds. */
export function timeOf(name: string, text: string, what = "a time"): number {
  const time = TIME.test(text) ? Date.parse(text.toUpperCase().replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const sign = / \d\d:\d\d$/.test(text) ? " (a + in an address must be written %2B)" : "";
  throw badParameter(name, `is ${quoted(text)}; it must be ${what} such as 2026-11-15T03:00:00Z${sign}.`);
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
export function stateFor(context: ReadContext, query: Query): NetworkState {
  if (query.at === undefined) return context.view;
  return context.history.at(momentOf(context, "at", query.at));
}

/** The network at one moment as a query sees it. */
export interface FilteredState {
  readonly reading: NetworkState;
  /** The devices of the neighbourhood; undefined when the query asks for none. */
  readonly within: ReadonlySet<string> | undefined;
  readonly filters: (kind: Kind) => readonly Filter[];
}

/** Refuses an `around` that names nothing there. */
export function filteredStateOf(reading: NetworkState, query: Query): FilteredState {
  const sight = sightIfAny(reading, query);
  if (sight) return sight;
  throw badParameter(
    "around",
    `is ${quoted(query.around?.id ?? "")}, which is the id of no device and no host; look one up in /devices or /hosts.`,
  );
}

/** The same where what `around` names may not have been there yet, or not any more: then nothing is around it. */
export function filteredStateOrEmpty(reading: NetworkState, query: Query, graph?: LinkGraph): FilteredState {
  return sightIfAny(reading, query, graph) ?? sight(reading, query, new Set());
}

/** `graph`: the live one, where the reading is of now; a past would have to make its own. */
function sightIfAny(reading: NetworkState, query: Query, graph?: LinkGraph): FilteredState | undefined {
  const { around } = query;
  if (!around) return sight(reading, query, undefined);
  const centre = centreOf(reading, around.id);
  return centre && sight(reading, query, (graph ?? reading.graph).around(centre, around.hops));
}

function sight(reading: NetworkState, query: Query, within: ReadonlySet<string> | undefined): FilteredState {
  const filters = (kind: Kind) => (within ? [...query.filters, withinFilter(kind, within)] : query.filters);
  return { reading, within, filters };
}

/** The devices a neighbourhood begins with: the one named, or those the host named is at. */
function centreOf(reading: NetworkState, id: string): string[] | undefined {
  if (reading.get("devices", id) !== undefined) return [id];
  const host = reading.get("hosts", canonicalHostId(id) ?? id);
  if (host === undefined) return undefined;
  const places = parseStored("hosts", host).locations.map((at) => at.elementId);
  return places.filter((device) => reading.get("devices", device) !== undefined);
}
