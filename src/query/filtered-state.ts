/**
 * A state of the network as a query filters it. Without `around` that is the filters alone. With `around` it is the
 * neighbourhood of a device or host as well: the devices within `hops` links, their ports, the links between them and the
 * hosts at them. The neighbourhood is computed once for a state and then works as one more filter.
 */

import { quote } from "../lib/error-text.ts";
import { runToEnd } from "../lib/steps.ts";
import { canonicalHostId } from "../model/address.ts";
import type { Kind } from "../model/ids.ts";
import type { LinkGraph } from "../view/link-graph.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { badParameter, QueryFault } from "./fault.ts";
import { type Filter, neighbourhoodFilter } from "./filter.ts";
import type { Query } from "./query.ts";

export interface FilteredState {
  readonly state: NetworkState;
  /** The ids of the devices of the neighbourhood; undefined without `around`. */
  readonly neighbourhood: ReadonlySet<string> | undefined;
  readonly filters: (kind: Kind) => readonly Filter[];
}

/** Returns a fault when `around` names no device or host of this state. */
export function filterState(state: NetworkState, query: Query): FilteredState | QueryFault {
  return (
    filterIfPresent(state, query) ??
    badParameter(
      "around",
      `is ${quote(query.around?.id ?? "")}, which is the id of no device and no host; look one up in /devices or /hosts.`,
    )
  );
}

/**
 * The same, but the neighbourhood is empty when `around` names nothing in this state: on a stream it may be removed and
 * added again. `graph` is the live graph where the state is the current one; a historical state would build its own.
 */
export function filterStateOrEmpty(state: NetworkState, query: Query, graph?: LinkGraph): FilteredState {
  return filterIfPresent(state, query, graph) ?? createFilteredState(state, query, new Set());
}

/** The two states of a comparison. Returns a fault when `around` names nothing in either of them. */
export function filterBothStates(
  from: NetworkState,
  to: NetworkState,
  query: Query,
): [from: FilteredState, to: FilteredState] | QueryFault {
  const first = filterStateOrEmpty(from, query);
  const second = first.neighbourhood?.size === 0 ? filterState(to, query) : filterStateOrEmpty(to, query);
  return second instanceof QueryFault ? second : [first, second];
}

function filterIfPresent(state: NetworkState, query: Query, graph?: LinkGraph): FilteredState | undefined {
  const { around } = query;
  if (!around) return createFilteredState(state, query, undefined);
  const centre = centreOf(state, around.id);
  return (
    centre &&
    createFilteredState(
      state,
      query,
      runToEnd((graph ?? runToEnd(state.linkGraph())).devicesWithin(centre, around.hops)),
    )
  );
}

function createFilteredState(
  state: NetworkState,
  query: Query,
  neighbourhood: ReadonlySet<string> | undefined,
): FilteredState {
  const filters = (kind: Kind) =>
    neighbourhood ? [...query.filters, neighbourhoodFilter(kind, neighbourhood)] : query.filters;
  return { state, neighbourhood, filters };
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
