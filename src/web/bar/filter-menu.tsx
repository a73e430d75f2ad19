/**
 * The menu that highlights devices and links on the map by type, state and source. The count beside each value is the
 * number of entities on the map that have the value and match the filters of the other groups.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { throttle } from "../data/pacing.ts";
import { readNetwork, useStore } from "../data/page-store.ts";
import { formatType } from "../data/shown-names.ts";
import { neighbourhood } from "../data/shown-path.ts";
import { Button, Icon, Popover } from "../elements/controls.tsx";
import { countFilters, STATE_FILTERS } from "../map/filter-match.ts";

/** While the network changes, all devices and links are counted at most this often. */
const COUNT_INTERVAL_MS = 1000;

type FilterName = "types" | "states" | "sources";

export function FilterMenu() {
  const { types, states, sources, view } = useStore().state.value;
  const count = types.length + states.length + sources.length;
  return (
    <Popover
      label="Filter"
      buttonLabel={count === 0 ? "Filter" : `Filter (${count})`}
      face={<Icon name="filter" />}
      text="Filter"
      count={count}
      hidden={view !== "map"}
    >
      {() => <FilterGroups />}
    </Popover>
  );
}

function FilterGroups() {
  const store = useStore();
  const { types, states, sources, around, hops } = store.state.value;
  const network = readNetwork(store);
  const countedVersion = useSignal(network?.version);
  const recount = useMemo(
    () =>
      throttle(COUNT_INTERVAL_MS, () => {
        countedVersion.value = store.network.peek()?.version;
      }),
    [],
  );
  useEffect(() => {
    if (network?.version !== countedVersion.peek()) recount();
  });
  const counts = useMemo(() => {
    if (!network) return undefined;
    const visible = around === undefined ? undefined : neighbourhood(network, around, hops);
    return countFilters(network, { types, states, sources }, (id) => visible?.has(id) ?? true);
  }, [network, countedVersion.value, types, states, sources, around, hops]);
  if (!counts) return null;
  return (
    <>
      <FilterGroup title="Type" name="types" counts={counts.types} format={formatType} />
      <FilterGroup title="State" name="states" counts={counts.states} format={stateTitle} />
      <FilterGroup title="Source" name="sources" counts={counts.sources} format={String} />
      <Button label="Clear" onClick={() => store.go({ types: [], states: [], sources: [] })} />
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
