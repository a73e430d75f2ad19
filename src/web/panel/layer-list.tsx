/** The list of entities that the layer of the map marks: drift with the newest first, or contradictory reports. */

import { useMemo } from "preact/hooks";
import { cableId } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Annotations } from "../../model/entity.ts";
import { DRIFT_TITLES, type DriftEntity, type DriftList, summarizeDrift } from "../data/drift-list.ts";
import { CONFLICTING_HOSTS } from "../data/hosts.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { deviceNameById, entityName, formatType, hostName, NOUNS } from "../data/shown-names.ts";
import type { EntityRef, MarkLayer } from "../data/view-state.ts";
import { Badge, EntityLink, HostsFault, Rest, Time } from "./parts.tsx";

const MAX_SHOWN = 200;

export function LayerList({ layer }: { readonly layer: MarkLayer }) {
  const { drift } = useStore();
  const network = usePlannedNetwork();
  if (!network) return null;
  if (layer === "conflicts") return <Conflicts network={network} />;
  if (!drift.value) return <p class="muted">Loading…</p>;
  if (drift.value.error !== undefined) return <p class="note bad">{drift.value.error}</p>;
  return <DriftItems list={drift.value} network={network} />;
}

function DriftItems({ list, network }: { readonly list: DriftList; readonly network: PageNetwork }) {
  // The list is sorted once, and not with each change of the network.
  const { items, summary } = useMemo(() => {
    const items = newestFirst(list);
    return { items, summary: summarizeDrift(items.map(([, entity]) => entity)) };
  }, [list]);
  if (items.length === 0) {
    return (
      <p class="muted">
        Nothing differs from the plan. The plan is what the sources with the role “intended” report; without
        one, or before every source has reported once, nothing is compared.
      </p>
    );
  }
  return (
    <div>
      <p role="status">{summary}</p>
      <ol class="layer-list">
        {items.slice(0, MAX_SHOWN).map(([key, entity]) => (
          <li key={key}>
            <DriftItem entity={entity} network={network} />
          </li>
        ))}
      </ol>
      <Rest count={items.length - MAX_SHOWN} note="; the tables have all" />
    </div>
  );
}

/**
 * Both directions of a cable are one item if they have the same state. Times are compared as texts, which is correct
 * because they have the same form and length.
 */
function newestFirst(list: DriftList): [string, DriftEntity][] {
  const items = new Map<string, DriftEntity>();
  for (const [key, entity] of list.entities) {
    const item = entity.resource === "links" ? `${cableId(entity.value)} ${entity.drift.state}` : key;
    if (!items.has(item)) items.set(item, entity);
  }
  return [...items].sort(([a, { drift: p }], [b, { drift: q }]) =>
    p.since === q.since ? (a < b ? -1 : 1) : p.since < q.since ? 1 : -1,
  );
}

function DriftItem({ entity, network }: { readonly entity: DriftEntity; readonly network: PageNetwork }) {
  const { drift } = entity;
  const { to, title } = describe(entity, network);
  const fields = Object.keys(drift.fields ?? {}).join(", ");
  return (
    <>
      <span class={`state drift ${drift.state}`}>{DRIFT_TITLES[drift.state]}</span>
      <span>
        {`${formatType(NOUNS[entity.resource])} `}
        <EntityLink to={to}>{title}</EntityLink>
        {fields !== "" && <span class="muted">{` ${fields}`}</span>}
      </span>
      <Time timestamp={drift.since} />
    </>
  );
}

/** The target and title of an item. The target of a port is its device. */
function describe(entity: DriftEntity, network: PageNetwork): { to: EntityRef; title: string } {
  if (entity.resource === "ports") {
    const { element, port } = entity.value;
    return { to: { kind: "devices", id: element }, title: `${deviceNameById(network, element)}/${port}` };
  }
  const to: EntityRef = { kind: entity.resource, id: entity.value.id };
  // The name comes from the item, because the host may not be loaded in the network.
  const title = entity.resource === "hosts" ? hostName(entity.value) : entityName(network, to);
  return { to, title };
}

function Conflicts({ network }: { readonly network: PageNetwork }) {
  // Both directions of a cable are one item.
  const cables = new Map(
    [...network.links.values()].filter(hasConflict).map((link) => [cableId(link), link]),
  );
  const items = [
    ...conflictsOf("devices", network.devices.values()),
    ...conflictsOf("links", cables.values()),
    ...conflictsOf("hosts", network.hosts.values()),
  ];
  const fault = <HostsFault group={CONFLICTING_HOSTS} />;
  if (items.length === 0) {
    return (
      <div>
        {fault}
        <p class="muted">No reports contradict each other.</p>
      </div>
    );
  }
  return (
    <div>
      {fault}
      <p role="status">{`${items.length} with contradictory reports`}</p>
      <ol class="layer-list">
        {items.slice(0, MAX_SHOWN).map(({ to, text }) => (
          <li key={`${to.kind} ${to.id}`}>
            <Badge tone="doubt">{formatType(NOUNS[to.kind])}</Badge>
            <span>
              <EntityLink to={to}>{entityName(network, to)}</EntityLink>
              {` ${text}`}
            </span>
          </li>
        ))}
      </ol>
      <Rest count={items.length - MAX_SHOWN} note="; the tables have all" />
    </div>
  );
}

interface ConflictItem {
  readonly to: EntityRef;
  readonly text: string;
}

type Flagged = Iterable<{ readonly id: string; readonly annotations?: Annotations }>;

function conflictsOf(kind: EntityRef["kind"], entities: Flagged): ConflictItem[] {
  const items: ConflictItem[] = [];
  for (const entity of entities)
    if (hasConflict(entity))
      items.push({ to: { kind, id: entity.id }, text: entity.annotations?.conflict ?? "" });
  return items;
}
