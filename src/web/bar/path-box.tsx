/**
 * The box that shows a path: two ends by name, or the first by name and the second by a click on the map. When both are
 * chosen the path is shown.
 */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { SearchResult } from "../../client/client.ts";
import { useStore } from "../data/page-store.ts";
import { deviceName, deviceNameById, hostName } from "../data/shown-names.ts";
import { pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, Icon, Popover } from "../elements/controls.tsx";

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

/**
 * A box that finds one device or host by name, id or address. The service searches, so that hosts are found that the page
 * has not loaded. A search that is overtaken by the next key is aborted. Enter takes the marked hit, also when it is
 * pressed before the hits are there.
 */
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

interface Hit extends PickedEntity {
  readonly detail: string;
}

function EntityPicker({ label, picked, input, onPick }: EntityPickerProps) {
  const store = useStore();
  const id = useId();
  const hits = useSignal<readonly Hit[] | undefined>(undefined);
  const active = useSignal(0);
  const request = useRef(new AbortController());
  const takesFirst = useRef(false);
  useEffect(() => () => request.current.abort(), []);
  useEffect(() => {
    if (input.current && picked) input.current.value = picked.name;
  }, [picked?.name]);

  const choose = (hit: Hit) => {
    hits.value = undefined;
    takesFirst.current = false;
    if (input.current) input.current.value = hit.name;
    onPick(hit);
  };
  const search = async (text: string): Promise<void> => {
    request.current.abort();
    request.current = new AbortController();
    const { signal } = request.current;
    hits.value = undefined;
    active.value = 0;
    if (text.trim() === "") return;
    const { at } = store.state.peek();
    try {
      const query = { limit: MAX_HITS, ...(at !== undefined && { at }) };
      const result = await store.client.search(text.trim(), query, { signal });
      const found = result.hits.map((hit) => hitOf(store.network.peek(), hit));
      const [first] = found;
      if (takesFirst.current && first) choose(first);
      else hits.value = found;
    } catch (error) {
      if (!signal.aborted) store.notify(String(error));
    }
    takesFirst.current = false;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const list = hits.value ?? [];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      active.value = (active.value + step + list.length) % Math.max(1, list.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const hit = list[active.value];
      if (hit) choose(hit);
      else takesFirst.current = hits.value === undefined && !picked;
    } else if (event.key === "Escape" && hits.value) {
      event.stopPropagation();
      hits.value = undefined;
    }
  };
  const shown = hits.value;
  const hasHits = shown !== undefined && shown.length > 0;
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
        aria-activedescendant={hasHits ? `${id}-${active.value}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Name, id, MAC or IP"
        onInput={(event) => {
          onPick(undefined);
          void search(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${id}-hits`}
        role="listbox"
        class="picker-hits"
        aria-label={`Found for ${label}`}
        hidden={!hasHits}
      >
        {(shown ?? []).map((hit, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
          <div
            key={`${hit.ref.kind} ${hit.ref.id}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === active.value}
            class={`search-hit ${hit.ref.kind}`}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(hit);
            }}
          >
            <span class="hit-title">{hit.name}</span>
            <span class="hit-detail">{hit.detail}</span>
          </div>
        ))}
      </div>
      <span class="muted" role="status">
        {shown?.length === 0 ? "Nothing found" : ""}
      </span>
    </div>
  );
}

function hitOf(
  network: Parameters<typeof deviceNameById>[0] | undefined,
  hit: SearchResult["hits"][number],
): Hit {
  if (hit.resource === "devices") {
    const name = deviceName(hit.value);
    return { ref: { kind: "devices", id: hit.value.id }, name, detail: hit.value.id };
  }
  const { elementId, port } = hit.value.location;
  const place = network ? deviceNameById(network, elementId) : elementId;
  const name = hostName(hit.value);
  return { ref: { kind: "hosts", id: hit.value.id }, name, detail: `on ${place} port ${port}` };
}
