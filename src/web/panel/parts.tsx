/** Components that the parts of the panel share: headings, facts, badges, links, notes, and content loaded on demand. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Annotations, Device, Drift, Host, Link } from "../../model/entity.ts";
import { DRIFT_TITLES } from "../data/drift-list.ts";
import type { HostSelection } from "../data/hosts.ts";
import { reasonOf } from "../data/pacing.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, StateLink } from "../elements/controls.tsx";
import { formatFullTime, formatShortTime } from "../elements/format-time.ts";

/** A link that selects an entity. */
export function EntityLink({ to, children }: { readonly to: EntityRef; readonly children: string }) {
  const { pick } = useStore();
  return (
    <StateLink class="entity-link" to={{ selected: to }} onFollow={() => pick(to)}>
      {children}
    </StateLink>
  );
}

interface HeadingProps {
  readonly title: string;
  /** The name of the button that closes this part. */
  readonly closeLabel: string;
  readonly onClose: () => void;
  /** Other buttons at the right. */
  readonly children?: ComponentChildren;
}

export function PanelHeading({ title, closeLabel, onClose, children }: HeadingProps) {
  return (
    <header class="panel-head">
      <h2>{title}</h2>
      <span class="panel-buttons">
        {children}
        <Button label={closeLabel} icon="close" onClick={onClose} />
      </span>
    </header>
  );
}

interface RestProps {
  /** The number of items that a list leaves out; may be 0 or less. */
  readonly count: number;
  readonly note?: string;
}

export function Rest({ count, note = "" }: RestProps) {
  return count > 0 ? <p class="muted">{`and ${formatCount(count, "other")}${note}`}</p> : null;
}

export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

type Fact = readonly [name: string, value: ComponentChildren];

/** Leaves out facts that are empty or unknown. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const known = facts.filter(
    ([, value]) => value !== undefined && value !== false && value !== "" && value !== "unknown",
  );
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

type CommonFields = Pick<
  Device | Link | Host,
  "sources" | "firstSeen" | "lastChanged" | "drift" | "annotations"
>;

const SHOWN_ELSEWHERE = ["name", "conflict", "managementAddress", "channelId", "protocol"];

/** The facts that all kinds of entities have. A missing entity was never seen. */
export function commonFacts({ sources, firstSeen, lastChanged, drift, annotations }: CommonFields): Fact[] {
  return [
    ["Sources", sources.join(", ")],
    ["First seen", drift?.state !== "missing" && <Time timestamp={firstSeen} />],
    ["Last change", <Time key="last" timestamp={lastChanged} />],
    ...Object.entries(annotations ?? {}).filter(([name]) => !SHOWN_ELSEWHERE.includes(name)),
  ];
}

interface BadgeProps {
  readonly tone?: "good" | "bad" | "doubt" | "cut-off" | "plain";
  readonly children: ComponentChildren;
}

export function Badge({ tone = "plain", children }: BadgeProps) {
  return <span class={`state ${tone}`}>{children}</span>;
}

export function ConflictNote({ annotations }: { readonly annotations: Annotations | undefined }) {
  const conflict = annotations?.conflict;
  return conflict ? <p class="note doubt">{`Contradictory reports: ${conflict}`}</p> : null;
}

/** `timestamp` is RFC 3339. */
export function Time({ timestamp }: { readonly timestamp: string }) {
  const ms = Date.parse(timestamp);
  return (
    <time dateTime={timestamp} title={formatFullTime(ms)}>
      {formatShortTime(ms)}
    </time>
  );
}

export function joinNonEmpty(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part).join(separator);
}

/** Formats any value of a claim as a short text: a text unchanged, a list with commas, a connect point as `device/port`. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  if (value === null || typeof value !== "object") return String(value);
  const fields = Object.entries(value);
  const end = Object.fromEntries(fields);
  const device = end.device ?? end.elementId;
  if (fields.length === 2 && device !== undefined && end.port !== undefined) return `${device}/${end.port}`;
  return fields.map(([name, field]) => `${name}: ${formatValue(field)}`).join(", ");
}

interface LoadedProps<T> {
  /** The version, compared by identity: another object is another version, even with the same content. */
  readonly version: string | object | undefined;
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly children: (value: T) => ComponentChildren;
}

type Result<T> = { readonly value: T } | { readonly error: string } | undefined;

/**
 * Content that is loaded on demand. It loads again when `version` changes and shows the previous value until the new one
 * has arrived, so that the panel does not jump. Set `key` to the subject, so that another subject starts empty.
 */
export function Loaded<T>({ version, load, children }: LoadedProps<T>) {
  const result = useSignal<Result<T>>(undefined);
  useEffect(() => {
    const request = new AbortController();
    load(request.signal).then(
      (value) => {
        if (!request.signal.aborted) result.value = { value };
      },
      (error: unknown) => {
        if (!request.signal.aborted) result.value = { error: `Not available: ${reasonOf(error)}` };
      },
    );
    return () => request.abort();
  }, [version]);
  const current = result.value;
  return (
    <div class="lazy">
      {current && "value" in current ? (
        children(current.value)
      ) : (
        <p class="muted">{current?.error ?? "Loading…"}</p>
      )}
    </div>
  );
}

/** The note why opened hosts are not loaded: the service refused them, for example for a moment that it no longer has. */
export function HostsFault({ group }: { readonly group: HostSelection }) {
  const fault = useNetwork()?.openedHosts.faultOf(group.key);
  return fault === undefined ? null : <p class="note bad">{`Hosts are not shown: ${fault}`}</p>;
}

export function TableHead({ titles }: { readonly titles: readonly string[] }) {
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const MEANINGS: Readonly<Record<Drift["state"], string>> = {
  missing: "The plan has it, and no source reports it.",
  unplanned: "A source reports it, and the plan does not have it.",
  differs: "It is reported with other values than planned.",
};

/** The drift of an entity from the plan: the state, its start, and the planned and reported values of each field. */
export function DriftNote({ drift }: { readonly drift: Drift | undefined }) {
  if (!drift) return null;
  const fields = Object.entries(drift.fields ?? {});
  return (
    <div class={`note drift ${drift.state}`}>
      <p>
        <strong>{DRIFT_TITLES[drift.state]}</strong>
        {" since "}
        <Time timestamp={drift.since} />
        {`. ${MEANINGS[drift.state]}`}
      </p>
      {fields.length > 0 && (
        <table class="ports">
          <TableHead titles={["Field", "Planned", "Reported"]} />
          <tbody>
            {fields.map(([name, { intended, observed }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatValue(intended)}</td>
                <td>{observed === undefined ? "none" : formatValue(observed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
