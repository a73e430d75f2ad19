/** The box beside the map in which the user arranges it: pins, undo, and group boxes. */
import type { RefObject } from "preact";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import type { NetworkMap } from "../map/map.ts";
import { selectedDevice, togglePin, undo } from "./arrange-keys.ts";
import { pinOf, unpinAll } from "./arrangement.ts";
import { GroupSection } from "./group-section.tsx";

export function ArrangeButton() {
  const { isOn } = useStore().arranging;
  const toggle = () => {
    isOn.value = !isOn.value;
  };
  return <Button label="Arrange" icon="pin" pressed={isOn.value} onClick={toggle} />;
}

export function ArrangeBox({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  const store = useStore();
  const { arranging } = store;
  if (!arranging.isOn.value) return null;
  const close = () => {
    arranging.isOn.value = false;
  };
  return (
    <section class="arrange" aria-label="Arrange" data-covers-map>
      <header class="panel-head">
        <h2>Arrange</h2>
        <Button label="Stop arranging" icon="close" onClick={close} />
      </header>
      <p class="muted keys-hint">
        Drag a device; or select one and, on the map, move it with the arrow keys (small steps with Shift). P
        pins or unpins it, U undoes.
      </p>
      <PinButtons map={map} />
      <GroupSection />
    </section>
  );
}

function PinButtons({ map }: { readonly map: RefObject<NetworkMap | null> }) {
  const store = useStore();
  const { arranging } = store;
  const network = useNetwork();
  const arrangement = arranging.shown.value;
  const device = selectedDevice(store);
  const pin = device === undefined ? undefined : pinOf(arrangement, device);
  const name = device !== undefined && network ? deviceNameById(network, device) : "";
  const place = pin ? `${name} is pinned at ${Math.round(pin.x)}, ${Math.round(pin.y)}.` : "";
  return (
    <>
      <p role="status">
        {`${formatCount(arrangement.pins?.length ?? 0, "device")} pinned. ${place}`}
        {arranging.isLost.value && " The storage of this browser is full: the last change is not kept."}
      </p>
      <div class="actions">
        {device !== undefined && (
          <Button
            label={`${pin ? "Unpin" : "Pin"} ${name}`}
            onClick={() => togglePin(store, map.current, device)}
          />
        )}
        <Button label="Undo" disabled={!arranging.canUndo.value} onClick={() => undo(store)} />
        <Button
          label="Unpin all"
          disabled={(arrangement.pins ?? []).length === 0}
          onClick={() => arranging.change(unpinAll(arrangement))}
        />
      </div>
    </>
  );
}
