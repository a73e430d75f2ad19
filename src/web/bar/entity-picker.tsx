/**
 * A box that finds one device or host by name, id or address. The service searches, so that hosts are found that the page
 * has not loaded. A search that is overtaken by the next key is aborted. Enter takes the marked hit, also when it is
 * pressed before the hits are there.
 */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { SearchResult } from "../../client/client.ts";
import { deviceName, deviceNameById, hostName } from "../data/entity-names.ts";
import { useStore } from "../data/page-store.ts";
import type { EntityRef } from "../data/view-state.ts";

const MAX_HITS = 8;

export interface PickedEntity {
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

export function EntityPicker({ label, picked, input, onPick }: EntityPickerProps) {
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
