/**
 * Joins the devices of several sources within one commit. A claim is normally in the entity of its own id. The claims of
 * joined devices are all in the entity of the leader: the id of the first observed source in the configured order. Whether
 * a source is stale has no influence, so that ids do not change with the state of a connection.
 *
 * After the claims of the commit are set, `regroup` finds the devices whose group may have changed and moves their claims.
 * These are the devices with a value that changed, those that were joined with them, and those that now are. With one
 * source none of this runs.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { deviceKey } from "../../model/ids.ts";
import { boundedIds } from "../former-ids.ts";
import { claimsKey, parseClaimsKey } from "../indexes.ts";
import type { MergeRules } from "../merge-rules.ts";
import { claimedDevices } from "../recover.ts";
import type { SourcedClaim, TouchedEntity } from "../touched-entity.ts";
import type { View } from "../view.ts";
import type { WorkingSet } from "../working-set.ts";
import { findGroup, type GroupLookups, groupConflicts, joiningValues, MAX_SHARED } from "./find-group.ts";
import { type IdentityValue, identityKey, identityValues } from "./identity-values.ts";

type DeviceEntity = TouchedEntity<"devices">;

/** The changes of the commit: the affected devices, and the identity values. */
interface IdentityChanges {
  readonly devices: Set<string>;
  readonly values: Map<string, IdentityValue>;
}

export class DeviceGroups {
  /** Whether devices may be joined, or are still joined from earlier settings. */
  readonly isActive: boolean;
  readonly #canJoin: boolean;
  readonly #view: View;
  readonly #rules: MergeRules;
  readonly #devices: WorkingSet<"devices">;
  /** The new entities of the devices that this commit moved. */
  readonly #movedTo = new Map<string, string>();
  /** Devices to group again although their claims are the same. */
  readonly #requested = new Set<string>();
  /** Entities whose claims differ from those in the indexes, and the devices that have a value according to these claims. */
  readonly #changedEntities = new Set<string>();
  readonly #changedValues = new Map<string, Set<string>>();
  readonly #found = new Map<string, readonly string[]>();
  readonly #lookups: GroupLookups;

  constructor(view: View, rules: MergeRules, devices: WorkingSet<"devices">) {
    this.#view = view;
    this.#rules = rules;
    this.#devices = devices;
    this.#canJoin = rules.joiningSources.length > 0;
    this.isActive = this.#canJoin || view.indexes("claims").named("claimedAs").size > 0;
    this.#lookups = {
      rules,
      claimsOf: (key) =>
        devices.entity(this.entityOf(key)).claims.filter(({ claim }) => deviceKey(claim.id) === key),
      devicesWith: (source, value) => this.#devicesWith(identityKey(source, value)),
    };
  }

  /** The entity that has the claims about a device. */
  entityOf(key: string): string {
    return this.isActive ? (this.#movedTo.get(key) ?? entityBefore(this.#view, key)) : key;
  }

  /** The keys under which the device is claimed, that of the leader first. */
  membersOf(entity: string): readonly string[] {
    const isTouched = this.#devices.touched(entity) !== undefined;
    if (!isTouched && !this.#view.indexes("claims").named("joined").has(entity)) return [entity];
    return this.#inOrder(this.#devices.entity(entity).claims);
  }

  isClaimed(key: string): boolean {
    return this.#lookups.claimsOf(key).length > 0;
  }

  /** Whether the id is claimed as another device. False if nothing can be joined: then lookups prefer ids to aliases. */
  isOtherDevice(id: string, entity: string): boolean {
    const key = deviceKey(id);
    return this.#canJoin && this.isClaimed(key) && this.entityOf(key) !== entity;
  }

  *conflictsOf(claims: readonly SourcedClaim<"devices">[]): Generator<string> {
    if (this.isActive) yield* groupConflicts(this.#lookups, claims);
  }

  /** Groups a device again although its claims are the same. */
  request(id: string): void {
    this.#requested.add(deviceKey(id));
  }

  /**
   * Moves the claims of devices whose group changed. Returns the entities that lost or got claims, and those whose ids are
   * in another order, because both affect the numbers of ports.
   */
  *regroup(): Steps<ReadonlySet<DeviceEntity>> {
    const changed = new Set<DeviceEntity>();
    if (!this.isActive) return changed;
    if (this.#canJoin) yield* this.#view.buildIndex("devices", "identity");
    const changes = yield* this.#findChanges();
    const affected = yield* this.#findAffected(changes);
    const pause = new Pause();
    const targets = new Map<string, string>();
    for (const key of affected) {
      if (!targets.has(key)) this.#findTarget(key, targets);
      if (pause.due(COST.entity)) yield;
    }
    for (const key of affected) {
      const from = this.#devices.entity(this.entityOf(key));
      const to = this.#devices.entity(targets.get(key) ?? key);
      this.#devices.pending.add(from).add(to);
      if (from !== to) {
        this.#devices.moveClaims(from, to, ({ claim }) => deviceKey(claim.id) === key);
        this.#movedTo.set(key, to.key);
        changed.add(from).add(to);
      } else if (!changed.has(to) && this.#isReordered(to, key)) changed.add(to);
      if (pause.due(COST.entity)) yield;
    }
    for (const entity of changed) this.#passOnIds(entity);
    for (const key of changes.devices) yield* this.#recheckAliases(key);
    return changed;
  }

  /** Whether the ids of an entity are in another order than before the commit, or may be because of other rules. */
  #isReordered({ claims, claimsBefore }: DeviceEntity, key: string): boolean {
    if (claims === claimsBefore) return this.#requested.has(key) && claimedDevices(claims).size > 1;
    const [after, before] = [this.#inOrder(claims), this.#inOrder(claimsBefore)];
    return after.length > 1 && after.join(" ") !== before.join(" ");
  }

  /** The keys under which a device is claimed, that of the leader first. */
  #inOrder(claims: readonly SourcedClaim<"devices">[]): readonly string[] {
    return [...claimedDevices(claims.toSorted((a, b) => this.#rules.compareLeaders(a.source, b.source)))];
  }

  #findTarget(key: string, targets: Map<string, string>): void {
    const group = findGroup(this.#lookups, key);
    if (!group) {
      targets.set(key, key);
      return;
    }
    const claims = [...group].flatMap((member) => this.#lookups.claimsOf(member));
    const [leader] = claims.sort((a, b) => this.#rules.compareLeaders(a.source, b.source));
    for (const member of group) targets.set(member, leader ? deviceKey(leader.claim.id) : member);
  }

  *#findChanges(): Steps<IdentityChanges> {
    const changes: IdentityChanges = { devices: new Set(this.#requested), values: new Map() };
    // With other rules, every value of these devices may join them or not.
    for (const key of this.#requested)
      for (const { claim } of this.#lookups.claimsOf(key))
        for (const value of identityValues(claim)) changes.values.set(`${value.rule} ${value.value}`, value);
    const pause = new Pause();
    for (const entity of this.#devices.pending) {
      if (entity.claims !== entity.claimsBefore) {
        this.#changedEntities.add(entity.key);
        this.#compareClaims(entity, changes);
      }
      if (pause.due(COST.entity)) yield;
    }
    return changes;
  }

  #compareClaims({ claims, claimsBefore }: DeviceEntity, { devices, values }: IdentityChanges): void {
    const facts = (claimed: readonly SourcedClaim<"devices">[]) => {
      const found = new Map<string, { readonly device: string; readonly value?: IdentityValue }>();
      for (const sourced of claimed) {
        const device = deviceKey(sourced.claim.id);
        found.set(`${device} ${sourced.source}`, { device });
        for (const value of joiningValues(this.#rules, sourced))
          found.set(`${device} ${identityKey(sourced.source, value)}`, { device, value });
      }
      return found;
    };
    const before = facts(claimsBefore);
    const after = facts(claims);
    /** The values of the other claims about the device. A conflict with devices that have them names the sources of this one. */
    const othersOf = (device: string): IdentityValue[] =>
      claims.length < 2 && claimsBefore.length < 2
        ? []
        : claims
            .filter(({ claim }) => deviceKey(claim.id) === device)
            .flatMap((sourced) => joiningValues(this.#rules, sourced));
    for (const sourced of claims) {
      for (const value of joiningValues(this.#rules, sourced)) {
        const key = identityKey(sourced.source, value);
        const known = this.#changedValues.get(key) ?? new Set();
        this.#changedValues.set(key, known.add(deviceKey(sourced.claim.id)));
      }
    }
    for (const [one, other] of [[before, after], [after, before]] as const) {
      for (const [fact, { device, value }] of one) {
        if (other.has(fact)) continue;
        devices.add(device);
        if (value) values.set(`${value.rule} ${value.value}`, value);
        else for (const shared of othersOf(device)) values.set(`${shared.rule} ${shared.value}`, shared);
      }
    } // biome-ignore format: a table
  }

  /** The devices whose group or conflict may have changed. */
  *#findAffected({ devices, values }: IdentityChanges): Steps<ReadonlySet<string>> {
    const affected = new Set(devices);
    const pause = new Pause();
    for (const value of values.values()) {
      for (const source of this.#rules.joiningSources) {
        const key = identityKey(source, value);
        for (const found of [this.#devicesBefore(key), this.#devicesWith(key)])
          if (found.length <= MAX_SHARED) for (const device of found) affected.add(device);
        if (pause.due(COST.entity)) yield;
      }
    }
    for (const key of affected) {
      const { claims, claimsBefore } = this.#devices.entity(this.entityOf(key));
      for (const joined of [claims, claimsBefore])
        for (const { claim } of joined) affected.add(deviceKey(claim.id));
      for (const member of findGroup(this.#lookups, key) ?? []) affected.add(member);
      if (pause.due(COST.entity)) yield;
    }
    return affected;
  }

  /** The devices with a value, including the changes of the commit. */
  #devicesWith(key: string): readonly string[] {
    let found = this.#found.get(key);
    if (!found) {
      const changed = [...(this.#changedValues.get(key) ?? [])].slice(0, MAX_SHARED + 1);
      found = this.#devicesBefore(key, new Set(changed), this.#changedEntities);
      this.#found.set(key, found);
    }
    return found;
  }

  /** Adds the devices that had the value before the commit to `found`, except those of the entities in `without`. */
  #devicesBefore(key: string, found = new Set<string>(), without?: ReadonlySet<string>): readonly string[] {
    for (const entity of this.#entitiesBefore(key)) {
      if (found.size > MAX_SHARED) break;
      if (without?.has(entity)) continue;
      for (const sourced of this.#devices.entity(entity).claimsBefore) {
        const values = joiningValues(this.#rules, sourced);
        if (values.some((value) => identityKey(sourced.source, value) === key))
          found.add(deviceKey(sourced.claim.id));
      }
    }
    return [...found];
  }

  /** Merging removes keys, but `get` still finds them. The index of devices exists only if devices could be joined. */
  *#entitiesBefore(key: string): Generator<string> {
    for (const id of this.#view.findIndex("devices", "identity")?.get(key) ?? []) yield deviceKey(id);
    for (const stored of this.#view.indexes("claims").named("identity").get(key))
      yield parseClaimsKey(stored)?.key ?? "";
  }

  /** Passes the id and the former ids of an entity without claims to the entity that has the first of its claims now. */
  #passOnIds({ key, before, claims, claimsBefore, formerIds }: DeviceEntity): void {
    if (claims.length > 0 || !before) return;
    const ordered = [...claimsBefore].sort((a, b) => this.#rules.compareLeaders(a.source, b.source));
    for (const { claim } of ordered) {
      const device = deviceKey(claim.id);
      const successor = this.#devices.entity(this.entityOf(device));
      if (successor.key === key || !this.isClaimed(device)) continue;
      successor.formerIds = boundedIds(successor.key, [
        before.value.id,
        ...formerIds,
        ...successor.formerIds,
      ]);
      return;
    }
  }

  /** Merges the devices with this alias again, because an id is no alias of another device while it is claimed. */
  *#recheckAliases(key: string): Steps<void> {
    const shown = this.#view.indexes("devices").named("alias").get(key);
    const claimed = this.#view.indexes("claims").named("alias").get(key);
    const entities = new Set(shown);
    for (const stored of claimed) entities.add(parseClaimsKey(stored)?.key ?? key);
    const pause = new Pause();
    for (const entity of entities) {
      this.#devices.recheck(entity);
      if (pause.due(COST.entity)) yield;
    }
  }
}

/** The entity that had the claims about a device before the commit. */
export function entityBefore(view: View, key: string): string {
  for (const stored of view.indexes("claims").named("claimedAs").get(claimsKey("devices", key)))
    return parseClaimsKey(stored)?.key ?? key;
  return key;
}
