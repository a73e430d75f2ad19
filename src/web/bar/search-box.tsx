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
  const { hits, total } = result.value;
  const activeIndex = () =>
    Math.max(
      0,
      result.value.hits.findIndex(({ ref }) => isSameEntity(ref, activeRef.value)),
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
    // Read from the signals: the previous key press may not be rendered yet.
    const current = result.value.hits;
    const index = activeIndex();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      activeRef.value = current[(index + step + current.length) % Math.max(1, current.length)]?.ref;
    } else if (event.key === "Enter") {
      const hit = current[index];
      if (hit) choose(hit);
    } else if (event.key === "Escape") {
      if (text.value === "") input.current?.blur();
      setText("");
    }
  };

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
        aria-expanded={hits.length > 0}
        aria-controls="search-hits"
        aria-autocomplete="list"
        aria-activedescendant={hits.length > 0 ? `hit-${activeIndex()}` : undefined}
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
      <div id="search-hits" role="listbox" class="search-hits" aria-label="Found" hidden={!open.value}>
        {hits.map((hit, i) => (
          <Hit
            key={`${hit.ref.kind} ${hit.ref.id}`}
            hit={hit}
            index={i}
            active={i === activeIndex()}
            choose={choose}
          />
        ))}
        {total > hits.length && (
          <div
            class="search-more"
            role="presentation"
          >{`and ${formatCount(total - hits.length, "other")}`}</div>
        )}
        {total === 0 && (
          <div class="search-more" role="presentation">
            {summary}
          </div>
        )}
      </div>
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

function summarize({ total }: SearchResult, complete: boolean): string {
  if (total === 0) return complete ? "Nothing found" : "Loading…";
  return `${formatCount(total, "match", "matches")}${complete ? "" : ", loading…"}`;
}

interface HitProps {
  readonly hit: SearchHit;
  readonly index: number;
  readonly active: boolean;
  readonly choose: (hit: SearchHit) => void;
}

function Hit({ hit, index, active, choose }: HitProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
    <div
      id={`hit-${index}`}
      role="option"
      aria-selected={active}
      class={`search-hit ${hit.ref.kind}`}
      // The press comes before the blur that hides the list.
      onMouseDown={(event) => {
        event.preventDefault();
        choose(hit);
      }}
    >
      <span class="hit-title">{hit.title}</span>
      <span class="hit-detail">{hit.detail}</span>
    </div>
  );
}

function useSlashKey(run: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
