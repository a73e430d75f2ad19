// biome-ignore-all lint/a11y/useSemanticElements: the elements of a table cannot be positioned one by one
// biome-ignore-all lint/a11y/useFocusableInteractive: one row at a time takes part in the tab order
/** The head of a table. A click on a heading sorts by that column; a second click reverses the order. */

import { useStore } from "../data/page-store.ts";
import type { TableView } from "../data/view-state.ts";
import { HEADINGS, type Heading } from "./columns.ts";

const SIGNS = { ascending: " ↑", descending: " ↓", none: "" } as const;

export function GridHead({ table }: { readonly table: TableView }) {
  return (
    <div role="rowgroup" class="head-group">
      <div role="row" class="row head" aria-rowindex={1}>
        {HEADINGS[table].map((heading, i) => (
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
