/**
 * The search box with a list of matches below it. It searches when the text or the shown moment changes, and when it gets
 * the focus. Arrow keys and Enter choose a match, Escape clears the box, and `/` moves the focus to it from anywhere on the
 * page.
 */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  allResults,
  createSearcher,
  describeHit,
  isAllResults,
  prepareSearch,
  type SearchState,
  type ShownHit,
} from "../data/entity-search.ts";
import { useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { type EntityRef, isSameEntity } from "../data/view-state.ts";
import { focusContent, Icon } from "../elements/controls.tsx";
import { searchFilter } from "../table/table-filter.ts";

interface SearchOptions {
  readonly maxHits?: number;
  /** Whether the list may be open. */
  readonly isShown?: boolean;
  /** Called for a click on a match and for Enter. */
  readonly onChoose: (hit: ShownHit) => void;
  /** Whether the list ends with entries for all results in tables. */
  readonly offersTables?: boolean;
}

/** The search of an input with a list of matches below it. */
export function useEntitySearch(listId: string, options: SearchOptions) {
  const { maxHits, isShown = true, onChoose, offersTables = false } = options;
  const store = useStore();
  const text = useSignal("");
  const activeRef = useSignal<EntityRef | undefined>(undefined);
  const searcher = useMemo(() => createSearcher(store.client, maxHits), []);
  const hits = useComputed(() => {
    const network = store.network.value;
    const found = network ? searcher.result.value.hits.map((hit) => describeHit(network, hit)) : [];
    return offersTables ? [...found, ...allResults(found)] : found;
  });
  const activeIndex = useComputed(() =>
    Math.max(
      0,
      hits.value.findIndex(({ ref }) => isSameEntity(ref, activeRef.value)),
    ),
  );
  /** Searches in the network of the moment that is shown; an empty text ends the search. */
  const search = (next: string) => {
    text.value = next;
    activeRef.value = undefined;
    searcher.search(next, store.state.peek().at);
  };
  useEffect(() => () => search(""), []);
  /** Waits for the running search, because Enter may come before the hits of the last key. */
  const chooseActive = async () => {
    const chosen = text.value;
    if (searcher.result.value.searching) await searcher.settled();
    const hit = hits.value[activeIndex.value];
    if (hit && text.value === chosen) onChoose(hit);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== "Enter") return;
    event.preventDefault();
    const { length } = hits.value;
    if (step === undefined) void chooseActive();
    else activeRef.value = hits.value[(activeIndex.value + step + length) % Math.max(1, length)]?.ref;
  };
  const isOpen = isShown && text.value.trim() !== "";
  const hasHits = isOpen && hits.value.length > 0;
  return {
    text,
    isOpen,
    hasHits,
    search,
    onKeyDown,
    result: searcher.result,
    /** The state of the search as text; empty without a search. */
    summary: isOpen ? summarize(searcher.result.value) : "",
    inputProps: {
      role: "combobox",
      // The typings require a list for this role.
      list: undefined,
      "aria-expanded": hasHits,
      "aria-controls": listId,
      "aria-autocomplete": "list",
      "aria-activedescendant": hasHits ? hitId(listId, activeIndex.value) : undefined,
      autocomplete: "off",
      spellcheck: false,
    } as const,
    listProps: { id: listId, hits: hits.value, activeIndex: activeIndex.value, onChoose },
  };
}

export function SearchBox() {
  const store = useStore();
  const input = useRef<HTMLInputElement>(null);
  const focused = useSignal(false);
  const choose = (hit: ShownHit) => {
    const words = text.peek().trim();
    search("");
    if (isAllResults(hit)) store.go({ view: hit.ref.kind, filter: searchFilter(words), sort: "" });
    else store.pick(hit.ref, "map");
    // The map or table is rendered in a microtask, which comes before this one; a hidden element cannot have the focus.
    queueMicrotask(focusContent);
  };
  const found = useEntitySearch("search-hits", {
    isShown: focused.value,
    onChoose: choose,
    offersTables: true,
  });
  const { text, search } = found;
  usePageKey("/", () => {
    input.current?.focus();
    input.current?.select();
  });

  const at = useComputed(() => store.state.value.at);
  useSignalEffect(() => {
    void at.value;
    if (focused.peek()) search(text.peek());
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return found.onKeyDown(event);
    if (text.value === "") input.current?.blur();
    search("");
  };
  const { complete } = found.result.value;
  const rest = complete ? undefined : "and others; more letters find fewer";
  return (
    <search class="search">
      <Icon name="search" />
      <input
        {...found.inputProps}
        ref={input}
        type="search"
        class="search-input"
        placeholder="Find a name, id, MAC, IP or block"
        aria-label="Find a device or host by name, id, MAC, IP or CIDR block"
        value={text.value}
        onInput={(event) => search(event.currentTarget.value)}
        onFocus={() => {
          const now = text.peek();
          // The hits or the fault of an earlier search may be out of date.
          search("");
          if (now === "") prepareSearch(store.client);
          else search(now);
          focused.value = true;
        }}
        onBlur={() => {
          focused.value = false;
        }}
        onKeyDown={onKeyDown}
      />
      <span class="search-key" aria-hidden="true">
        /
      </span>
      <SearchHits
        {...found.listProps}
        class="search-hits"
        label="Found"
        hidden={!found.isOpen}
        note={found.hasHits ? rest : found.summary}
      />
      <div class="only-read" role="status">
        {found.summary}
      </div>
    </search>
  );
}

function summarize({ hits, complete, searching, fault }: SearchState): string {
  if (fault !== undefined) return fault;
  if (searching) return "Searching…";
  if (hits.length === 0) return "Nothing found";
  return complete ? formatCount(hits.length, "match", "matches") : `The first ${hits.length} matches`;
}

/** Runs an action on a key anywhere on the page, except in a field. */
export function usePageKey(key: string, run: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.key !== key || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

const hitId = (list: string, index: number): string => `${list}-${index}`;

interface SearchHitsProps {
  readonly id: string;
  readonly class: string;
  /** The accessible name of the list. */
  readonly label: string;
  readonly hidden: boolean;
  readonly hits: readonly ShownHit[];
  readonly activeIndex: number;
  /** The text below the hits. */
  readonly note?: string | undefined;
  readonly onChoose: (hit: ShownHit) => void;
}

/** The list of matches below the search box. It scrolls to the active match. */
export function SearchHits(props: SearchHitsProps) {
  const { id, hidden, hits, activeIndex, note, onChoose } = props;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [activeIndex, hits]);
  const option = (hit: ShownHit, i: number) => (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
    <div
      key={`${hit.ref.kind} ${hit.ref.id}`}
      id={hitId(id, i)}
      role="option"
      aria-selected={i === activeIndex}
      class={isAllResults(hit) ? "search-all" : `search-hit ${hit.ref.kind}`}
      // A click event comes too late: pressing the button moves the focus out of the input, which hides the list.
      onMouseDown={(event) => {
        event.preventDefault();
        onChoose(hit);
      }}
    >
      {isAllResults(hit) ? (
        `${hit.title} ${hit.detail}`
      ) : (
        <>
          <span class="hit-title">{hit.title}</span>
          <span class="hit-detail">{hit.detail}</span>
        </>
      )}
    </div>
  );
  return (
    <div ref={list} id={id} role="listbox" class={props.class} aria-label={props.label} hidden={hidden}>
      {hits.map((hit, i) => !isAllResults(hit) && option(hit, i))}
      {hits.some(isAllResults) && (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, not of the controls of a form
        <div role="group" class="search-tables" aria-label="Tables">
          {hits.map((hit, i) => isAllResults(hit) && option(hit, i))}
        </div>
      )}
      {note !== undefined && (
        <div class="search-more" role="presentation">
          {note}
        </div>
      )}
    </div>
  );
}
