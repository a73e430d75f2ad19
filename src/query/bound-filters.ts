/**
 * Filters bound to a state. A filter may name devices by aliases and by names, and what they mean differs between states: so
 * the filters of a query are bound to each state that they are applied to, and a reader of changes binds them again where a
 * batch changes what they mean. A text that several devices are called by matches nothing.
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
  /** The same for two states exactly when the texts in the filters mean the same in both; empty where all are ids. */
  readonly resolved: string;
  readonly ambiguous: AmbiguousName | undefined;
}

/** With the keys of all devices that the filters name. */
export interface ChangeFilters extends BoundFilters {
  readonly named: ReadonlySet<string>;
}

type NamingState = Pick<NetworkState, "isCalled" | "shownId" | "findAmbiguousName">;
type DeviceQuery = Pick<ParsedQuery, "filters" | "acceptsNames">;

export const namesDevices = ({ filters }: Pick<ParsedQuery, "filters">): boolean =>
  filters.some(({ devices }) => devices !== undefined);

/** Resolves the devices that a query names in one state, and keeps what it found. */
export class DeviceResolver {
  /** The first text that several devices are called by. */
  ambiguous: AmbiguousName | undefined;
  /** What is no id, and the device that it means; null where it means several. */
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
  // Most filters name devices by their ids: then they are used as they are.
  if (!filters.some(isCalled)) return { filters, resolved: "", ambiguous: undefined };
  const resolver = new DeviceResolver(state, query);
  const resolve = (id: string): string => resolver.shownId("devices", id);
  const bound = filters.map((filter) => filter.devices?.resolve(resolve) ?? filter);
  const { resolved, ambiguous } = resolver;
  return resolved.length === 0
    ? { filters, resolved: "", ambiguous }
    : { filters: bound, resolved: JSON.stringify(resolved), ambiguous };
}

/** The fault of a query that names a device by what several are called in this state. */
export function findAmbiguity(query: DeviceQuery, state: NamingState): QueryFault | undefined {
  const { ambiguous } = bindFilters(query, state);
  return ambiguous && new AmbiguousNameFault(ambiguous);
}

/** The filters for changes after a state. */
export const bindChanges = (query: ParsedQuery, state: NamingState): ChangeFilters => ({
  ...bindFilters(query, state),
  named: namedKeys(query),
});

const namedKeys = ({ filters }: ParsedQuery): ReadonlySet<string> =>
  new Set(filters.flatMap(({ devices }) => devices?.names().map(nameKey) ?? []));

/** The filters for changes after a revision of the history. The state is needed only where a name is, or was, no id. */
export function* bindChangesAt(history: History, query: ParsedQuery, revision: number): Steps<ChangeFilters> {
  const named = namedKeys(query);
  const { view } = history;
  const wasCalled = (name: string) => revision < view.namesKeptSince || view.capture().isCalled(name);
  return [...named].some(wasCalled)
    ? bindChanges(query, yield* history.stateAt(revision))
    : { filters: query.filters, resolved: "", ambiguous: undefined, named };
}

/** The fields of a device that have what it is called. A replica may not know which fields changed. */
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
