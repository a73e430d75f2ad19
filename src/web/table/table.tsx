/**
 * A table of devices, links or hosts: the map's equal for those who do not see it, and the better tool for lists.
 * Only the rows in sight exist as elements, so a hundred thousand scroll as ten do. The filter box speaks the
 * interface's own grammar, and its refusals are shown in its own words.
 */
import { ClientError } from "../../client/client.ts";
import { h, replace } from "../dom.ts";
import { formatCount } from "../names.ts";
import type { NetworkEntity } from "../network.ts";
import { isSameEntity, type TableView } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";
import { throttle } from "../throttle.ts";
import { COLUMNS, cellsOf, EXAMPLES } from "./columns.ts";
import { parseFilter } from "./filter.ts";
import { loadRows } from "./rows.ts";

const ROW_PX = 30;
const HEAD_PX = 31;
const SPARE_ROWS = 8;
/** The list is asked for again this long after the network changed. */
const FRESHEN_MS = 1500;
/** Larger lists are not fetched anew for every change; their rows in sight still follow the network. */
const MAX_TO_FRESHEN = 20_000;

export function createTable(actions: Actions): Part {
  let model: Model | undefined;
  let rows: readonly NetworkEntity[] = [];
  let [asked, version, loading, active] = ["", -1, false, 0];
  let asking = new AbortController();

  const filter = h("input", {
    type: "search",
    class: "filter-input",
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "Filter, in the interface's own words",
    "aria-describedby": "filter-fault",
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === "Enter") actions.go({ filter: filter.value.trim() });
    },
    onchange: () => actions.go({ filter: filter.value.trim() }),
  });
  const fault = h("p", { class: "fault", id: "filter-fault", role: "alert", hidden: true });
  const count = h("span", { class: "muted", role: "status" });
  const head = h("div", { role: "row", class: "row head", "aria-rowindex": 1 });
  const sheet = h("div", { class: "sheet", role: "rowgroup" });
  const grid = h(
    "div",
    {
      class: "grid",
      role: "grid",
      onscroll: () => draw(),
      onkeydown: (event: KeyboardEvent) => onKey(event),
    },
    h("div", { role: "rowgroup", class: "head-group" }, head),
    sheet,
  );
  const element = h("div", { class: "table" }, h("div", { class: "table-bar" }, filter, count), fault, grid);
  /** The part of the grid that rows are seen in: the headings stay on top of it. */
  const viewHeight = () => Math.max(ROW_PX, grid.clientHeight - HEAD_PX);

  const tableOf = (next: Model): TableView | undefined =>
    next.state.view === "map" ? undefined : next.state.view;

  function ask(next: Model, table: TableView): void {
    const { filter: text, sort, at } = next.state;
    asking.abort();
    asking = new AbortController();
    loading = true;
    const query = {
      ...Object.fromEntries(parseFilter(text)),
      ...(sort && { sort }),
      ...(at !== undefined && { at }),
    };
    const coming = loadRows(
      actions.client,
      table,
      query,
      {
        grew(done) {
          // While a list is freshened the old one stays until the new is complete.
          if (!done && rows.length > coming.list.length && rows[0]?.resource === table) return;
          rows = coming.list;
          loading = !done;
          fault.hidden = true;
          draw();
        },
        failed(error) {
          loading = false;
          rows = [];
          fault.textContent = error instanceof ClientError ? error.detail : String(error);
          fault.hidden = false;
          draw();
        },
      },
      asking.signal,
    );
  }

  function headings(table: TableView, sort: string): void {
    const columns = COLUMNS[table];
    grid.setAttribute("aria-label", table);
    grid.dataset.table = table;
    grid.setAttribute("aria-colcount", String(columns.length));
    replace(
      head,
      columns.map((column) => {
        const direction =
          sort === column.sort ? "ascending" : sort === `-${column.sort}` ? "descending" : "none";
        const cell = h("div", {
          role: "columnheader",
          class: "cell",
          "aria-sort": column.sort ? direction : undefined,
        });
        cell.style.flexGrow = String(column.width);
        if (!column.sort) cell.append(column.title);
        else {
          const next = direction === "ascending" ? `-${column.sort}` : column.sort;
          const sign = { ascending: " ↑", descending: " ↓", none: "" }[direction];
          cell.append(
            h(
              "button",
              { type: "button", class: "sort", onclick: () => actions.go({ sort: next }) },
              column.title + sign,
            ),
          );
        }
        return cell;
      }),
    );
  }

  /** No number where none is known: before the first rows, and after a refusal. */
  function countWords(): string {
    if (rows.length === 0 && (loading || !fault.hidden)) return loading ? "Loading…" : "";
    return `${formatCount(rows.length, "row")}${loading ? ", loading…" : ""}`;
  }

  function draw(): void {
    if (!model || element.hidden) return;
    const words = countWords();
    if (count.textContent !== words) count.textContent = words;
    // -1 stands for a number that is not known.
    grid.setAttribute("aria-rowcount", String(loading ? -1 : rows.length + 1));
    sheet.style.height = `${Math.max(1, rows.length) * ROW_PX}px`;
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW_PX) - SPARE_ROWS);
    const last = Math.min(rows.length, first + Math.ceil(viewHeight() / ROW_PX) + SPARE_ROWS * 2);
    active = Math.min(active, Math.max(0, rows.length - 1));
    const hadFocus = sheet.contains(document.activeElement);
    const shown: HTMLElement[] = [];
    for (let i = first; i < last; i++) {
      const entry = rows[i];
      if (entry) shown.push(rowOf(fresh(entry), i));
    }
    if (rows.length === 0 && !loading && fault.hidden)
      shown.push(
        h("p", { class: "nothing", role: "row" }, h("span", { role: "gridcell" }, "No rows match.")),
      );
    replace(sheet, shown);
    if (hadFocus) sheet.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** What the network knows by now, where it is the one the list is of. */
  function fresh(entry: NetworkEntity): NetworkEntity {
    const network = model?.state.at === undefined ? model?.network : undefined;
    switch (entry.resource) {
      case "devices":
        return { ...entry, value: network?.devices.get(entry.value.id) ?? entry.value };
      case "links":
        return { ...entry, value: network?.links.get(entry.value.id) ?? entry.value };
      case "hosts":
        return { ...entry, value: network?.hosts.get(entry.value.id) ?? entry.value };
    }
  }

  function rowOf(entry: NetworkEntity, i: number): HTMLElement {
    const ref = { kind: entry.resource, id: entry.value.id };
    const columns = COLUMNS[entry.resource];
    const selected = isSameEntity(model?.state.selected, ref);
    const row = h(
      "div",
      {
        role: "row",
        class: i % 2 === 1 ? "row odd" : "row",
        "aria-rowindex": i + 2,
        "aria-selected": String(selected),
        tabindex: i === active ? 0 : -1,
        onclick: () => {
          active = i;
          actions.pick(ref);
        },
      },
      cellsOf(entry, model?.network).map(({ text, tone }, column) => {
        const cell = h("div", { role: "gridcell", class: `cell ${tone}`, title: text }, text);
        cell.style.flexGrow = String(columns[column]?.width ?? 1);
        return cell;
      }),
    );
    row.style.top = `${i * ROW_PX}px`;
    return row;
  }

  function onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(viewHeight() / ROW_PX) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const move = moves[event.key];
    if (event.target instanceof Element && head.contains(event.target)) return;
    if (event.key === "Enter" || event.key === " ") {
      const entry = rows[active];
      if (entry) actions.pick({ kind: entry.resource, id: entry.value.id });
      event.preventDefault();
    }
    if (move === undefined) return;
    event.preventDefault();
    active = Math.min(rows.length - 1, Math.max(0, active + move));
    const top = active * ROW_PX;
    if (top < grid.scrollTop) grid.scrollTop = top;
    const bottom = top + ROW_PX - viewHeight();
    if (bottom > grid.scrollTop) grid.scrollTop = bottom;
    draw();
    sheet.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  const freshen = throttle(FRESHEN_MS, () => {
    const current = model && tableOf(model);
    if (model && current) ask(model, current);
  });
  new ResizeObserver(() => draw()).observe(grid);

  return {
    element,
    update(next) {
      const before = model;
      model = next;
      const table = tableOf(next);
      element.hidden = table === undefined;
      if (!table) return;
      const key = JSON.stringify([table, next.state.filter, next.state.sort, next.state.at]);
      if (key !== asked) {
        asked = key;
        if (tableOf(before ?? next) !== table || before === undefined || rows[0]?.resource !== table) {
          rows = [];
          grid.scrollTop = 0;
          active = 0;
          filter.placeholder = `Filter: ${EXAMPLES[table]}`;
        }
        if (document.activeElement !== filter) filter.value = next.state.filter;
        headings(table, next.state.sort);
        ask(next, table);
      } else if (next.network && next.network.version !== version && next.state.at === undefined) {
        if (rows.length <= MAX_TO_FRESHEN && !loading && fault.hidden) freshen();
      }
      version = next.network?.version ?? -1;
      draw();
    },
  };
}
