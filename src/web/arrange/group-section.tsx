/**
 * The group boxes of the arrangement, and the ways to add one: for each value of an annotation, or around devices that the
 * user chooses.
 */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import type { Network } from "../data/loaded-network.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { selectedDevice } from "./arrange-keys.ts";
import { ArrangeSection } from "./arrange-section.tsx";
import { addGroup } from "./arrangement.ts";
import { checkArrangement } from "./checked-view.ts";
import { GroupRow } from "./group-row.tsx";

const DEFAULT_NAME = "Group";
const PINNED = "pinned";
const SELECTED = "selected";
const ANNOTATION = "annotation ";
/** Annotations of more devices than these are not looked at: the choice is drawn with each change of the network. */
const MAX_EXAMINED = 2000;
const NO_GROUPS = ["name", "managementAddress", "latitude", "longitude", "x", "y", "channelId", "conflict"];

export function GroupSection() {
  const store = useStore();
  const groups = store.arranging.shown.value.groups ?? [];
  const arrangementKey = store.arranging.key.value;
  const edited = useSignal<string | undefined>(undefined);
  return (
    <ArrangeSection title="Group boxes" isUsed={groups.length > 0}>
      <ul class="entries">
        {groups.map((group, i) => {
          const id = `${i} ${arrangementKey}`;
          return <GroupRow key={id} id={id} group={group} edited={edited} />;
        })}
      </ul>
      <NewGroup />
    </ArrangeSection>
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
    const members = chosen === PINNED ? pins.map((pin) => pin.device) : device === undefined ? [] : [device];
    const content = annotation === undefined ? { devices: members } : { annotation };
    const name = title.peek().trim() || (annotation ?? DEFAULT_NAME);
    const checked = checkArrangement(addGroup(arranging.shown.peek(), { name, ...content }));
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
