/** The comparison of two moments: fields for the moments, and the differences in groups by kind and by type of change. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type ChangeText, describeChange } from "../data/change-groups.ts";
import type { Comparison, NetworkDifference } from "../data/load-network.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { useStore } from "../data/page-store.ts";
import { formatCount, NOUNS } from "../data/shown-names.ts";
import { isRevision } from "../data/view-state.ts";
import { TextField } from "../elements/controls.tsx";
import { formatFullTime, formatTyped } from "../elements/format-time.ts";
import { ChangeLine } from "./change-list.tsx";
import { formatValue, PanelHeading, Rest } from "./parts.tsx";

/** Maximum number of differences of one group that are listed. */
const MAX_SHOWN = 200;
/** Fields that follow from other fields. */
const DERIVED_FIELDS = ["lastUpdate", "humanReadableLastUpdate", "location"];

export function ComparisonPanel({ comparison }: { readonly comparison: Comparison | undefined }) {
  const { state, go, loading, problem } = useStore();
  const { at, compare } = state.value;
  return (
    <section class="comparison" aria-label="Comparison">
      <PanelHeading
        title="Comparison"
        closeLabel="Close comparison"
        onClose={() => go({ compare: undefined })}
      />
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
          <Rest count={items.length - MAX_SHOWN} />
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

const EVENTS = { removed: "removed", added: "added", updated: "changed" } as const;

/** The groups are ordered: devices, links, hosts; within each, removed ones first. Both directions of a cable are one item. */
function groupDifferences(network: PageNetwork, differences: readonly NetworkDifference[]): Group[] {
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
    <ChangeLine change={text}>
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
    </ChangeLine>
  );
}

interface MomentFieldProps {
  readonly label: string;
  /** The moment in the form of the address; undefined is now. */
  readonly moment: string | undefined;
  readonly isNowAllowed?: boolean;
  readonly onChange: (moment: string | undefined) => void;
}

/** A text field for a moment: a time or a revision. Invalid text is refused with a message that has examples. */
function MomentField({ label, moment, isNowAllowed = false, onChange }: MomentFieldProps) {
  const fault = useSignal("");
  /** The typed text until it is applied, so that rendering does not replace it. */
  const typed = useSignal<string | undefined>(undefined);
  useEffect(() => {
    typed.value = undefined;
    fault.value = "";
  }, [moment]);
  const apply = () => {
    if (typed.value === undefined) return;
    const parsed = parseTypedMoment(typed.value);
    if (!parsed.ok) fault.value = parsed.fault;
    else if (parsed.at === undefined && !isNowAllowed)
      fault.value = "Now can only be compared with an earlier moment: write it in the other field.";
    else {
      fault.value = "";
      typed.value = undefined;
      onChange(parsed.at);
    }
  };
  return (
    <div class="moment-field">
      <TextField
        label={label}
        fault={fault.value}
        spellcheck={false}
        value={typed.value ?? typedText(moment)}
        title="A time, a day and a time, or a revision"
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => event.key === "Enter" && apply()}
        onBlur={apply}
      />
    </div>
  );
}

function typedText(moment: string | undefined): string {
  if (moment === undefined) return "now";
  return isRevision(moment) ? moment : formatTyped(Date.parse(moment));
}

/** The result of parsing a typed moment: a revision, a time of the day, a day, or a day and a time. */
type TypedMoment =
  /** `at` is a moment for the address; undefined is now. */
  { readonly ok: true; readonly at: string | undefined } | { readonly ok: false; readonly fault: string };

const TIME_OF_DAY = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const DAY_AND_TIME = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,3})?)?( ?(Z|[+-]\d\d:\d\d))?)?$/i;

export function parseTypedMoment(typed: string, now = new Date()): TypedMoment {
  const text = typed.trim();
  if (text === "" || text.toLowerCase() === "now") return { ok: true, at: undefined };
  if (/^\d{1,15}$/.test(text)) return { ok: true, at: text };
  const ms = TIME_OF_DAY.test(text) ? lastTimeOfDay(text, now) : parseDayAndTime(text);
  if (ms === undefined || Number.isNaN(ms)) {
    const fault = `“${text}” is no moment. Write a time (14:05), a day and a time (2026-11-16 14:05:30), or a revision (17).`;
    return { ok: false, fault };
  }
  return { ok: true, at: new Date(ms).toISOString().replace(".000Z", "Z") };
}

/** The last moment before now with this time of the day, in the time zone of the reader. */
function lastTimeOfDay(text: string, now: Date): number | undefined {
  const [, hours, minutes, seconds = "0"] = TIME_OF_DAY.exec(text) ?? [];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(now);
  date.setHours(hour, minute, second, 0);
  if (date > now) date.setDate(date.getDate() - 1);
  return date.getTime();
}

/** Parses a day and a time. A text without a time zone is in that of the reader. */
function parseDayAndTime(text: string): number | undefined {
  if (!DAY_AND_TIME.test(text)) return undefined;
  const [day = "", ...rest] = text.toUpperCase().split(/[ T]/);
  return Date.parse(`${day}T${rest.join("") || "00:00"}`);
}
