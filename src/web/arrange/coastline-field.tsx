/** Switches the coastline of the arrangement, and says what there is to know about it. */
import { useId } from "preact/hooks";
import { earthLocation } from "../../layout/device-node.ts";
import type { Network } from "../data/loaded-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { setCoastline } from "./arrangement.ts";

export function CoastlineField() {
  const { arranging } = useStore();
  const network = useNetwork();
  const id = useId();
  const isOn = arranging.shown.value.background?.coastline === true;
  const hasPlaces = network !== undefined && hasLocatedDevice(network);
  const note = hasPlaces ? arranging.coastlineNote.value : "No device has a latitude and a longitude.";
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          disabled={!hasPlaces && !isOn}
          aria-describedby={id}
          onChange={({ currentTarget: { checked } }) =>
            arranging.change(setCoastline(arranging.shown.peek(), checked))
          }
        />
        <span>Coastline</span>
      </label>
      <p class="muted" id={id} role="status">
        {note}
      </p>
    </>
  );
}

/** Ends at the first one. A network without any is looked through with each change: a millisecond for 10,000 devices. */
function hasLocatedDevice({ devices }: Network): boolean {
  for (const { annotations } of devices.values()) if (earthLocation(annotations)) return true;
  return false;
}
