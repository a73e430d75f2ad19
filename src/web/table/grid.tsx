// biome-ignore-all lint/a11y/useSemanticElements: the elements of a table cannot be positioned one by one
// biome-ignore-all lint/a11y/useFocusableInteractive: one row at a time takes part in the tab order
/**
 * The head and the rows of a table. One row is the active one: it takes part in the tab order, the arrow keys move it,
 * and Enter selects its entity.
 */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { reverseLinkId } from "../../model/cable.ts";
import type { NetworkEntity, PageNetwork } from "../data/page-network.ts";
import { readNetwork, useStore } from "../data/page-store.ts";
import { type EntityRef, isSameEntity, type TableView, VIEW_TITLES } from "../data/view-state.ts";
import { isPrinting, isPrintRequested } from "../map/paper.tsx";
import { MAX_PRINTED_ROWS, MAX_ROWS, nextPrintStep, type Rows } from "./rows.ts";
import { type Cell, COLUMNS, cellsOf, type Heading } from "./table-columns.ts";

/** The ARIA index of the first row of data; the head is row 1. */
const FIRST_ROW_INDEX = 2;

interface GridProps {
  readonly table: TableView;
  readonly rows: Rows;
  /** Requests that at least this many rows are loaded. */
  readonly want: (count: number) => void;
}

export function Grid({ table, rows, want }: GridProps) {
  const { list, loading, hasMore, total, fault } = rows;
  const store = useStore();
  const { selected, at, view } = store.state.value;
  // A hidden table does not subscribe to the network.
  const network = view === "map" ? store.network.peek() : readNetwork(store);
  const { scroller, first, end, pageRows, scrollTo, onScroll } = useRowWindow(list.length);
  const sheet = useRef<HTMLDivElement>(null);
  const activeIndex = useSignal(0);
  const focusActive = useRef(false);
  // When the focused row disappears, the active row gets the focus.
  if (sheet.current?.contains(document.activeElement)) focusActive.current = true;
  useLayoutEffect(() => {
    const activeRow = sheet.current?.querySelector<HTMLElement>('[tabindex="0"]');
    if (focusActive.current) activeRow?.focus({ preventScroll: true });
    focusActive.current = false;
  });

  useLayoutEffect(() => {
    if (hasMore && end > list.length) want(end);
  }, [end, list, hasMore]);
  useLayoutEffect(() => {
    if (!isPrintRequested.value) return;
    const step = nextPrintStep(rows);
    if (step === "wait") return;
    if (step === "load") return want(MAX_PRINTED_ROWS);
    isPrintRequested.value = false;
    if (step === "print") print();
    else store.notify(`The table cannot be printed: ${step.fault}`);
  }, [isPrintRequested.value, rows]);
  /** Set while the End key waits for the last row, which may have to be loaded first. */
  const goesToEnd = useRef(false);
  useLayoutEffect(() => {
    if (!goesToEnd.current || loading) return;
    goesToEnd.current = false;
    activeIndex.value = Math.max(0, list.length - 1);
    focusActive.current = true;
    scrollTo(activeIndex.value);
  }, [list, loading]);

  const active = () => Math.max(0, Math.min(activeIndex.value, list.length - 1));
  const pick = (index: number) => {
    const entity = list[index];
    if (entity) store.pick({ kind: entity.resource, id: entity.value.id });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isInside(sheet.current, event.target)) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: pageRows(),
      PageUp: -pageRows(),
      Home: -list.length,
      End: list.length,
    };
    const step = steps[event.key];
    const picks = event.key === "Enter" || event.key === " ";
    if (step !== undefined || picks) event.preventDefault();
    if (picks) pick(active());
    if (step === undefined) return;
    goesToEnd.current = event.key === "End" && hasMore;
    if (goesToEnd.current) want(MAX_ROWS);
    activeIndex.value = Math.max(0, Math.min(list.length - 1, active() + step));
    focusActive.current = true;
    scrollTo(activeIndex.value);
  };
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element && event.target.closest("[aria-rowindex]");
    if (!row || !isInside(sheet.current, row)) return;
    activeIndex.value = Number(row.getAttribute("aria-rowindex")) - FIRST_ROW_INDEX;
    pick(activeIndex.value);
  };
  return (
    <div
      class="grid"
      role="grid"
      ref={scroller}
      aria-label={VIEW_TITLES[table]}
      aria-colcount={COLUMNS[table].length}
      // -1 means an unknown number.
      aria-rowcount={total !== undefined ? total + 1 : loading || hasMore ? -1 : list.length + 1}
      data-table={table}
      onScroll={onScroll}
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
        {list.slice(first, end).map((entity, i) => (
          <Row
            key={first + i}
            index={first + i}
            cells={cellsOf(at === undefined ? currentEntity(entity, network) : entity, network)}
            isActive={first + i === active()}
            isSelected={isRowOf(entity, selected)}
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

/** Whether the row shows the entity. The row of a cable shows both of its links. */
const isRowOf = ({ resource, value }: NetworkEntity, ref: EntityRef | undefined): boolean =>
  isSameEntity(ref, { kind: resource, id: value.id }) ||
  (resource === "links" && isSameEntity(ref, { kind: resource, id: reverseLinkId(value) }));

/** The entity from the network, which is newer than the list: that is loaded again only some time after a change. */
function currentEntity(entity: NetworkEntity, network: PageNetwork | undefined): NetworkEntity {
  const { id } = entity.value;
  switch (entity.resource) {
    case "devices":
      return { ...entity, value: network?.devices.get(id) ?? entity.value };
    case "links":
      return { ...entity, value: network?.links.get(id) ?? entity.value };
    case "hosts":
      return { ...entity, value: network?.openedHosts.latest(entity.value) ?? entity.value };
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
      {cells.map(({ text, tone, width }, i) => (
        <div key={i} role="gridcell" class={`cell ${tone}`} title={text} style={{ flexGrow: width }}>
          {text}
        </div>
      ))}
    </div>
  );
}

const SIGNS = { ascending: " ↑", descending: " ↓", none: "" } as const;

/** The head of a table. A click on a heading sorts by that column; a second click reverses the order. */
function GridHead({ table }: { readonly table: TableView }) {
  return (
    <div role="rowgroup" class="head-group">
      <div role="row" class="row head" aria-rowindex={1}>
        {COLUMNS[table].map((heading, i) => (
          <HeadCell key={i} {...heading} />
        ))}
      </div>
    </div>
  );
}

function HeadCell({ title, width, sort }: Heading) {
  const { state, go } = useStore();
  const current = state.value.sort;
  const direction = current === sort ? "ascending" : current === `-${sort}` ? "descending" : "none";
  const next = direction === "ascending" ? `-${sort}` : sort;
  return (
    <div
      role="columnheader"
      class="cell"
      aria-sort={sort ? direction : undefined}
      style={{ flexGrow: width }}
    >
      {next === undefined ? (
        title
      ) : (
        <button type="button" class="sort" onClick={() => go({ sort: next })}>
          {title + SIGNS[direction]}
        </button>
      )}
    </div>
  );
}

const ROW_PX = 30;
const HEAD_PX = 31;
/** Number of rows that are rendered above and below the view. */
const SPARE_ROWS = 8;

/**
 * The rows of a long list that are in view. Only these exist as elements, so that 100,000 rows scroll as fast as ten. All
 * rows have the same height, so that positions follow from indexes. On paper there are the first `MAX_PRINTED_ROWS`.
 */
function useRowWindow(count: number) {
  /** The element that scrolls. */
  const scroller = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewHeight = useSignal(ROW_PX);
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(([entry]) => {
      // The head of the table covers the top of the view.
      viewHeight.value = Math.max(ROW_PX, (entry?.target.clientHeight ?? 0) - HEAD_PX);
    });
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  const first = isPrinting.value ? 0 : Math.max(0, Math.floor(scrollTop.value / ROW_PX) - SPARE_ROWS);
  const onScroll = () => {
    scrollTop.value = scroller.current?.scrollTop ?? 0;
  };
  return {
    scroller,
    first,
    /** The index after the last row that is rendered. */
    end: isPrinting.value
      ? Math.min(count, MAX_PRINTED_ROWS)
      : first + Math.ceil(viewHeight.value / ROW_PX) + SPARE_ROWS * 2,
    /** The number of rows that Page Down moves. */
    pageRows: () => Math.max(1, Math.floor(viewHeight.peek() / ROW_PX) - 1),
    /** Scrolls as little as needed to show the row. */
    scrollTo(index: number): void {
      if (!scroller.current) return;
      const top = index * ROW_PX;
      const bottom = top + ROW_PX - viewHeight.peek();
      scroller.current.scrollTop = Math.max(bottom, Math.min(top, scroller.current.scrollTop));
      onScroll();
    },
    onScroll,
  };
}
