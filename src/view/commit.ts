/**
 * One commit: receives claims and merges the entities they affect, and those that depend on them. A device that is added or
 * removed decides whether its ports, links and hosts are shown or held back; one whose id changes its spelling changes the
 * ids that contain it. A link affects the link in the other direction and the links at its ports. A host affects the hosts
 * with the same address.
 *
 * All of it runs in steps. Readers see nothing of it until the batch is published.
 */
import type { SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import { reverseLinkId } from "../model/cable.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { type ConnectPoint, deviceKey, type Kind, portId } from "../model/ids.ts";
import {
  type ConflictLookups,
  hostConflict,
  hostsAffectedBy,
  joinMessages,
  linkConflict,
  linksAffectedBy,
} from "./conflicts.ts";
import { DeviceGroups } from "./identity/device-groups.ts";
import { JoinedPorts, placeOf } from "./identity/joined-ports.ts";
import { occupiesPorts, parseClaimsKey, plannedPortsKey } from "./indexes.ts";
import type { MergeRules } from "./merge-rules.ts";
import { claimedDevices } from "./recover.ts";
import { leaderOf, type TouchedEntity } from "./touched-entity.ts";
import { parseStored, type View } from "./view.ts";
import { WorkingSet } from "./working-set.ts";

/** A canonical claim that is set, or undefined to withdraw it. */
export type CanonicalChange = {
  [K in Kind]: {
    readonly kind: K;
    /** The id in any spelling. */
    readonly id: string;
    readonly claim: ClaimTypes[K] | undefined;
  };
}[Kind];

export class Commit {
  readonly #view: View;
  readonly #devices: WorkingSet<"devices">;
  readonly #ports: WorkingSet<"ports">;
  readonly #links: WorkingSet<"links">;
  readonly #hosts: WorkingSet<"hosts">;
  readonly #lookups: ConflictLookups;
  readonly #groups: DeviceGroups;
  readonly #joinedPorts: JoinedPorts;
  readonly #shownDevice: (id: string) => string | undefined;
  readonly #rules: MergeRules;
  readonly #plannedPorts: SortedIndex;
  /** Devices whose planned ports appeared or disappeared in this commit. All their ports are compared with the plan again. */
  readonly #relisted = new Set<string>();
  readonly #pause: Pause;

  constructor(view: View, rules: MergeRules, revision: number, time: number, stepCost?: number) {
    this.#shownDevice = (id) => {
      const key = this.#groups.entityOf(deviceKey(id));
      const touched = this.#devices.touched(key);
      if (touched) return touched.after?.value.id;
      const shown = view.spelledId("devices", key);
      return view.hasDevice(shown) ? shown : undefined;
    };
    const shownDevice = this.#shownDevice;
    const shownNumber = (id: string, number: string): string =>
      this.#groups.isActive ? this.#joinedPorts.resolve(id, number).port : number;
    const shownPort = (id: string, number: string): ConnectPoint | undefined => {
      const device = shownDevice(id);
      return device === undefined ? undefined : { device, port: shownNumber(id, number) };
    };
    const context = {
      view,
      revision,
      time,
      timeText: new Date(time).toISOString(),
      rules,
      shownDevice,
      shownPort,
      isOtherDevice: (id: string, entity: string) => this.#groups.isOtherDevice(id, entity),
      plannedPort: (id: string, number: string) => ({
        device: shownDevice(id) ?? this.#plannedDevice(id) ?? id,
        port: shownNumber(id, number),
      }),
      plansPortsOf: (id: string) => this.#plansPortsOf(id),
      pause: new Pause(stepCost),
    };
    this.#rules = rules;
    this.#plannedPorts = view.indexes("claims").named("plannedPorts");
    this.#pause = context.pause;
    const occupiedPorts = view.indexes("links").named("occupiedPort");
    const ips = view.indexes("hosts").named("ip");
    this.#lookups = {
      linksAt: (key) => occupiedPorts.current(key),
      hostsWith: (key) => ips.current(key),
      link: (id) => this.#links.current(id),
      shownPort: (device, port) => shownPort(device, port) ?? { device: deviceKey(device), port },
    };
    this.#view = view;
    view.indexesAreExact = false;
    this.#devices = new WorkingSet("devices", context, (_, claims) => ({
      hasReverse: false,
      conflict: joinMessages([...new Set(this.#groups.conflictsOf(claims))]),
    }));
    this.#groups = new DeviceGroups(view, rules, this.#devices);
    this.#ports = new WorkingSet("ports", context);
    this.#joinedPorts = new JoinedPorts(view, this.#groups, this.#ports);
    this.#links = new WorkingSet("links", context, (link, claims) => {
      const reverse = reverseLinkId(link);
      return claims.length === 0
        ? { hasReverse: this.#isKnown(reverse), conflict: undefined }
        : { hasReverse: this.#links.has(reverse), conflict: linkConflict(this.#lookups, link) };
    });
    this.#hosts = new WorkingSet("hosts", context, (host, claims) => ({
      hasReverse: false,
      conflict: claims.length === 0 ? undefined : hostConflict(this.#lookups, host, claims),
    }));
  }

  /** Applies the changes of one source. */
  *applyChanges(source: string, changes: Iterable<CanonicalChange>): Steps<void> {
    for (const change of changes) {
      this.applyChange(source, change);
      if (this.#pause.due(COST.entity)) yield;
    }
  }

  applyChange(source: string, change: CanonicalChange): void {
    if (change.kind === "devices") this.#devices.setClaim(source, change.id, change.claim);
    else if (change.kind === "ports") this.#setPort(source, change.id, change.claim);
    else if (change.kind === "links") this.#links.setClaim(source, change.id, change.claim);
    else this.#hosts.setClaim(source, change.id, change.claim);
  }

  #setPort(source: string, id: string, claim: ClaimTypes["ports"] | undefined): void {
    const device = id.slice(0, id.lastIndexOf("/"));
    const wasListed = this.#listsPorts(source, device);
    this.#ports.setClaim(source, id, claim);
    if (wasListed !== this.#listsPorts(source, device)) this.#relisted.add(device);
  }

  /** Groups and merges an entity again by other rules, although its claims are the same. */
  applyRules(kind: Kind, id: string): void {
    if (kind === "devices") this.#groups.request(id);
    if (kind === "ports") this.#markPort(id);
    this.recheck(kind, id);
  }

  /** Marks the roles of a port's claims at once, because whether its source is intended affects other ports. */
  #markPort(id: string): void {
    const entity = this.#ports.entity(id);
    const { claims } = entity;
    const wasListed = claims.map(({ source, claim }) => this.#listsPorts(source, claim.element));
    this.#ports.markRoles(entity);
    for (const [i, { source, claim }] of claims.entries())
      if (wasListed[i] !== this.#listsPorts(source, claim.element)) this.#relisted.add(claim.element);
  }

  /** Whether a source plans ports of a device, which is given by the id that the source uses. */
  #listsPorts(source: string, device: string): boolean {
    if (this.#plannedPorts.size === 0) return false;
    const [first] = this.#plannedPorts.current(plannedPortsKey(source, device));
    return first !== undefined;
  }

  /** Whether the plan lists ports of the device. It may use any id by which a source claims the device. */
  #plansPortsOf(id: string): boolean {
    const names = [id, ...this.#devices.entity(id).claims.map(({ claim }) => claim.id)];
    return this.#rules.intendedSources.some((source) => names.some((name) => this.#listsPorts(source, name)));
  }

  /** The id of a device that is not shown, which the ids of planned entities at it contain even before it is merged. */
  #plannedDevice(id: string): string | undefined {
    const { claims } = this.#devices.entity(this.#groups.entityOf(deviceKey(id)));
    return leaderOf(claims, this.#rules)?.id;
  }

  /** Whether the result of `#plannedDevice` may differ from that before the commit. */
  #isPlannedOtherwise({ claims, claimsBefore, missingBefore }: TouchedEntity<"devices">): boolean {
    if (this.#rules.intendedSources.length === 0 && !missingBefore) return false;
    const before = missingBefore?.value.id ?? leaderOf(claimsBefore, this.#rules)?.id;
    return before !== leaderOf(claims, this.#rules)?.id;
  }

  /** Merges all pending entities and those that become pending by it. Returns the log entries. */
  *mergeAll(): Steps<LogEntry[]> {
    if (this.#groups.isActive) yield* this.#placeClaims();
    for (const device of this.#devices.pending) {
      const shownBefore = device.after?.value.id;
      this.#devices.remerge(device);
      if (shownBefore !== device.after?.value.id || this.#isPlannedOtherwise(device))
        for (const name of new Set([device.key, ...claimedDevices(device.claims)]))
          yield* this.#recheckDependents(name, name === device.key ? shownBefore : undefined);
      if (this.#pause.due(COST.entity)) yield;
    }
    if (this.#rules.comparedKinds.has("ports")) yield* this.#recheckRelisted();
    for (const port of this.#ports.pending) {
      if (this.#groups.isActive) yield* this.#joinedPorts.prepare(port.claims);
      this.#ports.remerge(port);
      if (this.#pause.due(COST.entity)) yield;
    }
    yield* this.#mergeLinks();
    yield* this.#mergeHosts();
    const entries: LogEntry[] = [];
    for (const set of this.#workingSets) yield* set.storeClaims();
    // Missing entities are removed first and added last, so that a stream has each entity at most once at any time.
    for (const set of this.#workingSets) yield* set.collectMissing(entries, true);
    for (const set of this.#workingSets) yield* set.collectEntries(entries);
    for (const set of this.#workingSets) yield* set.collectMissing(entries, false);
    return entries;
  }

  /** Joins and separates devices according to the claims, and moves the claims of their ports and links accordingly. */
  *#placeClaims(): Steps<void> {
    const regrouped = yield* this.#groups.regroup();
    const joined = [...regrouped];
    for (const entity of yield* this.#joinedPorts.findRenumbered(regrouped))
      joined.push(this.#devices.entity(entity));
    const devices = new Set<string>();
    for (const { key, claims, claimsBefore } of joined)
      for (const device of [key, ...claimedDevices(claims), ...claimedDevices(claimsBefore)])
        devices.add(device);
    for (const device of devices)
      yield* this.#recheckDependents(device, this.#devices.entity(device).before?.value.id);
    yield* this.#placeAll(this.#ports);
    yield* this.#placeAll(this.#links);
  }

  *#placeAll<K extends "ports" | "links">(set: WorkingSet<K>): Steps<void> {
    for (const entity of set.pending) {
      yield* this.#joinedPorts.prepare(entity.claims);
      set.place(entity, (claim) => placeOf(this.#joinedPorts, claim));
      if (this.#pause.due(COST.entity)) yield;
    }
  }

  /** Restores the indexes to their state before the commit. */
  *rollBack(): Steps<void> {
    for (const set of this.#workingSets) yield* set.rollBack();
    this.#view.endIndexChange();
  }

  get #workingSets() {
    return [this.#devices, this.#ports, this.#links, this.#hosts];
  }

  /** Merges an entity again although its claims are the same. */
  recheck(kind: Kind, id: string): void {
    if (kind === "devices") this.#devices.recheck(id);
    else if (kind === "ports") this.#ports.recheck(id);
    else if (kind === "links") this.#links.recheck(id);
    else this.#hosts.recheck(id);
  }

  /** Marks everything that refers to the device, shown or held back, to be merged again. `shownBefore` was its id until now. */
  *#recheckDependents(device: string, shownBefore: string | undefined): Steps<void> {
    const view = this.#view;
    for (const [kind, name] of [
      ["links", "src"],
      ["links", "dst"],
      ["hosts", "location"],
    ] as const) {
      for (const id of view.findIndex(kind, name)?.current(device) ?? []) {
        this.recheck(kind, id);
        if (this.#pause.due(COST.entity)) yield;
      }
    }
    if (shownBefore !== undefined) yield* this.#recheckPorts(shownBefore);
    for (const stored of view.indexes("claims").named("device").current(device)) {
      const parsed = parseClaimsKey(stored);
      if (parsed) this.recheck(parsed.kind, parsed.key);
      if (this.#pause.due(COST.entity)) yield;
    }
  }

  /** Marks the ports of a device, which is given by its shown id. */
  *#recheckPorts(device: string): Steps<void> {
    for (const { text } of this.#view.range("ports", portId(device, ""), portId(device, "\uffff"))) {
      const { element, port } = parseStored("ports", text);
      if (element === device) this.#ports.recheck(portId(element, port));
      if (this.#pause.due(COST.entity)) yield;
    }
  }

  *#recheckRelisted(): Steps<void> {
    for (const device of this.#devices.touchedEntities()) {
      if (this.#pause.due(COST.entity)) yield;
      if (device.after && isNamedOtherwise(device)) this.#relisted.add(device.after.value.id);
    }
    for (const id of this.#relisted) {
      const shown = this.#shownDevice(id);
      if (shown !== undefined) yield* this.#recheckPorts(shown);
    }
  }

  /** Whether the link is observed or intended. */
  #isKnown(link: string): boolean {
    return this.#links.has(link) || this.#links.missing(link) !== undefined;
  }

  *#mergeLinks(): Steps<void> {
    const affected = new Set<string>();
    for (const entity of this.#links.pending) {
      if (this.#pause.due(COST.entity)) yield;
      const before = entity.after?.value;
      const missingBefore = entity.missing?.value;
      if (this.#groups.isActive) yield* this.#joinedPorts.prepare(entity.claims);
      this.#links.remerge(entity);
      const after = entity.after?.value;
      const missing = entity.missing?.value;
      const known = after ?? before ?? missing ?? missingBefore;
      if (!known) continue;
      const sameId = before?.id === after?.id;
      const reverse = reverseLinkId(known);
      if ((!sameId || missingBefore?.id !== missing?.id) && this.#isKnown(reverse)) affected.add(reverse);
      const link = after ?? before;
      if (!link) continue;
      if (sameId && (before && occupiesPorts(before)) === (after && occupiesPorts(after))) continue;
      for (const other of linksAffectedBy(this.#lookups, link)) affected.add(other);
    }
    yield* this.#remergeAll(this.#links, affected);
  }

  *#mergeHosts(): Steps<void> {
    const affected = new Set<string>();
    for (const host of this.#hosts.pending) {
      if (this.#pause.due(COST.entity)) yield;
      const before = host.after?.value.ipAddresses ?? [];
      if (this.#groups.isActive) yield* this.#joinedPorts.prepare(host.claims);
      this.#hosts.remerge(host);
      // A host that shares an address has a conflict by now. Without a conflict, it affects no other host.
      const inConflict = host.after?.value.annotations?.conflict !== undefined;
      if (before.length === 0 && !inConflict) continue;
      const after = host.after?.value.ipAddresses ?? [];
      const removed = before.filter((ip) => !after.includes(ip));
      const added = inConflict ? after.filter((ip) => !before.includes(ip)) : [];
      for (const ip of [...removed, ...added]) {
        for (const other of hostsAffectedBy(this.#lookups, host.key, ip)) affected.add(other);
      }
    }
    yield* this.#remergeAll(this.#hosts, affected);
  }

  *#remergeAll<K extends Kind>(set: WorkingSet<K>, ids: Iterable<string>): Steps<void> {
    for (const id of ids) {
      const entity = set.entity(id);
      if (this.#groups.isActive) yield* this.#joinedPorts.prepare(entity.claims);
      set.remerge(entity);
      if (this.#pause.due(COST.entity)) yield;
    }
  }
}

/** Whether the sources claim the device by other ids than before. */
function isNamedOtherwise({ before, storedClaimsBefore, claims }: TouchedEntity<"devices">): boolean {
  const idsBefore = storedClaimsBefore
    ? storedClaimsBefore.value.map(([, claim]) => ("id" in claim ? deviceKey(claim.id) : ""))
    : before
      ? [deviceKey(before.value.id)]
      : [];
  const ids = new Set(claims.map(({ claim }) => deviceKey(claim.id)));
  return new Set(idsBefore).symmetricDifference(ids).size > 0;
}
