// biome-ignore-all lint/a11y/useSemanticElements: the elements of a table cannot be positioned one by one
// biome-ignore-all lint/a11y/useFocusableInteractive: one row at a time takes part in the tab order
/**
 * The rows of a table. Only the rows in view exist as elements, so that 100,000 rows scroll as fast as ten. One row is
 * the active one: it takes part in the tab order, and the arrow keys move it.
 */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Network, NetworkEntity } from "../network.ts";
import { isSameEntity, type TableView } from "../state.ts";
import { readNetwork, useStore } from "../store.ts";
import { type Cell, COLUMNS, cellsOf } from "./columns.ts";
import { GridHead } from "./grid-head.tsx";
import type { Rows } from "./rows.ts";

const ROW_PX = 30;
const HEAD_PX = 31;
/** Rows rendered above and below the view. */
const SPARE_ROWS = 8;
/** Row 1 is the head, and row indexes start at 1. */
const FIRST_ROW_INDEX = 2;

interface GridProps {
  readonly table: TableView;
  readonly rows: Rows;
}

export function Grid({ table, rows: { list, loading, fault } }: GridProps) {
  const store = useStore();
  const { selected, at, view } = store.state.value;
  // A hidden table does not follow the network.
  const network = view === "map" ? store.network.peek() : readNetwork(store);
  const grid = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewHeight = useSignal(ROW_PX);
  const activeIndex = useSignal(0);
  const moveFocus = useRef(false);
  if (sheet.current?.contains(document.activeElement)) moveFocus.current = true;
  useLayoutEffect(() => {
    if (moveFocus.current)
      sheet.current?.querySelector<HTMLElement>('[tabIndex="0"]')?.focus({ preventScroll: true });
    moveFocus.current = false;
  });
  useLayoutEffect(() => {
    if (!grid.current) return;
    const observer = new ResizeObserver(([entry]) => {
      // The head covers the top of the view.
      viewHeight.value = Math.max(ROW_PX, (entry?.target.clientHeight ?? 0) - HEAD_PX);
    });
    observer.observe(grid.current);
    return () => observer.disconnect();
  }, []);

  const active = () => Math.max(0, Math.min(activeIndex.value, list.length - 1));
  const pick = (index: number) => {
    const entity = list[index];
    if (entity) store.pick({ kind: entity.resource, id: entity.value.id });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!grid.current || !isInside(sheet.current, event.target)) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(active());
    }
    const next = nextActive(event.key, active(), list.length, viewHeight.value);
    if (next === undefined) return;
    event.preventDefault();
    activeIndex.value = next;
    moveFocus.current = true;
    const top = next * ROW_PX;
    const bottom = top + ROW_PX - viewHeight.value;
    const target = Math.max(bottom, Math.min(top, grid.current.scrollTop));
    grid.current.scrollTop = target;
    scrollTop.value = grid.current.scrollTop;
  };
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element && event.target.closest("[aria-rowindex]");
    if (!row || !isInside(sheet.current, row)) return;
    activeIndex.value = Number(row.getAttribute("aria-rowindex")) - FIRST_ROW_INDEX;
    pick(activeIndex.value);
  };

  const first = Math.max(0, Math.floor(scrollTop.value / ROW_PX) - SPARE_ROWS);
  const last = first + Math.ceil(viewHeight.value / ROW_PX) + SPARE_ROWS * 2;
  return (
    <div
      class="grid"
      role="grid"
      ref={grid}
      aria-label={table}
      aria-colcount={COLUMNS[table].length}
      // -1 is an unknown number.
      aria-rowcount={loading ? -1 : list.length + 1}
      data-table={table}
      onScroll={(event) => {
        scrollTop.value = event.currentTarget.scrollTop;
      }}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <GridHead table={table} />
      <div
        class="sheet"
        role="rowgroup"
        ref={sheet}
        style={{ height: `${Math.max(1, list.length) * ROW_PX}px` }}
      >
        {list.slice(first, last).map((entity, i) => (
          <Row
            key={first + i}
            index={first + i}
            cells={cellsOf(at === undefined ? currentEntity(entity, network) : entity, network)}
            isActive={first + i === active()}
            isSelected={isSameEntity(selected, { kind: entity.resource, id: entity.value.id })}
          />
        ))}
        {list.length === 0 && !loading && fault === undefined && (
          <div class="nothing" role="row">
            <span role="gridcell">No rows match.</span>
          </div>
        )}
      </div>
    </div>
  );
}

const isInside = (element: Element | null, target: EventTarget | null): boolean =>
  target instanceof Node && element?.contains(target) === true;

/** The row that a key moves to; undefined when the key moves nowhere. */
function nextActive(key: string, active: number, rows: number, viewHeightPx: number): number | undefined {
  const page = Math.max(1, Math.floor(viewHeightPx / ROW_PX) - 1);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -rows,
    End: rows,
  };
  const move = moves[key];
  return move === undefined ? undefined : Math.max(0, Math.min(rows - 1, active + move));
}

/** The network is newer than the list, which is loaded again only some time after a change. */
function currentEntity(entity: NetworkEntity, network: Network | undefined): NetworkEntity {
  const { id } = entity.value;
  switch (entity.resource) {
    case "devices":
      return { ...entity, value: network?.devices.get(id) ?? entity.value };
    case "links":
      return { ...entity, value: network?.links.get(id) ?? entity.value };
    case "hosts":
      return { ...entity, value: network?.hosts.get(id) ?? entity.value };
  }
}

interface RowProps {
  readonly index: number;
  readonly cells: readonly Cell[];
  readonly isActive: boolean;
  readonly isSelected: boolean;
}

function Row({ index, cells, isActive, isSelected }: RowProps) {
  return (
    <div
      role="row"
      class={index % 2 === 1 ? "row odd" : "row"}
      aria-rowindex={index + FIRST_ROW_INDEX}
      aria-selected={isSelected}
      tabIndex={isActive ? 0 : -1}
      style={{ top: `${index * ROW_PX}px` }}
    >
      {cells.map(({ id, text, tone, width }) => (
        <div key={id} role="gridcell" class={`cell ${tone}`} title={text} style={{ flexGrow: width }}>
          {text}
        </div>
      ))}
    </div>
  );
}
