/** The box beside the map in which the user arranges it: pins, undo, and group boxes. */

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useState } from "preact/hooks";
import type { GroupBox } from "../../model/map-view.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { deviceNameById, formatCount } from "../data/shown-names.ts";
import { Button, Select, submits, TextField } from "../elements/controls.tsx";
import type { NetworkMap } from "../map/map.ts";
import { chooseSite, devicesToMove, nameDevices, selectedDevice, togglePins, undo } from "./arrange-keys.ts";
import { addGroup, checkArrangement, pinOf, replaceGroup, unpinAll } from "./arrangement.ts";
import { NO_DEVICES } from "./arranging.ts";

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
        Drag a device, or the title of a site. Shift and a drag choose several devices, Shift and a click adds
        one. On the map, arrow keys move the chosen devices or the selected one (small steps with Shift),
        Space chooses it, S its site, P pins or unpins, U undoes.
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
  const place = pin ? ` ${name} is pinned at ${Math.round(pin.x)}, ${Math.round(pin.y)}.` : "";
  const chosen = arranging.chosen.value;
  const choice = chosen.size > 0 ? ` ${chosen.size} chosen.` : "";
  const toMove = devicesToMove(store);
  const pinned = arranging.pinned.value;
  const areAllPinned = toMove.every((id) => pinned.has(id));
  return (
    <>
      <p role="status">
        {`${formatCount(arrangement.pins?.length ?? 0, "device")} pinned.${choice}${place}`}
        {arranging.isLost.value &&
          " The last change is not kept: the storage of this browser is full, or more than 10,000 devices are pinned."}
      </p>
      <div class="actions">
        {toMove.length > 0 && (
          <Button
            label={`${areAllPinned ? "Unpin" : "Pin"} ${nameDevices(store, toMove)}`}
            onClick={() => togglePins(store, map.current, toMove)}
          />
        )}
        {device !== undefined && (
          <>
            <Button
              label={`Choose ${name}`}
              pressed={chosen.has(device)}
              onClick={() => arranging.toggleChosen(device)}
            />
            <Button label="Choose its site" onClick={() => chooseSite(store, map.current, device)} />
          </>
        )}
        {chosen.size > 0 && (
          <Button
            label="Choose none"
            onClick={() => {
              arranging.chosen.value = NO_DEVICES;
            }}
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

const DEFAULT_NAME = "Group";
const PINNED = "pinned";
const SELECTED = "selected";
const ANNOTATION = "annotation ";
/** Maximum number of devices whose annotations are examined, because the choices are rendered with each network change. */
const MAX_EXAMINED = 2000;
const NO_GROUPS = ["name", "managementAddress", "latitude", "longitude", "x", "y", "channelId", "conflict"];

/**
 * The group boxes of the arrangement, and the form that adds one: for each value of an annotation, or around devices that
 * the user chooses.
 */
function GroupSection() {
  const store = useStore();
  const groups = store.arranging.shown.value.groups ?? [];
  const arrangementKey = store.arranging.key.value;
  const edited = useSignal<string | undefined>(undefined);
  // Without boxes the section is closed at first, because the arrange box covers the map.
  const [isOpen] = useState(groups.length > 0);
  return (
    <details open={isOpen}>
      <summary>
        <h3>Group boxes</h3>
      </summary>
      <ul class="entries">
        {groups.map((group, i) => {
          const id = `${i} ${arrangementKey}`;
          return <GroupRow key={id} id={id} group={group} edited={edited} />;
        })}
      </ul>
      <NewGroup />
    </details>
  );
}

function NewGroup() {
  const store = useStore();
  const { arranging } = store;
  const network = useNetwork();
  const kindId = useId();
  const title = useSignal("");
  const kind = useSignal("");
  const fault = useSignal("");
  const toMove = devicesToMove(store);
  const pins = arranging.shown.value.pins ?? [];
  const choices: (readonly [value: string, text: string])[] = [
    ...annotationNames(network).map((name) => [ANNOTATION + name, `one for each ${name}`] as const),
  ];
  if (pins.length > 0) choices.push([PINNED, `one around the ${formatCount(pins.length, "pinned device")}`]);
  if (toMove.length > 0) choices.push([SELECTED, `one around ${nameDevices(store, toMove)}`]);
  const chosen = choices.some(([value]) => value === kind.value) ? kind.value : (choices[0]?.[0] ?? "");
  const add = () => {
    const annotation = chosen.startsWith(ANNOTATION) ? chosen.slice(ANNOTATION.length) : undefined;
    const members = chosen === PINNED ? pins.map((pin) => pin.device) : [...toMove];
    const content = annotation === undefined ? { devices: members } : { annotation };
    const name = title.peek().trim() || (annotation ?? DEFAULT_NAME);
    const checked = checkArrangement(addGroup(arranging.shown.peek(), { name, ...content }));
    fault.value = checked.ok ? "" : checked.message;
    if (!checked.ok) return;
    arranging.change(checked.value);
    title.value = "";
  };
  return (
    <form class="stack" onSubmit={submits(add)}>
      <label for={kindId}>New boxes</label>
      <Select
        id={kindId}
        value={chosen}
        options={choices}
        onChoose={(next) => {
          kind.value = next;
        }}
      />
      <TextField
        label="Title"
        value={title.value}
        fault={fault.value}
        onInput={(event) => {
          title.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="text-button" disabled={chosen === ""}>
        Add boxes
      </button>
    </form>
  );
}

/** The names of the annotations that group devices: those that have the same value on at least two devices. */
function annotationNames(network: PageNetwork | undefined): string[] {
  const values = new Map<string, { readonly distinct: Set<string>; devices: number }>();
  let examined = 0;
  for (const { annotations } of network?.devices.values() ?? []) {
    if (examined++ === MAX_EXAMINED) break;
    for (const [name, value] of Object.entries(annotations)) {
      const entry = values.get(name) ?? { distinct: new Set<string>(), devices: 0 };
      entry.distinct.add(value);
      entry.devices++;
      values.set(name, entry);
    }
  }
  return [...values]
    .filter(([name, { distinct, devices }]) => !NO_GROUPS.includes(name) && distinct.size < devices)
    .map(([name]) => name)
    .sort();
}

/** The props of one group box in the list: a row with its contents and the field for its name. */
interface GroupRowProps {
  readonly group: GroupBox;
  /** The id of the group, which is unique across arrangements. */
  readonly id: string;
  /** The id of the group whose name is edited. */
  readonly edited: Signal<string | undefined>;
}

function GroupRow({ group, id, edited }: GroupRowProps) {
  const store = useStore();
  const { arranging } = store;
  const isEdited = edited.value === id;
  const network = useNetwork();
  const replace = (next: GroupBox | undefined) =>
    arranging.change(replaceGroup(arranging.shown.peek(), group, next));
  const { devices } = group;
  const device = selectedDevice(store);
  const others = devices?.filter((id) => id !== device) ?? [];
  const isIn = device !== undefined && devices?.includes(device);
  const name = device !== undefined && network ? deviceNameById(network, device) : "";
  const toggleFields = () => {
    edited.value = isEdited ? undefined : id;
  };
  const remove = () => {
    // The ids of the groups after the removed one change.
    edited.value = undefined;
    replace(undefined);
  };
  return (
    <li class="entry">
      <span>
        {group.name} <span class="muted">{contentText(group)}</span>
      </span>
      {devices && device !== undefined && (!isIn || others.length > 0) && (
        <Button
          label={isIn ? `Remove ${name}` : `Add ${name}`}
          onClick={() => replace({ ...group, devices: isIn ? others : [...others, device] })}
        />
      )}
      <Button label={`Edit the box ${group.name}`} icon="edit" pressed={isEdited} onClick={toggleFields} />
      <Button label={`Delete the box ${group.name}`} icon="close" onClick={remove} />
      {isEdited && <GroupFields group={group} />}
    </li>
  );
}

function contentText({ annotation, devices }: GroupBox): string {
  return annotation === undefined ? formatCount(devices?.length ?? 0, "device") : `by ${annotation}`;
}

function GroupFields({ group }: { readonly group: GroupBox }) {
  const { arranging } = useStore();
  const fault = useSignal("");
  const rename = (name: string) => {
    const checked = checkArrangement(replaceGroup(arranging.shown.peek(), group, { ...group, name }));
    fault.value = checked.ok ? "" : checked.message;
    if (checked.ok) arranging.change(checked.value);
  };
  return (
    <div class="entry-fields stack">
      <TextField
        label="Name"
        value={group.name}
        fault={fault.value}
        onChange={(event) => rename(event.currentTarget.value.trim())}
      />
    </div>
  );
}
