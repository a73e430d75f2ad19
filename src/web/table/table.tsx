/**
 * A table of devices, cables or hosts with a filter box. The filter box accepts the parameters of the API, and an error of
 * the service about a filter is shown unchanged. The table stays mounted while the map is shown, so that the user returns
 * to the same rows.
 */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { readNetwork, useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { LAYER_TITLES, type MarkLayer, type TableView } from "../data/view-state.ts";
import { Button } from "../elements/controls.tsx";
import { isPrinting } from "../map/paper.tsx";
import { Grid } from "./grid.tsx";
import { createRowLoader, MAX_ROWS, printedRowsText, type Rows } from "./rows.ts";
import { EXAMPLES } from "./table-columns.ts";
import { formatFilter, parseFilter } from "./table-filter.ts";

export function Table() {
  const store = useStore();
  const state = store.state.value;
  const table = state.view === "map" ? undefined : state.view;
  const lastTable = useRef<TableView | undefined>(undefined);
  if (table) lastTable.current = table;
  const loader = useMemo(() => createRowLoader(store.client), []);
  const requested = useRef("");
  useLayoutEffect(() => {
    const key = JSON.stringify([table, state.filter, state.sort, state.at]);
    if (!table || key === requested.current) return;
    requested.current = key;
    loader.load(table, state);
  }, [state]);
  const version = table && readNetwork(store)?.version;
  const seenVersion = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (!table || version === seenVersion.current) return;
    seenVersion.current = version;
    if (state.at === undefined) loader.reload();
  });
  const printedRows = isPrinting.value ? printedRowsText(loader.rows.value) : undefined;
  return (
    <div class="table" hidden={table === undefined}>
      {lastTable.current && (
        <>
          <FilterBar table={lastTable.current} rows={loader.rows.value} />
          <p class="fault" id="filter-fault" role="alert" hidden={loader.rows.value.fault === undefined}>
            {loader.rows.value.fault}
          </p>
          {printedRows !== undefined && <p>{printedRows}</p>}
          <Grid
            key={lastTable.current}
            table={lastTable.current}
            rows={loader.rows.value}
            want={loader.want}
          />
        </>
      )}
    </div>
  );
}

function FilterBar({ table, rows }: { readonly table: TableView; readonly rows: Rows }) {
  const { state, go } = useStore();
  const { filter } = state.value;
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = filter;
  }, [table, filter]);
  const apply = () => go({ filter: input.current?.value.trim() ?? "" });
  return (
    <div class="table-bar">
      <input
        ref={input}
        type="search"
        class="filter-input"
        spellcheck={false}
        autocomplete="off"
        placeholder={`Filter: ${EXAMPLES[table]}`}
        aria-label="Filter, with the parameters of the interface"
        aria-describedby="filter-fault"
        onKeyDown={(event) => {
          if (event.key === "Enter") apply();
        }}
        onChange={apply}
      />
      <QuickFilter layer="drift" name="drift" value="any" />
      <QuickFilter layer="conflicts" name="conflict" value="true" />
      <span class="muted" role="status">
        {rowCountText(rows)}
      </span>
    </div>
  );
}

interface QuickFilterProps {
  /** The layer of the map that shows the same. */
  readonly layer: MarkLayer;
  readonly name: string;
  readonly value: string;
}

/** A button that adds one parameter to the filter, and removes it again. */
function QuickFilter({ layer, name, value }: QuickFilterProps) {
  const { state, go, offeredLayers } = useStore();
  const pairs = parseFilter(state.value.filter);
  const pressed = pairs.some(([other]) => other === name);
  const toggle = () => {
    const others = pairs.filter(([other]) => other !== name);
    go({ filter: formatFilter(pressed ? others : [...others, [name, value]]) });
  };
  if (!pressed && !offeredLayers.value[layer]) return null;
  return <Button label={LAYER_TITLES[layer]} pressed={pressed} onClick={toggle} />;
}

/** The number of rows as text. There is no number before the first rows are loaded and after an error. */
function rowCountText({ list, loading, hasMore, total, fault }: Rows): string {
  if (list.length === 0 && loading) return "Loading…";
  if (list.length === 0 && fault !== undefined) return "";
  if (!hasMore) return `${formatCount(list.length, "row")}${loading ? ", loading…" : ""}`;
  const shown = list.length.toLocaleString("en");
  const counts = total === undefined ? `${shown} rows` : `${shown} of ${formatCount(total, "row")}`;
  if (list.length >= MAX_ROWS) return `The first ${counts}. Filter or sort to see others.`;
  return `${counts}, ${loading ? "loading…" : "more when you scroll"}`;
}
