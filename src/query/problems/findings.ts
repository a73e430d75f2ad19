/**
 * Finds the problems in one state of the network, without what they cut off. Where an index exists, only its entries are
 * read; a historical state is scanned.
 */
import { COST, collectPaced, mapPaced, type Paced, Pause, type Steps } from "../../lib/steps.ts";
import { hasConflict } from "../../model/conflict.ts";
import { DRIFT_STATES, type Entities, entityId, type Link } from "../../model/entity.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import type { ProblemResource } from "../../model/problem-kinds.ts";
import { additionsOn } from "../../view/encoded-page.ts";
import { parseClaimsKey } from "../../view/indexes.ts";
import { MergeRules } from "../../view/merge-rules.ts";
import { findUnknownDevices } from "../../view/unknown-devices.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import { conflictFilter, driftFilter, type Filter, ONE_SIDED, ScalarFilter } from "../filter.ts";
import { select } from "../select.ts";
import { EntityNames } from "./entity-names.ts";
import {
  activeOnly,
  CableFindings,
  type Finding,
  IS_INACTIVE,
  IS_ONE_SIDED,
  isoTime,
  linkFindings,
  lostFindings,
  type ProblemInput,
} from "./link-findings.ts";
import type { DevicePair } from "./parts.ts";
import { type Condition, type SinceFinder, unavailableSince } from "./since.ts";

const UNAVAILABLE = new ScalarFilter("devices", "available", [false]);
const INACTIVE = new ScalarFilter("links", "state", ["INACTIVE"]);
const CONFLICT = conflictFilter(true);
const DRIFT = driftFilter(DRIFT_STATES);

const hasConflictOf = <K extends Kind>(kind: K): Condition<K> => ({
  name: `conflict ${kind}`,
  kind,
  holds: hasConflict,
});

export interface Found {
  readonly findings: Finding[];
  /** The ends of each lost link. */
  readonly lost: readonly DevicePair[];
}

export function* findProblems(input: ProblemInput): Steps<Found> {
  const { state, finder } = input;
  // All are selected before the first pause, because only the newest state has indexes.
  const devices = selectAll(state, "devices", UNAVAILABLE);
  const inactive = selectAll(state, "links", INACTIVE);
  const oneSided = selectAll(state, "links", ONE_SIDED);
  const conflicts = KINDS.map((kind) => [kind, selectAll(state, kind, CONFLICT)] as const);
  const drifts = KINDS.map((kind) => [kind, selectAll(state, kind, DRIFT)] as const);
  const lost: DevicePair[] = [];
  const names = new EntityNames(state);
  const findings = [
    ...(yield* collectPaced(mapPaced(devices, (device) => deviceFinding(device, names)))),
    ...(yield* linkFindings("link-inactive", IS_INACTIVE, inactive, finder, names)),
    ...(yield* linkFindings("link-one-sided", IS_ONE_SIDED, activeOnly(oneSided), finder, names)),
    ...(yield* lostFindings(input, names, lost)),
    ...(yield* movedFindings(input, names)),
    ...(yield* conflictFindings(conflicts, finder, names)),
    ...(yield* driftFindings(state, drifts, names)),
    ...sourceFindings(state),
    ...(yield* unknownFindings(state, finder)),
  ];
  return { findings, lost };
}

const selectAll = <K extends Kind>(state: NetworkState, kind: K, filter: Filter): Paced<Entities[K]> =>
  mapPaced(select(state, kind, [filter]), ({ text }) => parseStored(kind, text));

function deviceFinding(device: Entities["devices"], names: EntityNames): Finding {
  const { id, sources } = device;
  return {
    id: `device-unavailable:${id}`,
    kind: "device-unavailable",
    since: unavailableSince(device),
    resource: "devices",
    entity: id,
    devices: [id],
    sources,
    text: `${names.entity("devices", device)} is down.`,
  };
}

function* movedFindings(
  { state, recent, time, windows }: ProblemInput,
  names: EntityNames,
): Steps<Finding[]> {
  const { movedHostMs } = windows;
  const found: Finding[] = [];
  const pause = new Pause();
  for (const [id, { from, to, time: since }] of recent.moved) {
    const stored = since + movedHostMs > time ? state.get("hosts", id) : undefined;
    if (stored !== undefined) {
      const host = parseStored("hosts", stored);
      found.push({
        id: `host-moved:${id}`,
        kind: "host-moved",
        since: isoTime(since),
        until: isoTime(since + movedHostMs),
        resource: "hosts",
        entity: id,
        moved: { from, to },
        devices: from.elementId === to.elementId ? [to.elementId] : [from.elementId, to.elementId],
        sources: host.sources,
        text: `${names.entity("hosts", host)} moved from ${names.port(from.elementId, from.port)} to ${names.port(to.elementId, to.port)}.`,
      });
    }
    if (pause.due(COST.key)) yield;
  }
  return found;
}

type Selected = readonly (readonly [kind: Kind, entities: Paced<Entities[Kind]>])[];

function* conflictFindings(selected: Selected, finder: SinceFinder, names: EntityNames): Steps<Finding[]> {
  const findings: Finding[] = [];
  const text = (kind: Kind, entity: Entities[Kind]) =>
    `${names.entity(kind, entity)}: ${entity.annotations?.conflict ?? ""}.`;
  // Both links of a cable use the same ports, so the text of one is enough.
  const cables = new CableFindings({
    kind: "conflict",
    prefix: "conflict:links:",
    text: ([link]) => text("links", link),
  });
  const pause = new Pause();
  for (const [kind, entities] of selected) {
    const found = yield* collectPaced(entities);
    const condition = hasConflictOf(kind);
    const since = yield* finder.find(condition, found);
    for (const entity of found) {
      if (pause.due(COST.key)) yield;
      const id = entityId(entity);
      const at = since.get(id) ?? entity.lastChanged;
      if ("src" in entity) cables.add(entity, at);
      else
        findings.push({
          ...(kind === "hosts"
            ? { id: `host-duplicated:${id}`, kind: "host-duplicated" }
            : { id: `conflict:${kind}:${id}`, kind: "conflict" }),
          since: at,
          ...aboutEntity(kind, entity),
          text: text(kind, entity),
        });
    }
  }
  return [...findings, ...(yield* cables.findings())];
}

/** The fields of a problem that describe its entity. */
function aboutEntity(
  kind: Kind,
  entity: Exclude<Entities[Kind], Link>,
): Pick<Finding, "resource" | "entity" | "devices" | "sources"> {
  const resource: ProblemResource = kind;
  return { resource, entity: entityId(entity), devices: devicesOf(entity), sources: entity.sources };
}

function devicesOf(entity: Exclude<Entities[Kind], Link>): string[] {
  if ("element" in entity) return [entity.element];
  return "mac" in entity ? [...new Set(entity.locations.map((at) => at.elementId))] : [entity.id];
}

function* driftFindings(state: NetworkState, selected: Selected, names: EntityNames): Steps<Finding[]> {
  const findings: Finding[] = [];
  const cables = new CableFindings({
    kind: "drift",
    prefix: "drift:links:",
    text: (links) => linksDriftText(links, names),
    isMissing,
  });
  const add = (kind: Kind, entity: Entities[Kind]): void => {
    if ("src" in entity) cables.add(entity, driftSince(entity));
    else findings.push(driftFinding(kind, entity, names));
  };
  for (const [kind, entities] of selected)
    for (const entity of entities) {
      if (entity) add(kind, entity);
      else yield;
    }
  const pause = new Pause();
  for (const { id, after } of additionsOn(yield* state.pages("missing"))) {
    const parsed = parseClaimsKey(id);
    if (parsed) add(parsed.kind, parseStored("missing", after));
    if (pause.due(COST.entity, after.length)) yield;
  }
  return [...findings, ...(yield* cables.findings())];
}

const isMissing = ({ drift }: Entities[Kind]): boolean => drift?.state === "missing";
const driftSince = ({ drift, lastChanged }: Entities[Kind]): string => drift?.since ?? lastChanged;

function driftFinding(kind: Kind, entity: Exclude<Entities[Kind], Link>, names: EntityNames): Finding {
  return {
    id: `drift:${kind}:${entityId(entity)}`,
    kind: "drift",
    since: driftSince(entity),
    ...aboutEntity(kind, entity),
    text: `${names.entity(kind, entity)} ${driftText(entity)}.`,
    isMissing: isMissing(entity),
  };
}

function driftText({ drift }: Entities[Kind]): string {
  if (drift?.state === "missing") return "is planned and missing";
  if (drift?.state === "unplanned") return "is not planned";
  return `differs from the plan: ${Object.keys(drift?.fields ?? {}).join(", ")}`;
}

/** The text of a cable. If its two links differ from the plan in different ways, each direction is described. */
function linksDriftText(links: readonly Link[], names: EntityNames): string {
  const linkByText = new Map(links.toReversed().map((link) => [driftText(link), link]));
  const subject = (link: Link) =>
    linkByText.size === 1 ? names.entity("links", link) : `Link ${names.ends(link)}`;
  const sentences = Array.from(linkByText, ([text, link]) => `${subject(link)} ${text}.`);
  return sentences.reverse().join(" ");
}

function sourceFindings(state: NetworkState): Finding[] {
  const findings: Finding[] = [];
  for (const [name, { hasSynced, staleSince, failedSince, error = "" }] of MergeRules.read(state).facts) {
    const about = { resource: "sources" as const, source: name, devices: [], sources: [name] };
    const reason = error.replace(/\.$/, "");
    if (failedSince !== undefined)
      findings.push({
        id: `source-failed:${name}`,
        kind: "source-failed",
        since: isoTime(failedSince),
        ...about,
        text: hasSynced
          ? `Source ${name} failed: ${reason}. What it last reported may have changed.`
          : `Source ${name} has never reported: ${reason}.`,
      });
    else if (staleSince !== undefined)
      findings.push({
        id: `source-stale:${name}`,
        kind: "source-stale",
        since: isoTime(staleSince),
        ...about,
        text: `Source ${name} is stale: what it last reported may have changed.`,
      });
  }
  return findings;
}

function* unknownFindings(state: NetworkState, finder: SinceFinder): Steps<Finding[]> {
  const unknown = yield* findUnknownDevices(state);
  const keys = unknown.map(({ key }) => key);
  const since = yield* finder.unknownSince(keys, state.time);
  return unknown.map(({ key, id, references, example, sources }): Finding => {
    const referrer = `${example.kind.replace(/s$/, "")} ${example.id}`;
    return {
      id: `device-unknown:${key}`,
      kind: "device-unknown",
      since: isoTime(since.get(key) ?? state.time),
      resource: "devices",
      entity: id,
      references,
      devices: [id],
      sources: [...sources],
      text:
        references === 1
          ? `No source reports device ${id}, which ${referrer} refers to.`
          : `No source reports device ${id}; ${references} ports, links and hosts refer to it, such as ${referrer}.`,
    };
  });
}
