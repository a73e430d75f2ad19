/** The group boxes of the arrangement: one for each value of an annotation, or one around devices that the user chooses. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { GroupBox } from "../../model/map-view.ts";
import { Button } from "../button.tsx";
import { deviceNameById, formatCount } from "../names.ts";
import type { Network } from "../network.ts";
import { useNetwork, useStore } from "../store.ts";
import { selectedDevice } from "./arrange-keys.ts";
import { ArrangeSection } from "./arrange-section.tsx";
import { addGroup, replaceGroup } from "./arrangement.ts";
import { checkArrangement } from "./checked-view.ts";

const PINNED = "pinned";
const SELECTED = "selected";
const ANNOTATION = "annotation ";
/** Annotations of more devices than these are not looked at: the choice is drawn with each change of the network. */
const MAX_EXAMINED = 2000;
const NO_GROUPS = ["name", "managementAddress", "latitude", "longitude", "x", "y", "channelId", "conflict"];

export function GroupSection() {
  const store = useStore();
  const groups = store.arranging.shown.value.groups ?? [];
  return (
    <ArrangeSection title="Group boxes" isUsed={groups.length > 0}>
      <ul class="entries">
        {groups.map((group, i) => (
          <GroupRow key={i} group={group} />
        ))}
      </ul>
      <NewGroup />
    </ArrangeSection>
  );
}

function GroupRow({ group }: { readonly group: GroupBox }) {
  const store = useStore();
  const { arranging } = store;
  const network = useNetwork();
  const replace = (next: GroupBox | undefined) =>
    arranging.change(replaceGroup(arranging.shown.peek(), group, next));
  const { devices, annotation } = group;
  const device = selectedDevice(store);
  const others = devices?.filter((id) => id !== device) ?? [];
  const isIn = device !== undefined && devices?.includes(device);
  const name = device !== undefined && network ? deviceNameById(network, device) : "";
  const content =
    annotation !== undefined
      ? `by ${annotation}`
      : devices
        ? formatCount(devices.length, "device")
        : "by place";
  return (
    <li class="entry">
      <span>
        {group.name} <span class="muted">{content}</span>
      </span>
      {devices && device !== undefined && (!isIn || others.length > 0) && (
        <Button
          label={isIn ? `Remove ${name}` : `Add ${name}`}
          onClick={() => replace({ ...group, devices: isIn ? others : [...others, device] })}
        />
      )}
      <Button label={`Delete the box ${group.name}`} icon="close" onClick={() => replace(undefined)} />
    </li>
  );
}

function NewGroup() {
  const store = useStore();
  const { arranging } = store;
  const network = useNetwork();
  const [titleId, kindId] = [useId(), useId()];
  const title = useSignal("");
  const kind = useSignal("");
  const fault = useSignal("");
  const device = selectedDevice(store);
  const pins = arranging.shown.value.pins ?? [];
  const choices: (readonly [value: string, text: string])[] = [
    ...annotationNames(network).map((name) => [ANNOTATION + name, `each value of ${name}`] as const),
  ];
  if (pins.length > 0) choices.push([PINNED, `the ${formatCount(pins.length, "pinned device")}`]);
  if (device !== undefined && network)
    choices.push([SELECTED, `the selected device, ${deviceNameById(network, device)}`]);
  const chosen = choices.some(([value]) => value === kind.value) ? kind.value : (choices[0]?.[0] ?? "");
  const add = () => {
    const annotation = chosen.startsWith(ANNOTATION) ? chosen.slice(ANNOTATION.length) : undefined;
    const name = title.value.trim() || (annotation ?? "Group");
    const members = chosen === PINNED ? pins.map((pin) => pin.device) : device === undefined ? [] : [device];
    const group: GroupBox = annotation !== undefined ? { name, annotation } : { name, devices: members };
    const checked = checkArrangement(addGroup(arranging.shown.peek(), group));
    fault.value = checked.ok ? "" : checked.message;
    if (!checked.ok) return;
    arranging.change(checked.value);
    title.value = "";
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <label for={kindId}>Box around</label>
      <select
        id={kindId}
        value={chosen}
        onChange={(event) => {
          kind.value = event.currentTarget.value;
        }}
      >
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <label for={titleId}>Title</label>
      <input
        id={titleId}
        type="text"
        maxLength={100}
        value={title.value}
        onInput={(event) => {
          title.value = event.currentTarget.value;
        }}
      />
      {fault.value !== "" && <p class="error-text">{fault.value}</p>}
      <button type="submit" class="text-button" disabled={chosen === ""}>
        Add the box
      </button>
    </form>
  );
}

/** Those that put devices together: not every device has a value of its own. */
function annotationNames(network: Network | undefined): string[] {
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
