/** One group box of the arrangement in its list: what it is around, and the fields in which it is changed. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type GroupBox, placeOf } from "../../model/map-view.ts";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { selectedDevice } from "./arrange-keys.ts";
import { replaceGroup } from "./arrangement.ts";
import { checkArrangement } from "./checked-view.ts";
import { PlaceFields } from "./place-fields.tsx";

interface GroupProps {
  readonly group: GroupBox;
  /** Its place in the list. */
  readonly index: number;
}

export function GroupRow({ group, index }: GroupProps) {
  const store = useStore();
  const { arranging } = store;
  const { edited } = arranging.boxes;
  const network = useNetwork();
  const replace = (next: GroupBox | undefined) =>
    arranging.change(replaceGroup(arranging.shown.peek(), group, next));
  const { devices } = group;
  const device = selectedDevice(store);
  const others = devices?.filter((id) => id !== device) ?? [];
  const isIn = device !== undefined && devices?.includes(device);
  const name = device !== undefined && network ? deviceNameById(network, device) : "";
  const isEdited = edited.value?.index === index;
  const toggleFields = () => {
    edited.value = isEdited ? undefined : { index, takesFocus: false };
  };
  const remove = () => {
    // The boxes after it get other places in the list.
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
      {isEdited && <GroupFields group={group} index={index} />}
    </li>
  );
}

function contentText({ annotation, devices }: GroupBox): string {
  if (annotation !== undefined) return `by ${annotation}`;
  return devices ? formatCount(devices.length, "device") : "by place";
}

function GroupFields({ group, index }: GroupProps) {
  const { arranging } = useStore();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const fault = useSignal("");
  const place = placeOf(group);
  useEffect(() => {
    if (!arranging.boxes.edited.peek()?.takesFocus) return;
    input.current?.focus();
    input.current?.select();
  }, []);
  const set = (next: GroupBox, step: string) => {
    const checked = checkArrangement(replaceGroup(arranging.shown.peek(), group, next));
    fault.value = checked.ok ? "" : checked.message;
    if (checked.ok) arranging.change(checked.value, `box ${index} ${step}`);
  };
  return (
    <div class="entry-fields stack">
      <label for={id}>Name</label>
      <input
        id={id}
        ref={input}
        type="text"
        maxLength={100}
        value={group.name}
        onChange={({ currentTarget }) => set({ ...group, name: currentTarget.value.trim() }, "name")}
      />
      {place && (
        <PlaceFields
          label={`Place of ${group.name}`}
          place={place}
          set={(next, step) => set({ ...group, ...next }, step)}
        />
      )}
      {fault.value !== "" && (
        <p class="error-text" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}
