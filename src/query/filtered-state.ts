/**
 * A state of the network as a query filters it. Without `around` that is the filters alone. With `around` it is the
 * neighbourhood of a device or host as well: the devices within `hops` links, their ports, the links between them and the
 * hosts at them. The neighbourhood is computed once for a state and then works as one more filter.
 */

import { quote } from "../lib/error-text.ts";
import type { Steps } from "../lib/steps.ts";
import { canonicalHostId } from "../model/address.ts";
import type { Kind } from "../model/ids.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { badParameter, QueryFault } from "./fault.ts";
import { type Filter, neighbourhoodFilter } from "./filter.ts";
import type { Query } from "./query.ts";

export interface FilteredState {
  readonly state: NetworkState;
  /** The ids of the devices of the neighbourhood; undefined without `around`. */
  readonly neighbourhood: ReadonlySet<string> | undefined;
  readonly filters: (kind: Kind) => readonly Filter[];
  /** See `Query`. */
  readonly includesMissing: boolean;
}

/** Returns a fault when `around` names no device or host of this state. */
export function* filterState(state: NetworkState, query: Query): Steps<FilteredState | QueryFault> {
  return (
    (yield* filterIfPresent(state, query)) ??
    badParameter(
      "around",
      `is ${quote(query.around?.id ?? "")}, which is the id of no device and no host; look one up in /devices or /hosts.`,
    )
  );
}

/**
 * The same, but the neighbourhood is empty when `around` names nothing in this state: on a stream it may be removed and
 * added again.
 */
export function* filterStateOrEmpty(state: NetworkState, query: Query): Steps<FilteredState> {
  return (yield* filterIfPresent(state, query)) ?? createFilteredState(state, query, new Set());
}

/** The two states of a comparison. Returns a fault when `around` names nothing in either of them. */
export function* filterBothStates(
  from: NetworkState,
  to: NetworkState,
  query: Query,
): Steps<[from: FilteredState, to: FilteredState] | QueryFault> {
  const first = yield* filterStateOrEmpty(from, query);
  const isEmpty = first.neighbourhood?.size === 0;
  const second = yield* isEmpty ? filterState(to, query) : filterStateOrEmpty(to, query);
  return second instanceof QueryFault ? second : [first, second];
}

function* filterIfPresent(state: NetworkState, query: Query): Steps<FilteredState | undefined> {
  const { around } = query;
  if (!around) return createFilteredState(state, query, undefined);
  const centre = centreOf(state, around.id);
  if (!centre) return undefined;
  const graph = yield* state.linkGraph();
  return createFilteredState(state, query, yield* graph.devicesWithin(centre, around.hops));
}

function createFilteredState(
  state: NetworkState,
  query: Query,
  neighbourhood: ReadonlySet<string> | undefined,
): FilteredState {
  const { includesMissing } = query;
  if (!neighbourhood) return { state, neighbourhood, filters: () => query.filters, includesMissing };
  const filters = (kind: Kind) => [...query.filters, neighbourhoodFilter(kind, neighbourhood)];
  return { state, neighbourhood, filters, includesMissing };
}

/** The device with this id, or the devices where the host with this id is located. */
function centreOf(state: NetworkState, id: string): string[] | undefined {
  const device = state.shownId("devices", id);
  if (state.get("devices", device) !== undefined) return [device];
  const host = state.get("hosts", canonicalHostId(id) ?? id);
  if (host === undefined) return undefined;
  const devices = parseStored("hosts", host).locations.map((location) => location.elementId);
  return devices.filter((device) => state.get("devices", device) !== undefined);
}
