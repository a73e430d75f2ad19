/**
 * The box that shows a path: two ends by name, or the first by name and the second by a click on the map. When both are
 * chosen the path is shown.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { pathEndName } from "../data/shown-path.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { Popover } from "../elements/popover.tsx";
import { EntityPicker, type PickedEntity } from "./entity-picker.tsx";

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
