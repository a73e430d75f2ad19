/**
 * The search box with a list of matches below it. It searches when the text or the shown moment changes, and when it gets
 * the focus. Arrow keys and Enter choose a match, Escape clears the box, and `/` moves the focus to it from anywhere on the
 * page.
 */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import {
  createSearcher,
  describeHit,
  prepareSearch,
  type SearchState,
  type ShownHit,
} from "../data/entity-search.ts";
import { useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { type EntityRef, isSameEntity } from "../data/view-state.ts";
import { Icon } from "../elements/controls.tsx";

export function SearchBox() {
  const store = useStore();
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal("");
  const focused = useSignal(false);
  const activeRef = useSignal<EntityRef | undefined>(undefined);
  const open = useComputed(() => focused.value && text.value.trim() !== "");
  const searcher = useMemo(() => createSearcher(store.client), []);
  const hits = useComputed(() => {
    const network = store.network.value;
    return network ? searcher.result.value.hits.map((hit) => describeHit(network, hit)) : [];
  });
  const activeIndex = useComputed(() =>
    Math.max(
      0,
      hits.value.findIndex(({ ref }) => isSameEntity(ref, activeRef.value)),
    ),
  );
  useSlashKey(() => {
    input.current?.focus();
    input.current?.select();
  });

  const at = useComputed(() => store.state.value.at);
  useSignalEffect(() => {
    const moment = at.value;
    if (focused.peek()) searcher.search(text.peek(), moment);
  });

  const setText = (next: string) => {
    text.value = next;
    activeRef.value = undefined;
    searcher.search(next, at.peek());
  };
  const choose = (hit: ShownHit) => {
    setText("");
    input.current?.blur();
    store.pick(hit.ref);
  };
  /** Waits for the running search, because Enter may come before the hits of the last key. */
  const chooseActive = async () => {
    const chosen = text.value;
    if (searcher.result.value.searching) await searcher.settled();
    const hit = hits.value[activeIndex.value];
    if (hit && text.value === chosen) choose(hit);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const { length } = hits.value;
      activeRef.value = hits.value[(activeIndex.value + step + length) % Math.max(1, length)]?.ref;
    } else if (event.key === "Enter") void chooseActive();
    else if (event.key === "Escape") {
      if (text.value === "") input.current?.blur();
      setText("");
    }
  };

  const hasHits = open.value && hits.value.length > 0;
  const summary = open.value ? summarize(searcher.result.value) : "";
  const rest = searcher.result.value.complete ? undefined : "and others; more letters find fewer";
  const note = hits.value.length === 0 ? summary : rest;
  return (
    <search class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        class="search-input"
        placeholder="Find a name, id, MAC, IP or block"
        aria-label="Find a device or host by name, id, MAC, IP or CIDR block"
        // biome-ignore lint/a11y/noRedundantRoles: the role is implied only by a list, which the typings ask for
        role="combobox"
        list={undefined}
        aria-expanded={hasHits}
        aria-controls="search-hits"
        aria-autocomplete="list"
        aria-activedescendant={hasHits ? hitId("search-hits", activeIndex.value) : undefined}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => setText(event.currentTarget.value)}
        onFocus={() => {
          // The hits or the fault of an earlier search may be out of date.
          searcher.search("", undefined);
          if (text.peek() === "") prepareSearch(store.client);
          else searcher.search(text.peek(), at.peek());
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
        id="search-hits"
        class="search-hits"
        label="Found"
        hidden={!open.value}
        hits={hits.value}
        activeIndex={activeIndex.value}
        note={note}
        onChoose={choose}
      />
      <div class="search-count" role="status">
        {summary}
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

function useSlashKey(run: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

export const hitId = (list: string, index: number): string => `${list}-${index}`;

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
  return (
    <div ref={list} id={id} role="listbox" class={props.class} aria-label={props.label} hidden={hidden}>
      {hits.map((hit, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
        <div
          key={`${hit.ref.kind} ${hit.ref.id}`}
          id={hitId(id, i)}
          role="option"
          aria-selected={i === activeIndex}
          class={`search-hit ${hit.ref.kind}`}
          // A click event comes too late: pressing the button moves the focus out of the input, which hides the list.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(hit);
          }}
        >
          <span class="hit-title">{hit.title}</span>
          <span class="hit-detail">{hit.detail}</span>
        </div>
      ))}
      {note !== undefined && (
        <div class="search-more" role="presentation">
          {note}
        </div>
      )}
    </div>
  );
}
