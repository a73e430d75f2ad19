/** The comparison of two moments: which they are, and what differs, in groups by kind and by what happened to it. */
import { useMemo } from "preact/hooks";
import { formatCount } from "../data/entity-names.ts";
import type { Comparison, NetworkDifference } from "../data/load-network.ts";
import type { Network } from "../data/loaded-network.ts";
import { useStore } from "../data/page-store.ts";
import { type ChangeText, describeChange } from "../data/recent-changes.ts";
import { Button } from "../elements/button.tsx";
import { formatFullTime } from "../elements/format-time.ts";
import { EntityLink, PanelHeading } from "./elements.tsx";
import { formatValue } from "./format-value.ts";
import { MomentField } from "./moment-field.tsx";

/** Of one group. */
const MAX_SHOWN = 200;
/** They follow from other fields. */
const DERIVED_FIELDS = ["lastUpdate", "humanReadableLastUpdate", "location"];

export function ComparisonPanel({ comparison }: { readonly comparison: Comparison | undefined }) {
  const { state, go, loading, problem } = useStore();
  const { at, compare } = state.value;
  return (
    <section class="comparison" aria-label="Comparison">
      <PanelHeading title="Comparison">
        <Button label="Close comparison" icon="close" onClick={() => go({ compare: undefined })} />
      </PanelHeading>
      <div class="moments">
        <MomentField label="From" moment={compare} onChange={(moment) => go({ compare: moment })} />
        <MomentField label="To" moment={at} isNowAllowed onChange={(moment) => go({ at: moment })} />
      </div>
      {problem.value !== undefined && <p class="note bad">{problem.value}</p>}
      {comparison && <Differences comparison={comparison} />}
      {!comparison && loading.value && <p class="muted">Loading…</p>}
    </section>
  );
}

function Differences({ comparison }: { readonly comparison: Comparison }) {
  const { network, differences, from, to } = comparison;
  const groups = useMemo(() => groupDifferences(network, differences), [comparison]);
  const count = (event: string) =>
    groups.reduce((sum, group) => sum + (group.event === event ? group.items.length : 0), 0);
  return (
    <div>
      <p class="muted">
        {`Revision ${from.revision} of ${formatFullTime(from.time)} to revision ${to.revision} of ${formatFullTime(to.time)}`}
      </p>
      <p role="status">
        {groups.length === 0
          ? "Nothing differs between these two moments."
          : `${count("added")} added, ${count("removed")} removed, ${count("updated")} changed`}
      </p>
      {groups.map(({ title, items }) => (
        <details key={title} open>
          <summary>{title}</summary>
          <ol class="history">
            {items.slice(0, MAX_SHOWN).map((item) => (
              <DifferenceItem key={item.key} item={item} />
            ))}
          </ol>
          {items.length > MAX_SHOWN && (
            <p class="muted">{`and ${formatCount(items.length - MAX_SHOWN, "other")}`}</p>
          )}
        </details>
      ))}
    </div>
  );
}

interface Item {
  readonly key: string;
  readonly text: ChangeText;
  readonly fields: readonly FieldChange[];
}

interface FieldChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

interface Group {
  readonly event: NetworkDifference["event"];
  readonly title: string;
  readonly items: readonly Item[];
}

const NOUNS = { devices: "device", links: "link", hosts: "host" } as const;
const EVENTS = { removed: "removed", added: "added", updated: "changed" } as const;

/** Devices before links before hosts, and what is gone first. Both directions of a cable are one item. */
function groupDifferences(network: Network, differences: readonly NetworkDifference[]): Group[] {
  const groups = new Map<string, Map<string, Item>>();
  for (const difference of differences) {
    const text = describeChange(network, difference);
    const key = `${difference.resource} ${difference.event}`;
    const items = groups.get(key) ?? new Map<string, Item>();
    groups.set(key, items);
    const itemKey = `${text.subject} ${text.text}`;
    if (!items.has(itemKey)) items.set(itemKey, { key: itemKey, text, fields: fieldChanges(difference) });
  }
  return (["devices", "links", "hosts"] as const).flatMap((resource) =>
    (["removed", "added", "updated"] as const).flatMap((event) => {
      const items = [...(groups.get(`${resource} ${event}`)?.values() ?? [])];
      const title = `${formatCount(items.length, NOUNS[resource])} ${EVENTS[event]}`;
      return items.length === 0 ? [] : [{ event, title, items }];
    }),
  );
}

function fieldChanges(difference: NetworkDifference): FieldChange[] {
  if (difference.event !== "updated") return [];
  const before = new Map<string, unknown>(Object.entries(difference.before));
  const after = new Map<string, unknown>(Object.entries(difference.value));
  const text = (value: unknown) => (value === undefined || value === "" ? "none" : formatValue(value));
  return difference.changed
    .filter((name) => !DERIVED_FIELDS.includes(name))
    .map((name) => ({ name, before: text(before.get(name)), after: text(after.get(name)) }));
}

function DifferenceItem({ item: { text, fields } }: { readonly item: Item }) {
  return (
    <li class={text.tone}>
      <span class="sign" aria-hidden="true">
        {text.sign}
      </span>
      <span>
        <EntityLink to={text.ref}>{text.title}</EntityLink>
        {` ${text.text}`}
        {fields.length > 0 && (
          <ul class="field-changes">
            {fields.map(({ name, before, after }) => (
              <li key={name}>
                {`${name}: `}
                <del>{before}</del>
                {" → "}
                <ins>{after}</ins>
              </li>
            ))}
          </ul>
        )}
      </span>
    </li>
  );
}
