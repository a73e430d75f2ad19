/** The ways to add a group box at a place: with a drag on the map, or without a pointer in the middle of what is seen. */
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import type { NetworkMap } from "../map/map.ts";
import { addBoxInMiddle } from "./add-box.ts";

export function DrawBoxButtons({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  const store = useStore();
  const { isDrawing } = store.arranging.boxes;
  const toggle = () => {
    isDrawing.value = !isDrawing.value;
  };
  // Wherever the focus is, and before the map, on which the key would clear the selection.
  useEffect(() => {
    if (!isDrawing.value) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      isDrawing.value = false;
    };
    addEventListener("keydown", onKeyDown, { capture: true });
    return () => removeEventListener("keydown", onKeyDown, { capture: true });
  }, [isDrawing.value]);
  const addInMiddle = () => {
    if (map.current) addBoxInMiddle(store, map.current.seen());
  };
  return (
    <>
      <div class="actions">
        <Button label="Draw a box" pressed={isDrawing.value} onClick={toggle} />
        <Button label="Add a box in the middle" onClick={addInMiddle} />
      </div>
      <p class="muted" role="status">
        {isDrawing.value && "Drag on the map from one corner of the box to the other. Escape ends it."}
      </p>
    </>
  );
}
