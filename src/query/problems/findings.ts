/**
 * Finds what is wrong in one state of the network, without what it cuts off. Of a cable there is one finding, also where both
 * of its links have it. Where an index exists, only what it holds is read; a state of the past is scanned.
 */
import { collectPaced, mapPaced, type Paced, type Steps } from "../../lib/steps.ts";
import { cableId, reverseLinkId } from "../../model/cable.ts";
import { hasConflict } from "../../model/conflict.ts";
import { DRIFT_STATES, type Entities, entityId, type Link } from "../../model/entity.ts";
import { KINDS, type Kind, portId } from "../../model/ids.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { ProblemKind, ProblemResource } from "../../model/problem-kinds.ts";
import { MergeRules } from "../../view/merge-rules.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import { conflictFilter, driftFilter, type Filter, ONE_SIDED, ScalarFilter } from "../filter.ts";
import { select } from "../select.ts";
import type { LostLink, ProblemWindows, RecentChanges } from "./recent-changes.ts";
import type { Condition, SinceFinder } from "./since.ts";

/** A problem without what follows from all of them together. */
export type Finding = Omit<NetworkProblem, "severity" | "cutOff">;

const UNAVAILABLE = new ScalarFilter("devices", "available", [false]);
const INACTIVE = new ScalarFilter("links", "state", ["INACTIVE"]);
const CONFLICT = conflictFilter(true);
const DRIFT = driftFilter(DRIFT_STATES);

const IS_INACTIVE: Condition<"links"> = {
  name: "inactive",
  kind: "links",
  holds: ({ state }) => state === "INACTIVE",
};
const IS_ONE_SIDED: Condition<"links"> = {
  name: "one-sided",
  kind: "links",
  holds: ({ bidirectional }) => !bidirectional,
};
const hasConflictOf = <K extends Kind>(kind: K): Condition<K> => ({
  name: `conflict ${kind}`,
  kind,
  holds: hasConflict,
});

/** `time`: what is listed for a limited time is listed where that is not over then. */
export function* findProblems(
  state: NetworkState,
  recent: RecentChanges,
  finder: SinceFinder,
  time: number,
  windows: ProblemWindows,
): Steps<Finding[]> {
  // Selected at once, because only the newest state has indexes.
  const devices = selectAll(state, "devices", UNAVAILABLE);
  const inactive = selectAll(state, "links", INACTIVE);
  const oneSided = selectAll(state, "links", ONE_SIDED);
  const conflicts = KINDS.map((kind) => [kind, selectAll(state, kind, CONFLICT)] as const);
  const drifts = KINDS.map((kind) => [kind, selectAll(state, kind, DRIFT)] as const);
  return [
    ...(yield* collectPaced(mapPaced(devices, deviceFinding))),
    ...(yield* linkFindings("link-inactive", IS_INACTIVE, inactive, finder)),
    ...(yield* linkFindings("link-one-sided", IS_ONE_SIDED, activeOnly(oneSided), finder)),
    ...(yield* lostFindings(state, recent, time, windows)),
    ...(yield* movedFindings(state, recent, time, windows)),
    ...(yield* conflictFindings(conflicts, finder)),
    ...(yield* driftFindings(state, drifts)),
    ...sourceFindings(state),
  ];
}

const selectAll = <K extends Kind>(state: NetworkState, kind: K, filter: Filter): Paced<Entities[K]> =>
  mapPaced(select(state, kind, [filter]), ({ text }) => parseStored(kind, text));

function deviceFinding({ id, annotations, lastUpdate, lastChanged, sources }: Entities["devices"]): Finding {
  const name = annotations.name ? `${annotations.name} (${id})` : id;
  return {
    id: `device-unavailable:${id}`,
    kind: "device-unavailable",
    since: claimedTime(lastUpdate) ?? lastChanged,
    resource: "devices",
    entity: id,
    devices: [id],
    sources,
    text: `Device ${name} is unavailable.`,
  };
}

/** An INACTIVE link of one direction is a problem of its state, not of its direction. */
const activeOnly = (links: Paced<Link>): Paced<Link> =>
  mapPaced(links, (link) => (link.state === "ACTIVE" ? link : undefined));

const LINK_TEXTS = {
  "link-inactive": (ends: string) => `Link ${ends} is INACTIVE.`,
  "link-one-sided": (ends: string) => `Link ${ends} is known in one direction only.`,
  "link-lost": (ends: string) => `Link ${ends} is gone, and both devices are still known.`,
} as const satisfies Partial<Record<ProblemKind, (ends: string) => string>>;

function* linkFindings(
  kind: "link-inactive" | "link-one-sided",
  condition: Condition<"links">,
  links: Paced<Link>,
  finder: SinceFinder,
): Steps<Finding[]> {
  const found = yield* collectPaced(links);
  const since = yield* finder.find(condition, found);
  const cables = new CableFindings(kind, firstOf);
  for (const link of found) cables.add(link, since.get(link.id) ?? link.lastChanged);
  return cables.findings();
}

interface CableSide {
  readonly link: Link;
  readonly since: string;
}

/** A cable is inactive or one-sided since the first of its links is. Both are the same cable: the lower id names it. */
const firstOf = (a: CableSide, b: CableSide): CableSide => ({
  link: a.link.id < b.link.id ? a.link : b.link,
  since: a.since < b.since ? a.since : b.since,
});

/** A cable is lost since the last of its links is. That one names it, so that nothing changes when the other expires. */
const lastOf = (a: CableSide, b: CableSide): CableSide =>
  a.since === b.since ? firstOf(a, b) : a.since > b.since ? a : b;

/** One finding a cable. `join` makes one of its two links. */
class CableFindings {
  readonly #kind: keyof typeof LINK_TEXTS;
  readonly #join: typeof firstOf;
  readonly #cables = new Map<string, CableSide>();

  constructor(kind: keyof typeof LINK_TEXTS, join: typeof firstOf) {
    this.#kind = kind;
    this.#join = join;
  }

  add(link: Link, since: string): void {
    const id = cableId(link);
    const other = this.#cables.get(id);
    this.#cables.set(id, other ? this.#join(other, { link, since }) : { link, since });
  }

  findings(windowMs?: number): Finding[] {
    return Array.from(this.#cables, ([cable, { link, since }]) => {
      const { src, dst, sources } = link;
      return {
        id: `${this.#kind}:${cable}`,
        kind: this.#kind,
        since,
        ...(windowMs !== undefined && { until: isoTime(Date.parse(since) + windowMs) }),
        resource: "links" as const,
        entity: link.id,
        link: { src, dst },
        devices: src.device === dst.device ? [src.device] : [src.device, dst.device],
        sources,
        text: LINK_TEXTS[this.#kind](`${portId(src.device, src.port)} to ${portId(dst.device, dst.port)}`),
      };
    });
  }
}

/** A link of which the other direction is still known is one-sided, not lost. */
export function isLost(state: NetworkState, { link }: LostLink): boolean {
  const { src, dst } = link;
  const isKnown = (device: string) => state.get("devices", device) !== undefined;
  return isKnown(src.device) && isKnown(dst.device) && state.get("links", reverseLinkId(link)) === undefined;
}

function* lostFindings(
  state: NetworkState,
  { lost }: RecentChanges,
  time: number,
  { lostLinkMs }: ProblemWindows,
): Steps<Finding[]> {
  const cables = new CableFindings("link-lost", lastOf);
  let left = ENTITIES_PER_STEP;
  for (const removed of lost.values()) {
    if (removed.time + lostLinkMs > time && isLost(state, removed))
      cables.add(removed.link, isoTime(removed.time));
    if (--left > 0) continue;
    left = ENTITIES_PER_STEP;
    yield;
  }
  return cables.findings(lostLinkMs);
}

const ENTITIES_PER_STEP = 200;

function* movedFindings(
  state: NetworkState,
  { moved }: RecentChanges,
  time: number,
  { movedHostMs }: ProblemWindows,
): Steps<Finding[]> {
  const found: Finding[] = [];
  let left = ENTITIES_PER_STEP;
  for (const [id, { from, to, time: since }] of moved) {
    const text = since + movedHostMs > time ? state.get("hosts", id) : undefined;
    if (text !== undefined)
      found.push({
        id: `host-moved:${id}`,
        kind: "host-moved",
        since: isoTime(since),
        until: isoTime(since + movedHostMs),
        resource: "hosts",
        entity: id,
        moved: { from, to },
        devices: from.elementId === to.elementId ? [to.elementId] : [from.elementId, to.elementId],
        sources: parseStored("hosts", text).sources,
        text: `Host ${id} moved from ${portId(from.elementId, from.port)} to ${portId(to.elementId, to.port)}.`,
      });
    if (--left > 0) continue;
    left = ENTITIES_PER_STEP;
    yield;
  }
  return found;
}

type Selected = readonly (readonly [kind: Kind, entities: Paced<Entities[Kind]>])[];

function* conflictFindings(selected: Selected, finder: SinceFinder): Steps<Finding[]> {
  const findings: Finding[] = [];
  for (const [kind, entities] of selected) {
    const found = yield* collectPaced(entities);
    const condition = hasConflictOf(kind);
    const since = yield* finder.find(condition, found);
    for (const entity of found) {
      const id = entityId(entity);
      const conflict = entity.annotations?.conflict ?? "";
      const at = since.get(id) ?? entity.lastChanged;
      findings.push({
        ...(kind === "hosts"
          ? { id: `host-duplicated:${id}`, kind: "host-duplicated" }
          : { id: `conflict:${kind}:${id}`, kind: "conflict" }),
        since: at,
        ...aboutEntity(kind, entity),
        text: `${NAMES[kind]} ${id}: ${conflict}.`,
      });
    }
  }
  return findings;
}

const NAMES: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Link",
  hosts: "Host",
};

/** What the problem of an entity says about it. */
function aboutEntity(
  kind: Kind,
  entity: Entities[Kind],
): Pick<Finding, "resource" | "entity" | "devices" | "sources"> {
  const resource: ProblemResource = kind;
  return { resource, entity: entityId(entity), devices: devicesOf(entity), sources: entity.sources };
}

function devicesOf(entity: Entities[Kind]): string[] {
  if ("element" in entity) return [entity.element];
  if ("src" in entity) return [...new Set([entity.src.device, entity.dst.device])];
  return "mac" in entity ? [...new Set(entity.locations.map((at) => at.elementId))] : [entity.id];
}

function* driftFindings(state: NetworkState, selected: Selected): Steps<Finding[]> {
  const findings: Finding[] = [];
  for (const [kind, entities] of selected)
    for (const entity of yield* collectPaced(entities)) findings.push(driftFinding(kind, entity));
  for (const page of yield* state.pages("missing")) {
    for (let i = 0; i < page.length; i++) {
      const entity = parseStored("missing", page.value(i));
      const kind = KINDS.find((name) => page.ids[i]?.startsWith(`${name} `));
      if (kind) findings.push(driftFinding(kind, entity));
    }
    yield;
  }
  return findings;
}

function driftFinding(kind: Kind, entity: Entities[Kind]): Finding {
  const { drift } = entity;
  const id = entityId(entity);
  const fields = Object.keys(drift?.fields ?? {}).join(", ");
  return {
    id: `drift:${kind}:${id}`,
    kind: "drift",
    since: drift?.since ?? entity.lastChanged,
    ...aboutEntity(kind, entity),
    text:
      drift?.state === "missing"
        ? `${NAMES[kind]} ${id} is intended and not observed.`
        : drift?.state === "unplanned"
          ? `${NAMES[kind]} ${id} is observed and not intended.`
          : `${NAMES[kind]} ${id} differs from what is intended: ${fields}.`,
  };
}

function sourceFindings(state: NetworkState): Finding[] {
  const { facts } = MergeRules.read(state);
  return [...facts].flatMap(([name, { staleSince }]) =>
    staleSince === undefined
      ? []
      : [
          {
            id: `source-stale:${name}`,
            kind: "source-stale" as const,
            since: isoTime(staleSince),
            resource: "sources" as const,
            source: name,
            devices: [],
            sources: [name],
            text: `Source ${name} is stale: what it last reported may have changed.`,
          },
        ],
  );
}

/** Undefined for a number that is no time: a source may claim any. */
function claimedTime(ms: string): string | undefined {
  const time = new Date(Number(ms));
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
