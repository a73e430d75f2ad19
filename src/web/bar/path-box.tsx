/**
 * The box in which the user chooses the ends of a path: both by name, or the first by name and the second by a click on
 * the map. When both are chosen, the map shows the path.
 */
import { useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { createSearcher, describeHit, type ShownHit } from "../data/entity-search.ts";
import { useStore } from "../data/page-store.ts";
import { pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, Icon, Popover } from "../elements/controls.tsx";
import { hitId, SearchHits } from "./search-box.tsx";

export function PathBox() {
  return (
    <Popover label="Path" buttonLabel="Path" face={<Icon name="path" />}>
      {(close) => <PathForm close={close} />}
    </Popover>
  );
}

function PathForm({ close }: { readonly close: () => void }) {
  const store = useStore();
  const { path, pathStart, state, network } = store;
  const named = (ref: EntityRef | undefined, end: "src" | "dst"): PickedEntity | undefined =>
    ref && {
      ref,
      name: pathEndName(network.peek(), ref, state.peek().path && path.peek()?.explanation[end]),
    };
  const shown = state.peek().path;
  const from = useSignal(named(pathStart.peek() ?? shown?.[0], "src"));
  const to = useSignal(named(pathStart.peek() ? undefined : shown?.[1], "dst"));
  const [fromInput, toInput] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  useEffect(() => (from.peek() ? toInput : fromInput).current?.focus(), []);

  const finish = () => {
    const ends = [from.peek()?.ref, to.peek()?.ref] as const;
    const [start, end] = ends;
    if (!start) return;
    if (!end) {
      // The next click on the map, a table or a search hit is the other end.
      store.startPath(start);
      toInput.current?.focus();
      return;
    }
    store.startPath(undefined);
    store.go({ path: [start, end], selected: undefined, view: "map" });
    close();
  };
  const swap = () => {
    const [start, end] = [from.peek(), to.peek()];
    from.value = end;
    to.value = start;
    finish();
  };
  return (
    <>
      <EntityPicker
        label="From"
        picked={from.value}
        input={fromInput}
        onPick={(picked) => {
          from.value = picked;
          if (picked) finish();
        }}
      />
      <EntityPicker
        label="To"
        picked={to.value}
        input={toInput}
        onPick={(picked) => {
          to.value = picked;
          if (picked) finish();
        }}
      />
      <p class="muted">Or choose the first here, and click the second on the map.</p>
      {from.value && to.value && <Button label="Swap ends" onClick={swap} />}
    </>
  );
}

const MAX_HITS = 8;

interface PickedEntity {
  readonly ref: EntityRef;
  readonly name: string;
}

interface EntityPickerProps {
  readonly label: string;
  readonly picked: PickedEntity | undefined;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly onPick: (picked: PickedEntity | undefined) => void;
}

/**
 * A box that finds one device or host by name, id or address. Enter chooses the active hit, even when it is pressed before
 * the hits have arrived.
 */
function EntityPicker({ label, picked, input, onPick }: EntityPickerProps) {
  const store = useStore();
  const id = useId();
  const searcher = useMemo(() => createSearcher(store.client, MAX_HITS), []);
  const isOpen = useSignal(false);
  const active = useSignal(0);
  const hits = useComputed(() => {
    const network = store.network.value;
    if (!isOpen.value || !network) return [];
    return searcher.result.value.hits.map((hit) => describeHit(network, hit));
  });
  useEffect(() => () => searcher.search("", undefined), []);
  useEffect(() => {
    if (input.current && picked) input.current.value = picked.name;
  }, [picked?.name]);

  const search = (text: string) => {
    isOpen.value = text.trim() !== "";
    active.value = 0;
    searcher.search(text, store.state.peek().at);
  };
  const choose = ({ ref, title }: ShownHit) => {
    isOpen.value = false;
    if (input.current) input.current.value = title;
    onPick({ ref, name: title });
  };
  const chooseActive = async () => {
    if (searcher.result.peek().searching) await searcher.settled();
    const hit = hits.peek()[active.peek()];
    if (hit) choose(hit);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { length } = hits.value;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      active.value = (active.value + step + length) % Math.max(1, length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      void chooseActive();
    } else if (event.key === "Escape" && isOpen.value) {
      event.stopPropagation();
      isOpen.value = false;
    }
  };
  const hasHits = hits.value.length > 0;
  const { searching, fault = "Nothing found" } = searcher.result.value;
  return (
    <div class="picker">
      <label for={`${id}-input`}>{label}</label>
      <input
        id={`${id}-input`}
        ref={input}
        type="text"
        // biome-ignore lint/a11y/noRedundantRoles: the role is implied only by a list, which the typings ask for
        role="combobox"
        list={undefined}
        aria-expanded={hasHits}
        aria-controls={`${id}-hits`}
        aria-autocomplete="list"
        aria-activedescendant={hasHits ? hitId(`${id}-hits`, active.value) : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Name, id, MAC or IP"
        onInput={(event) => {
          onPick(undefined);
          search(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <SearchHits
        id={`${id}-hits`}
        class="picker-hits"
        label={`Found for ${label}`}
        hidden={!hasHits}
        hits={hits.value}
        activeIndex={active.value}
        onChoose={choose}
      />
      <span class="muted" role="status">
        {isOpen.value && !hasHits && !searching ? fault : ""}
      </span>
    </div>
  );
}
