/** Counts the entities that differ from the intended network, by kind and state. The newest state has an index of them. */
import type { Steps } from "../lib/steps.ts";
import { DRIFT_STATES, type DriftState, type TopologyDrift } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import type { FilteredState } from "./filtered-state.ts";
import { selectEntities } from "./missing.ts";

/** `filtered` must include the filter of these states. */
export function* countDrift(filtered: FilteredState, states: readonly DriftState[]): Steps<TopologyDrift> {
  const { state, neighbourhood } = filtered;
  const counts = noDrift(states);
  for (const kind of KINDS) {
    if (!neighbourhood && state.indexesAreExact) {
      for (const name of states) counts[kind][name] = indexedDrift(state, kind, name);
      continue;
    }
    for (const item of selectEntities(filtered, kind)) {
      if (item === undefined) yield;
      else {
        const name = parseStored(kind, item.text).drift?.state;
        if (name) counts[kind][name] = (counts[kind][name] ?? 0) + 1;
      }
    }
  }
  return counts;
}

/** The count from the indexes; while a commit is prepared, it may be the count after the commit. */
export function indexedDrift(state: Pick<NetworkState, "findIndex">, kind: Kind, name: DriftState): number {
  const index = name === "missing" ? state.findIndex("missing", "drift") : state.findIndex(kind, "drift");
  return index?.count(name === "missing" ? kind : name) ?? 0;
}

function noDrift(states: readonly DriftState[]): Record<Kind, Partial<Record<DriftState, number>>> {
  const none = () => Object.fromEntries(DRIFT_STATES.filter((s) => states.includes(s)).map((s) => [s, 0]));
  return { devices: none(), ports: none(), links: none(), hosts: none() };
}
