/**
 * Filters bound to a state. A filter may name devices by aliases, and what an alias means differs between states: so the
 * filters of a query are bound to each state that they are applied to, and a reader of changes binds them again where a
 * batch changes what their names mean.
 */
import { Pace, type Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import { deviceKey } from "../model/ids.ts";
import { aliasKeysOf } from "../view/device-aliases.ts";
import type { History } from "../view/history.ts";
import type { NetworkState } from "../view/view.ts";
import type { Filter } from "./filter.ts";
import type { Query } from "./query.ts";

export interface BoundFilters {
  readonly filters: readonly Filter[];
  /** The same for two states exactly when the names in the filters mean the same in both; empty without aliases. */
  readonly resolved: string;
}

/** With the keys of all devices that the filters name. */
export interface ChangeFilters extends BoundFilters {
  readonly named: ReadonlySet<string>;
}

type AliasState = Pick<NetworkState, "hasAliases" | "shownId">;

export const namesDevices = ({ filters }: Pick<Query, "filters">): boolean =>
  filters.some(({ devices }) => devices !== undefined);

export function bindFilters(query: Pick<Query, "filters">, state: AliasState): BoundFilters {
  const { filters } = query;
  if (!state.hasAliases || !namesDevices(query)) return { filters, resolved: "" };
  const aliases: (readonly [alias: string, device: string])[] = [];
  const resolve = (id: string): string => {
    const device = state.shownId("devices", id);
    if (deviceKey(device) !== deviceKey(id)) aliases.push([deviceKey(id), device]);
    return device;
  };
  const bound = filters.map((filter) => filter.devices?.resolve(resolve) ?? filter);
  return aliases.length === 0
    ? { filters, resolved: "" }
    : { filters: bound, resolved: JSON.stringify(aliases) };
}

/** The filters for changes after a state. */
export function bindChanges({ filters }: Query, state: AliasState): ChangeFilters {
  const named = new Set(filters.flatMap(({ devices }) => devices?.keys() ?? []));
  return { ...bindFilters({ filters }, state), named };
}

const NO_ALIASES: AliasState = { hasAliases: false, shownId: (_, id) => id };

/** The filters for changes after a revision of the history. The state is needed only where there have been aliases. */
export function* bindChangesAt(history: History, query: Query, revision: number): Steps<ChangeFilters> {
  const needsState = revision < history.view.withoutAliasesSince && namesDevices(query);
  return bindChanges(query, needsState ? yield* history.stateAt(revision) : NO_ALIASES);
}

const ENTRIES_PER_STEP = 200;

/** Whether a batch may change what one of the names means. */
export function* changesNames(
  { named }: ChangeFilters,
  entries: readonly LogEntry[],
): Generator<undefined, boolean, void> {
  if (named.size === 0) return false;
  const pace = new Pace(ENTRIES_PER_STEP);
  for (const { kind, id, before, after } of entries) {
    if (pace.isDue(before?.length, after?.length)) yield undefined;
    if (kind !== "devices") continue;
    if ((before === null) !== (after === null) && named.has(deviceKey(id))) return true;
    const oldKeys = aliasKeysOf(before);
    const newKeys = aliasKeysOf(after);
    if (oldKeys.some((key) => named.has(key) && !newKeys.includes(key))) return true;
    if (newKeys.some((key) => named.has(key) && !oldKeys.includes(key))) return true;
  }
  return false;
}
