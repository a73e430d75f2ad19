/** The background picture of the arrangement: a file of the user, its place and its size. */
import type { RefObject } from "preact";
import { useId } from "preact/hooks";
import { type Background, placeOf } from "../../model/map-view.ts";
import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import type { NetworkMap } from "../map/map.ts";
import { setPicture } from "./arrangement.ts";
import { readPicture } from "./picture.ts";
import { PlaceFields } from "./place-fields.tsx";

export function PictureField({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  const store = useStore();
  const { arranging } = store;
  const id = useId();
  const { background } = arranging.shown.value;
  const place = placeOf(background ?? {});
  const set = (next: Background | undefined, step?: string) =>
    arranging.change(setPicture(arranging.shown.peek(), next), step);
  const read = async (file: Blob | undefined) => {
    const extent = map.current?.extent();
    if (!file || !extent) return;
    const checked = await readPicture(file);
    if (!checked.ok) return store.notify(checked.message);
    const { picture, ratio } = checked.value;
    const width = Math.round(extent.right - extent.left);
    const height = Math.max(1, Math.round(width * ratio));
    const y = Math.round(-(extent.top + extent.bottom) / 2 - height / 2);
    set({ picture, x: Math.round(extent.left), y, width, height });
  };
  return (
    <>
      <div class="stack">
        <label for={id}>Picture file (PNG, JPEG, WebP); it stays in this browser</label>
        <input
          id={id}
          type="file"
          accept="image/png,image/jpeg,image/webp"
          onChange={(event) => void read(event.currentTarget.files?.[0])}
        />
      </div>
      {background?.picture !== undefined && (
        <>
          {place && (
            <PlaceFields
              label="Place of the picture"
              place={place}
              keepsShape={true}
              set={(next, step) => set({ ...background, ...next }, `picture ${step}`)}
            />
          )}
          <Button label="Remove the picture" onClick={() => set(undefined)} />
        </>
      )}
    </>
  );
}
