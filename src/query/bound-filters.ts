/**
 * Filters bound to a state. A filter may name devices by aliases and by names, whose meaning differs between states. So the
 * filters of a query are bound to each state that they are applied to, and a reader of changes binds them again where a
 * batch changes what they mean. A name that several devices have matches nothing.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import { deviceKey, type Kind } from "../model/ids.ts";
import { type AmbiguousName, lookupKeysOf, nameKey } from "../view/device-lookup.ts";
import type { History } from "../view/history.ts";
import type { NetworkState } from "../view/view.ts";
import { AmbiguousNameFault, type QueryFault } from "./fault.ts";
import type { Filter } from "./filter.ts";
import type { ParsedQuery } from "./query.ts";

export interface BoundFilters {
  readonly filters: readonly Filter[];
  /** A text that is equal for two states exactly if the filters mean the same in both; empty where all names are ids. */
  readonly resolved: string;
  readonly ambiguous: AmbiguousName | undefined;
}

/** Bound filters with the keys of all devices that they name. */
export interface ChangeFilters extends BoundFilters {
  readonly named: ReadonlySet<string>;
}

type NamingState = Pick<NetworkState, "isCalled" | "shownId" | "findAmbiguousName">;
type DeviceQuery = Pick<ParsedQuery, "filters" | "acceptsNames">;

export function namesDevices({ filters }: Pick<ParsedQuery, "filters">): boolean {
  for (const { devices } of filters) if (devices) return true;
  return false;
}

/** Resolves the devices that a query names in one state, and records the results. */
export class DeviceResolver {
  /** The first name that several devices have. */
  ambiguous: AmbiguousName | undefined;
  /** The names that are not ids, with the device that each means; null where several devices have the name. */
  readonly resolved: (readonly [name: string, device: string | null])[] = [];
  readonly #state: NamingState;
  readonly #acceptsNames: boolean;

  constructor(state: NamingState, { acceptsNames }: Pick<ParsedQuery, "acceptsNames">) {
    this.#state = state;
    this.#acceptsNames = acceptsNames;
  }

  shownId(kind: Kind, id: string): string {
    const shown = this.#state.shownId(kind, id, this.#acceptsNames);
    if (kind !== "devices") return shown;
    if (deviceKey(shown) !== deviceKey(id)) this.resolved.push([nameKey(id), shown]);
    else if (this.#acceptsNames) {
      const ambiguous = this.#state.findAmbiguousName(kind, id);
      if (ambiguous) this.resolved.push([nameKey(id), null]);
      this.ambiguous ??= ambiguous;
    }
    return shown;
  }
}

export function bindFilters(query: DeviceQuery, state: NamingState): BoundFilters {
  const { filters } = query;
  const isCalled = ({ devices }: Filter) => devices?.names().some((name) => state.isCalled(name)) === true;
  // Most filters name no devices, or name them by their ids, and are used unchanged.
  if (!namesDevices(query) || !filters.some(isCalled)) return { filters, resolved: "", ambiguous: undefined };
  const resolver = new DeviceResolver(state, query);
  const resolve = (id: string): string => resolver.shownId("devices", id);
  const bound = filters.map((filter) => filter.devices?.resolve(resolve) ?? filter);
  const { resolved, ambiguous } = resolver;
  return resolved.length === 0
    ? { filters, resolved: "", ambiguous }
    : { filters: bound, resolved: JSON.stringify(resolved), ambiguous };
}

/** The fault of a query that names a device by a name that several devices have in this state. */
export function findAmbiguity(query: DeviceQuery, state: NamingState): QueryFault | undefined {
  const { ambiguous } = bindFilters(query, state);
  return ambiguous && new AmbiguousNameFault(ambiguous);
}

/** Binds the filters for changes after a state. */
export const bindChanges = (query: ParsedQuery, state: NamingState): ChangeFilters => ({
  ...bindFilters(query, state),
  named: namedKeys(query),
});

const namedKeys = ({ filters }: ParsedQuery): ReadonlySet<string> =>
  new Set(filters.flatMap(({ devices }) => devices?.names().map(nameKey) ?? []));

/** Binds the filters for changes after a revision of the history. The state is read only where a name is, or was, not an id. */
export function* bindChangesAt(history: History, query: ParsedQuery, revision: number): Steps<ChangeFilters> {
  const named = namedKeys(query);
  const { view } = history;
  const wasCalled = (name: string) => revision < view.namesKeptSince || view.capture().isCalled(name);
  return [...named].some(wasCalled)
    ? bindChanges(query, yield* history.stateAt(revision))
    : { filters: query.filters, resolved: "", ambiguous: undefined, named };
}

/** The fields of a device that contain its names. A replica may not know which fields changed. */
const NAMING_FIELDS = ["aliases", "annotations"];

/** Whether a batch may change what one of the names means. */
export function* changesNames(
  { named }: ChangeFilters,
  entries: readonly LogEntry[],
): Generator<undefined, boolean, void> {
  if (named.size === 0) return false;
  const pause = new Pause();
  for (const { kind, id, before, after, changed } of entries) {
    if (pause.due(COST.key, before?.length, after?.length)) yield undefined;
    if (kind !== "devices") continue;
    if ((before === null) !== (after === null)) {
      if (named.has(deviceKey(id))) return true;
    } else if (changed.length > 0 && !NAMING_FIELDS.some((field) => changed.includes(field))) continue;
    const oldKeys = lookupKeysOf(id, before);
    const newKeys = lookupKeysOf(id, after);
    if (oldKeys.some((key) => named.has(key) && !newKeys.includes(key))) return true;
    if (newKeys.some((key) => named.has(key) && !oldKeys.includes(key))) return true;
  }
  return false;
}
