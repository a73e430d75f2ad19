/**
 * The box in which the user chooses the ends of a path: both by name, or the first by name and the second by a click on
 * the map. When both are chosen, the map shows the path.
 */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ShownHit } from "../data/entity-search.ts";
import { useStore } from "../data/page-store.ts";
import { pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, Icon, Popover } from "../elements/controls.tsx";
import { SearchHits, useEntitySearch } from "./search-box.tsx";

export function PathBox() {
  return (
    <Popover label="Path" buttonLabel="Path" text="Path" face={<Icon name="path" />}>
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
  const id = useId();
  const choose = ({ ref, title }: ShownHit) => {
    found.search("");
    if (input.current) input.current.value = title;
    onPick({ ref, name: title });
  };
  const found = useEntitySearch(`${id}-hits`, { maxHits: MAX_HITS, onChoose: choose });
  useEffect(() => {
    if (input.current && picked) input.current.value = picked.name;
  }, [picked?.name]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !found.isOpen) return found.onKeyDown(event);
    event.stopPropagation();
    found.search("");
  };
  return (
    <div class="picker">
      <label for={`${id}-input`}>{label}</label>
      <input
        {...found.inputProps}
        id={`${id}-input`}
        ref={input}
        type="text"
        placeholder="Name, id, MAC or IP"
        onInput={(event) => {
          onPick(undefined);
          found.search(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <SearchHits
        {...found.listProps}
        class="picker-hits"
        label={`Found for ${label}`}
        hidden={!found.hasHits}
      />
      <span class="muted" role="status">
        {found.hasHits ? "" : found.summary}
      </span>
    </div>
  );
}
