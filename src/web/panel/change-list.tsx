/** Lists of changes: the recent ones, those between two moments, and those of one entity. */
import { type ChangeText, describeChange, type EntityChange } from "../change-text.ts";
import { formatShortTime, toTimestamp } from "../format-time.ts";
import type { Comparison } from "../history.ts";
import { formatCount } from "../names.ts";
import type { Network } from "../network.ts";
import { useNetwork, useStore } from "../store.ts";
import { EntityLink } from "./elements.tsx";

const MAX_SHOWN = 200;

export function RecentChanges() {
  const changes = useStore().recentChanges.value;
  const network = useNetwork();
  if (changes.length === 0 || !network)
    return <p class="muted">Nothing has changed since this page was opened.</p>;
  const items = distinctItems(network, changes, MAX_SHOWN);
  return <ChangeItems items={items} class="history changes" />;
}

export function ComparisonList({ comparison }: { readonly comparison: Comparison }) {
  const { network, differences } = comparison;
  if (differences.length === 0) return <p class="muted">Nothing differs between these two moments.</p>;
  const items = distinctItems(network, differences);
  const count = (event: string) => differences.filter((change) => change.event === event).length;
  const rest = items.length - MAX_SHOWN;
  return (
    <div>
      <p>{`${count("added")} added, ${count("removed")} removed, ${count("updated")} changed`}</p>
      <ChangeItems items={items.slice(0, MAX_SHOWN)} class="history" />
      {rest > 0 && <p class="muted">{`and ${formatCount(rest, "other")}`}</p>}
    </div>
  );
}

export function EntityChanges({ changes }: { readonly changes: readonly TimedChange[] }) {
  const network = useNetwork();
  if (!network) return null;
  const items = changes.map((change) => toItem(network, change));
  return <ChangeItems items={items} class="history" titles={false} />;
}

type TimedChange = EntityChange & { readonly revision?: number; readonly time?: number };

interface ChangeItem {
  readonly key: string;
  readonly change: ChangeText;
  readonly timeMs: number | undefined;
}

function toItem(network: Network, change: TimedChange): ChangeItem {
  const text = describeChange(network, change);
  return { key: `${change.revision} ${text.subject} ${text.text}`, change: text, timeMs: change.time };
}

/** Both directions of a cable in one revision are one item. */
function distinctItems(network: Network, changes: readonly TimedChange[], limit?: number): ChangeItem[] {
  const items = new Map<string, ChangeItem>();
  for (const change of changes) {
    const item = toItem(network, change);
    if (!items.has(item.key)) items.set(item.key, item);
    if (items.size === limit) break;
  }
  return [...items.values()];
}

interface ChangeItemsProps {
  readonly items: readonly ChangeItem[];
  readonly class: string;
  /** Whether each item names its entity. */
  readonly titles?: boolean;
}

function ChangeItems({ items, class: name, titles = true }: ChangeItemsProps) {
  return (
    <ol class={name}>
      {items.map(({ key, change: { ref, title, text, tone, sign }, timeMs }) => (
        <li key={key} class={tone}>
          <span class="sign" aria-hidden="true">
            {sign}
          </span>
          <span>
            {titles && <EntityLink to={ref}>{title}</EntityLink>}
            {titles ? ` ${text}` : text}
          </span>
          {timeMs !== undefined && <TimeButton timeMs={timeMs} />}
        </li>
      ))}
    </ol>
  );
}

function TimeButton({ timeMs }: { readonly timeMs: number }) {
  const { go } = useStore();
  // A timestamp in an address has whole seconds: the next one includes the change.
  const show = () => go({ at: toTimestamp(timeMs + 999) });
  return (
    <button type="button" class="when" title="See the network then" onClick={show}>
      {formatShortTime(timeMs)}
    </button>
  );
}
