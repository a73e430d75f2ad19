/** In the panel of a device that was pinned: says so, and unpins it. */

import { useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { pinOf, unpinDevice } from "./arrangement.ts";

export function UnpinButton({ device }: { readonly device: string }) {
  const { arranging } = useStore();
  const arrangement = arranging.shown.value;
  if (!pinOf(arrangement, device)) return null;
  return (
    <Button
      label="Pinned"
      pressed={true}
      onClick={() => arranging.change(unpinDevice(arrangement, device))}
    />
  );
}
