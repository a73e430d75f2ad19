/** The list of matches below the search box. It scrolls to the active one. */
import { useEffect, useRef } from "preact/hooks";
import type { SearchHit } from "../data/entity-search.ts";

export const hitId = (index: number): string => `hit-${index}`;

interface SearchHitsProps {
  readonly id: string;
  readonly hidden: boolean;
  readonly hits: readonly SearchHit[];
  /** Whether these are all. */
  readonly complete: boolean;
  readonly activeIndex: number;
  /** Shown when nothing was found. */
  readonly summary: string;
  readonly onChoose: (hit: SearchHit) => void;
}

export function SearchHits({ id, hidden, hits, complete, activeIndex, summary, onChoose }: SearchHitsProps) {
  const note = hits.length === 0 ? summary : "and others; more letters find fewer";
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [activeIndex, hits]);
  return (
    <div ref={list} id={id} role="listbox" class="search-hits" aria-label="Found" hidden={hidden}>
      {hits.map((hit, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
        <div
          key={`${hit.ref.kind} ${hit.ref.id}`}
          id={hitId(i)}
          role="option"
          aria-selected={i === activeIndex}
          class={`search-hit ${hit.ref.kind}`}
          // A click would come too late: the press moves the focus out of the input, which hides the list.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(hit);
          }}
        >
          <span class="hit-title">{hit.title}</span>
          <span class="hit-detail">{hit.detail}</span>
        </div>
      ))}
      {(hits.length === 0 || !complete) && (
        <div class="search-more" role="presentation">
          {note}
        </div>
      )}
    </div>
  );
}
