/**
 * A state of the network as a query filters it. Without `around`, these are the filters alone, bound to the state. With
 * `around`, there is also the neighbourhood of a device or host: the devices within `hops` links, their ports, the links
 * between them and the hosts at them. The neighbourhood is computed once for a state and then works as one more filter.
 */

import { quote } from "../lib/error-text.ts";
import type { Steps } from "../lib/steps.ts";
import type { Host } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import type { AmbiguousName } from "../view/device-lookup.ts";
import type { NetworkState } from "../view/view.ts";
import { bindFilters } from "./bound-filters.ts";
import { AmbiguousNameFault, badParameter, QueryFault } from "./fault.ts";
import { type Filter, neighbourhoodFilter } from "./filter.ts";
import { findDeviceOrHost, isAmbiguous } from "./path-ends.ts";
import type { ParsedQuery } from "./query.ts";

export interface FilteredState {
  readonly state: NetworkState;
  /** The ids of the devices of the neighbourhood; undefined without `around`. */
  readonly neighbourhood: ReadonlySet<string> | undefined;
  /** See `BoundFilters`. */
  readonly resolved: string;
  readonly ambiguous: AmbiguousName | undefined;
  readonly filters: (kind: Kind) => readonly Filter[];
  /** See `ParsedQuery`. */
  readonly includesMissing: boolean;
}

/** Returns a fault when `around` names no device or host of this state, or when several devices have a name in the query. */
export function* filterState(state: NetworkState, query: ParsedQuery): Steps<FilteredState | QueryFault> {
  const filtered = yield* filterIfPresent(state, query);
  if (filtered?.ambiguous) return new AmbiguousNameFault(filtered.ambiguous);
  return filtered ?? unknownCentre(query);
}

const unknownCentre = ({ around, acceptsNames }: ParsedQuery): QueryFault => {
  const what = acceptsNames
    ? "is the id of no device and no host, and no device's name"
    : "is the id of no device and no host";
  return badParameter(
    "around",
    `is ${quote(around?.id ?? "")}, which ${what}; look one up in /devices or /hosts.`,
  );
};

/**
 * Filters a state like `filterState`, but with an empty neighbourhood when `around` names nothing, or several devices, in
 * this state. On a stream the device or host may be removed and added again.
 */
export function* filterStateOrEmpty(state: NetworkState, query: ParsedQuery): Steps<FilteredState> {
  return (yield* filterIfPresent(state, query)) ?? createFilteredState(state, query, new Set());
}

/**
 * Filters the two states of a comparison. Returns a fault when `around` names nothing in either of them, or when several
 * devices have a name of the query in one of them.
 */
export function* filterBothStates(
  from: NetworkState,
  to: NetworkState,
  query: ParsedQuery,
): Steps<[from: FilteredState, to: FilteredState] | QueryFault> {
  const first = yield* filterStateOrEmpty(from, query);
  const isEmpty = first.neighbourhood?.size === 0;
  const second = yield* isEmpty ? filterState(to, query) : filterStateOrEmpty(to, query);
  if (second instanceof QueryFault) return second;
  const ambiguous = first.ambiguous ?? second.ambiguous;
  return ambiguous ? new AmbiguousNameFault(ambiguous) : [first, second];
}

function* filterIfPresent(state: NetworkState, query: ParsedQuery): Steps<FilteredState | undefined> {
  const { around } = query;
  if (!around) return createFilteredState(state, query);
  const found = findDeviceOrHost(state, around.id, query.acceptsNames);
  if (isAmbiguous(found)) return { ...createFilteredState(state, query, new Set()), ambiguous: found };
  const centre = found && centreOf(state, found);
  if (!centre) return undefined;
  const graph = yield* state.linkGraph();
  return createFilteredState(state, query, yield* graph.devicesWithin(centre, around.hops));
}

/** Creates a filtered state. `neighbourhood` is left out if the query has no `around`. */
export function createFilteredState(
  state: NetworkState,
  query: ParsedQuery,
  neighbourhood?: ReadonlySet<string>,
): FilteredState {
  const { includesMissing } = query;
  const { filters: bound, resolved, ambiguous } = bindFilters(query, state);
  if (!neighbourhood)
    return { state, neighbourhood, resolved, ambiguous, filters: () => bound, includesMissing };
  const filters = (kind: Kind) => [...bound, neighbourhoodFilter(kind, neighbourhood)];
  return { state, neighbourhood, resolved, ambiguous, filters, includesMissing };
}

/** The device, or the devices where the host is located. */
function centreOf(state: NetworkState, found: string | Host): string[] {
  if (typeof found === "string") return [found];
  const devices = found.locations.map((location) => location.elementId);
  return devices.filter((device) => state.get("devices", device) !== undefined);
}
