/**
 * The search box with a list of matches below it. Arrow keys and Enter choose a match, Escape clears the box, `/` moves
 * the focus to it from anywhere on the page.
 */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { formatCount } from "../names.ts";
import { type SearchHit, type SearchResult, searchNetwork } from "../search.ts";
import { type EntityRef, isSameEntity } from "../state.ts";
import { readNetwork, type Store, useStore } from "../store.ts";
import { hitId, SearchHits } from "./search-hits.tsx";

const MAX_SHOWN = 12;
const NO_RESULT: SearchResult = { hits: [], total: 0 };

export function SearchBox() {
  const store = useStore();
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal("");
  const focused = useSignal(false);
  const activeRef = useSignal<EntityRef | undefined>(undefined);
  const open = useComputed(() => focused.value && text.value.trim() !== "");
  const result = useComputed(() => (open.value ? search(store, text.value) : NO_RESULT));
  const activeIndex = useComputed(() =>
    Math.max(
      0,
      result.value.hits.findIndex(({ ref }) => isSameEntity(ref, activeRef.value)),
    ),
  );
  useSlashKey(() => {
    input.current?.focus();
    input.current?.select();
  });

  const setText = (next: string) => {
    text.value = next;
    activeRef.value = undefined;
  };
  const choose = (hit: SearchHit) => {
    setText("");
    input.current?.blur();
    store.pick(hit.ref);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { hits } = result.value;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      activeRef.value = hits[(activeIndex.value + step + hits.length) % Math.max(1, hits.length)]?.ref;
    } else if (event.key === "Enter") {
      const hit = hits[activeIndex.value];
      if (hit) choose(hit);
    } else if (event.key === "Escape") {
      if (text.value === "") input.current?.blur();
      setText("");
    }
  };

  const hasHits = result.value.hits.length > 0;
  const summary = open.value ? summarize(result.value, store.network.value?.hostsLoaded ?? false) : "";
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
        aria-activedescendant={hasHits ? hitId(activeIndex.value) : undefined}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => setText(event.currentTarget.value)}
        onFocus={() => {
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
        hidden={!open.value}
        result={result.value}
        activeIndex={activeIndex.value}
        summary={summary}
        onChoose={choose}
      />
      <div class="search-count" role="status">
        {summary}
      </div>
    </search>
  );
}

/** While hosts are loaded the search runs again as they arrive; afterwards the list stays as it is. */
function search(store: Store, text: string): SearchResult {
  const network = store.network.value?.hostsLoaded ? store.network.value : readNetwork(store);
  return network ? searchNetwork(network, text, MAX_SHOWN) : NO_RESULT;
}

function summarize({ total }: SearchResult, isComplete: boolean): string {
  if (total === 0) return isComplete ? "Nothing found" : "Loading…";
  return `${formatCount(total, "match", "matches")}${isComplete ? "" : ", loading…"}`;
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
