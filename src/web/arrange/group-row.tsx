/** One group box of the arrangement in its list: what it is around, and the field for its name. */
import { type Signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { GroupBox } from "../../model/map-view.ts";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { selectedDevice } from "./arrange-keys.ts";
import { replaceGroup } from "./arrangement.ts";
import { checkArrangement } from "./checked-view.ts";

interface GroupRowProps {
  readonly group: GroupBox;
  /** Names the group of an arrangement. */
  readonly id: string;
  /** The id of the group whose name is edited. */
  readonly edited: Signal<string | undefined>;
}

export function GroupRow({ group, id, edited }: GroupRowProps) {
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
    // The groups after it get other ids.
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
  const id = useId();
  const fault = useSignal("");
  const rename = (name: string) => {
    const checked = checkArrangement(replaceGroup(arranging.shown.peek(), group, { ...group, name }));
    fault.value = checked.ok ? "" : checked.message;
    if (checked.ok) arranging.change(checked.value);
  };
  return (
    <div class="entry-fields stack">
      <label for={id}>Name</label>
      <input
        id={id}
        type="text"
        maxLength={100}
        value={group.name}
        onChange={({ currentTarget }) => rename(currentTarget.value.trim())}
      />
      {fault.value !== "" && (
        <p class="error-text" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}
