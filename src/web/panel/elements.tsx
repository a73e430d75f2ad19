/** What the parts of the panel are made of: headings, facts, badges, and links to entities. */
import type { ComponentChildren } from "preact";
import type { Annotations } from "../../model/entity.ts";
import { useStore } from "../data/page-store.ts";
import { type EntityRef, formatState } from "../data/view-state.ts";
import { formatFullTime, formatShortTime } from "../elements/format-time.ts";

/** Selects an entity. It is a real link, so that the entity can be opened in another window. */
export function EntityLink({ to, children }: { readonly to: EntityRef; readonly children: string }) {
  const { state, pick } = useStore();
  return (
    <a
      class="entity-link"
      href={formatState({ ...state.value, selected: to })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        pick(to);
      }}
    >
      {children}
    </a>
  );
}

interface HeadingProps {
  readonly title: string;
  /** The buttons at the right. */
  readonly children: ComponentChildren;
}

export function PanelHeading({ title, children }: HeadingProps) {
  return (
    <header class="panel-head">
      <h2>{title}</h2>
      <span class="panel-buttons">{children}</span>
    </header>
  );
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

export type Fact = readonly [name: string, value: ComponentChildren];

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

const SHOWN_ELSEWHERE = ["name", "conflict", "managementAddress", "channelId", "protocol"];

export function annotationFacts(annotations: Annotations | undefined): Fact[] {
  return Object.entries(annotations ?? {}).filter(([name]) => !SHOWN_ELSEWHERE.includes(name));
}

interface BadgeProps {
  readonly tone?: "good" | "bad" | "doubt" | "plain";
  readonly children: ComponentChildren;
}

export function Badge({ tone = "plain", children }: BadgeProps) {
  return <span class={`state ${tone}`}>{children}</span>;
}

export function ConflictNote({ annotations }: { readonly annotations: Annotations | undefined }) {
  const conflict = annotations?.conflict;
  return conflict ? <p class="note doubt">{`Conflicting claims: ${conflict}`}</p> : null;
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
