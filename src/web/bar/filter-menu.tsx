/** The menu that highlights devices and links on the map by type, state and source, with the count of each. */
import { hasConflict } from "../../model/conflict.ts";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import { STATE_FILTERS } from "../map/highlights.ts";
import { formatType } from "../names.ts";
import type { Network } from "../network.ts";
import { useStore } from "../store.ts";
import { Popover } from "./popover.tsx";

type FilterName = "types" | "states" | "sources";

export function FilterMenu() {
  const { types, states, sources, view } = useStore().state.value;
  const count = types.length + states.length + sources.length;
  return (
    <Popover
      label="Filter"
      buttonLabel={count === 0 ? "Filter" : `Filter (${count})`}
      face={<Icon name="filter" />}
      count={count}
      hidden={view !== "map"}
    >
      {() => <FilterGroups />}
    </Popover>
  );
}

/** Counts the network when it is opened and when a filter changes, but not for every change of the network. */
function FilterGroups() {
  const { network, go } = useStore();
  if (!network.value) return null;
  return (
    <>
      <FilterGroup title="Type" name="types" counts={countTypes(network.value)} format={formatType} />
      <FilterGroup title="State" name="states" counts={countStates(network.value)} format={stateTitle} />
      <FilterGroup title="Source" name="sources" counts={countSources(network.value)} format={String} />
      <Button label="Clear" onClick={() => go({ types: [], states: [], sources: [] })} />
    </>
  );
}

interface FilterGroupProps {
  readonly title: string;
  readonly name: FilterName;
  readonly counts: ReadonlyMap<string, number>;
  readonly format: (value: string) => string;
}

function FilterGroup({ title, name, counts, format }: FilterGroupProps) {
  const { state, go } = useStore();
  const chosen = state.value[name];
  const toggle = (value: string) => {
    const others = chosen.filter((other) => other !== value);
    go({ [name]: chosen.includes(value) ? others : [...others, value] });
  };
  return (
    <fieldset>
      <legend>{title}</legend>
      {[...new Set([...counts.keys(), ...chosen])].map((value) => (
        <label key={value} class="check">
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          <span>{format(value)}</span>
          <span class="count">{(counts.get(value) ?? 0).toLocaleString("en")}</span>
        </label>
      ))}
    </fieldset>
  );
}

export const stateTitle = (state: string): string =>
  Object.entries(STATE_FILTERS).find(([name]) => name === state)?.[1] ?? state;

function countValues(values: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([p], [q]) => (p < q ? -1 : 1)));
}

const countTypes = (network: Network) => countValues([...network.devices.values()].map(({ type }) => type));

const countSources = (network: Network) =>
  countValues([...network.devices.values(), ...network.links.values()].flatMap(({ sources }) => sources));

function countStates(network: Network): Map<string, number> {
  const counts = new Map<string, number>(Object.keys(STATE_FILTERS).map((state) => [state, 0]));
  const count = (state: keyof typeof STATE_FILTERS) => counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const device of network.devices.values()) {
    if (!device.available) count("down");
    if (hasConflict(device)) count("conflict");
  }
  for (const cable of network.cables.values()) {
    if (!cable.active) count("inactive");
    else if (cable.oneWay) count("one-way");
    if (!cable.verified) count("unverified");
    if (cable.conflict) count("conflict");
  }
  return counts;
}
