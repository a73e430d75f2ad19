/**
 * The recent changes, grouped: the same change of many devices, or of many ports, links or hosts of one device, within a
 * minute is one group ("14 ports of leaf-3 went down"). A group is closed a minute after its first change and counts
 * different entities, so that its number is right for that minute. It lists only its newest changes. The number of groups
 * is bounded: the oldest are evicted regardless of their kind, because a list without recoveries is as misleading as one
 * without faults. `since` is the time from which on the list has every change.
 */

import { cableId } from "../../model/cable.ts";
import type { Device, Host, Link, Port } from "../../model/entity.ts";
import type { NetworkEntity, PageNetwork } from "./page-network.ts";
import { cableName, deviceName, deviceNameById, formatCount, hostName, NOUNS } from "./shown-names.ts";
import type { EntityRef } from "./view-state.ts";

export type RecentChange = (ShownChange | ShownPortChange) & {
  readonly revision: number;
  readonly time: number;
};

export interface ChangeGroup {
  /** Names the group by its first change, so that it is the same group when earlier changes are loaded. */
  readonly key: string;
  /** The newest changes, one per entity, at most `MAX_LISTED`. */
  readonly changes: readonly (ChangeText & { readonly time: number })[];
  /** The number of different entities. */
  readonly count: number;
  /** The entities that changed, as text for a group of several: `14 ports of leaf-3`. */
  readonly title: string;
  /** Epoch milliseconds of the newest change. */
  readonly time: number;
}

/** A change joins a group whose first change is not older than this. */
const GROUP_MS = 60_000;
const MAX_GROUPS = 200;
const MAX_LISTED = 50;
/** Maximum number of entities that a group counts, because the entities of an open group are held in memory. */
const MAX_COUNTED = 100_000;

interface Group {
  readonly key: string;
  readonly kind: RecentChange["resource"];
  /** The newest change of each of the last entities, newest first. */
  readonly changes: (ChangeText & { readonly time: number })[];
  /** Epoch milliseconds of the first change. */
  readonly start: number;
  /** The entities of the group; empty once it is closed. */
  readonly subjects: Set<string>;
  count: number;
  time: number;
  /** The devices that all changes of the group concern; empty for a group of devices. */
  places: readonly string[];
  /** The cached result of `showGroup`; undefined after a change. */
  shown: ChangeGroup | undefined;
}

export class ChangeGroups {
  /** Epoch milliseconds after which no change is left out. */
  #since: number;
  /** The groups in order of their last change, the oldest first. */
  readonly #groups: Group[] = [];
  /** Groups that may still grow, by kind, plural text and place, in the order of their first changes. */
  readonly #open = new Map<string, Group>();

  constructor(since: number) {
    this.#since = since;
  }

  get since(): number {
    return this.#since;
  }

  /** The groups, newest first. */
  list(network: PageNetwork): ChangeGroup[] {
    return this.#groups.toReversed().map((group) => {
      group.shown ??= showGroup(group, network);
      return group.shown;
    });
  }

  /** The changes must be in order, oldest first, and not older than those of earlier calls. */
  add(network: PageNetwork, changes: Iterable<RecentChange>): void {
    for (const change of changes) this.#add(change, describeChange(network, change));
  }

  #add({ resource, time }: RecentChange, text: ChangeText): void {
    this.#close(time);
    const keyOf = (place: string) => JSON.stringify([resource, text.many, place]);
    const keys = text.places.length === 0 ? [keyOf("")] : text.places.map(keyOf);
    const candidates = keys.flatMap((key) => this.#open.get(key) ?? []);
    const group =
      candidates.find(({ subjects }) => subjects.has(text.subject)) ??
      // Of the two devices of a link, the one with more changes is the likely cause.
      candidates.sort((p, q) => q.count - p.count)[0];
    if (!group) {
      const made: Group = {
        key: JSON.stringify([time, resource, text.subject, text.many]),
        kind: resource,
        changes: [{ ...text, time }],
        start: time,
        subjects: new Set([text.subject]),
        count: 1,
        time,
        places: text.places,
        shown: undefined,
      };
      for (const key of keys) this.#open.set(key, made);
      this.#groups.push(made);
      if (this.#groups.length > MAX_GROUPS) this.#evict();
      return;
    }
    group.time = time;
    group.shown = undefined;
    if (!group.subjects.has(text.subject) && group.count < MAX_COUNTED) {
      group.subjects.add(text.subject);
      group.count++;
    }
    const isShared = (place: string) => text.places.includes(place);
    for (const place of group.places) if (!isShared(place)) this.#open.delete(keyOf(place));
    group.places = group.places.filter(isShared);
    // Only the last change of an entity is listed.
    const listed = group.changes.findIndex(({ subject }) => subject === text.subject);
    if (listed >= 0) group.changes.splice(listed, 1);
    group.changes.unshift({ ...text, time });
    if (group.changes.length > MAX_LISTED) group.changes.pop();
    // The group with the newest change moves to the end.
    this.#groups.splice(this.#groups.lastIndexOf(group), 1);
    this.#groups.push(group);
  }

  #close(time: number): void {
    for (const [key, group] of this.#open) {
      if (time - group.start <= GROUP_MS) break;
      this.#open.delete(key);
      group.subjects.clear();
    }
  }

  #evict(): void {
    const evicted = this.#groups.shift();
    if (!evicted) return;
    this.#since = Math.max(this.#since, evicted.time);
    for (const [key, group] of this.#open) if (group === evicted) this.#open.delete(key);
  }
}

function showGroup({ key, kind, changes, count, time, places }: Group, network: PageNetwork): ChangeGroup {
  const [place] = places;
  const of = place === undefined ? "" : ` of ${deviceNameById(network, place)}`;
  const orMore = count < MAX_COUNTED ? "" : "at least ";
  return {
    key,
    changes: [...changes],
    count,
    time,
    title: `${orMore}${formatCount(count, NOUNS[kind])}${of}`,
  };
}

type Tone = "good" | "bad" | "plain";

/** A change as a short text: the entity, what happened to it, and whether that is good or bad. */
export interface ChangeText {
  /** The entity that a click on the change opens: the changed entity, or the device of a changed port. */
  readonly ref: EntityRef;
  /** The devices that the change concerns: both ends of a link, the device of a port or host, none for a device. */
  readonly places: readonly string[];
  /** The key of the changed entity. Both directions of a cable have the same key, so that they are shown as one change. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  /** The text for several entities with the same change. */
  readonly many: string;
  readonly tone: Tone;
  readonly sign: "+" | "−" | "~";
}

interface ChangeFields {
  readonly event: "added" | "updated" | "removed";
  readonly changed?: readonly string[];
}
export type ShownChange = NetworkEntity & ChangeFields;
/** The page's network has no ports; their changes are only shown. */
type ShownPortChange = { readonly resource: "ports"; readonly value: Port } & ChangeFields;

const SIGNS = { added: "+", removed: "−", updated: "~" } as const;

export function describeChange(network: PageNetwork, change: ShownChange | ShownPortChange): ChangeText {
  const { event, resource, value } = change;
  const changed = change.changed ?? [];
  const sign = SIGNS[event];
  const ref = (id: string): Pick<ChangeText, "ref" | "sign" | "subject"> => ({
    ref: { kind: resource === "ports" ? "devices" : resource, id },
    sign,
    subject: id,
  });
  switch (resource) {
    case "devices": {
      const title = deviceName(value);
      return { ...ref(value.id), places: [], title, ...describeDevice(value, event, changed) };
    }
    case "links": {
      const title = cableName(network, { from: value.src, to: value.dst });
      const places = [value.src.device, value.dst.device];
      const text = describeLink(value, event, changed);
      return { ...ref(value.id), subject: cableId(value), places, title, ...text };
    }
    case "hosts": {
      const title = hostName(value);
      const places = [value.location.elementId];
      return { ...ref(value.id), places, title, ...describeHost(network, value, event, changed) };
    }
    case "ports": {
      const { element, port } = value;
      const title = `${deviceNameById(network, element)} port ${port}`;
      const subject = `${element}/${port}`;
      return { ...ref(element), subject, places: [element], title, ...describePort(value, event, changed) };
    }
  }
}

type Description = Pick<ChangeText, "text" | "many" | "tone">;
const plain = (text: string, many = text): Description => ({ text, many, tone: "plain" });
const good = (text: string, many = text): Description => ({ text, many, tone: "good" });
const bad = (text: string, many = text): Description => ({ text, many, tone: "bad" });

/** The fields with the time of the last change of availability. If only these differ, the availability changed back. */
const AVAILABILITY_TIMES = ["lastUpdate", "humanReadableLastUpdate"];

function changedFields(changed: readonly string[]): string {
  if (changed.length > 0 && changed.every((field) => AVAILABILITY_TIMES.includes(field)))
    return "went down and came back";
  if (changed.length === 1 && changed[0] === "firstSeen") return "went away and came back";
  return `changed ${changed.join(", ") || "and changed back"}`;
}

function describeDevice(
  device: Device,
  event: ShownChange["event"],
  changed: readonly string[],
): Description {
  if (event === "added") return good("appeared");
  if (event === "removed") return bad("is gone", "are gone");
  if (changed.includes("available")) return device.available ? good("came up") : bad("went down");
  if (changed.includes("annotations") && device.annotations.conflict)
    return bad("has contradictory reports", "have contradictory reports");
  return plain(changedFields(changed));
}

function describePort(port: Port, event: ShownChange["event"], changed: readonly string[]): Description {
  if (event === "added") return plain("appeared");
  if (event === "removed") return plain("is gone", "are gone");
  if (changed.includes("isEnabled")) return port.isEnabled ? good("came up") : bad("went down");
  return plain(changedFields(changed));
}

function describeLink(link: Link, event: ShownChange["event"], changed: readonly string[]): Description {
  const active = link.state === "ACTIVE";
  if (event === "added")
    return active ? good("cable appeared", "appeared") : plain("cable appeared, down", "appeared, down");
  if (event === "removed") return bad("cable is gone", "are gone");
  if (changed.includes("state"))
    return active ? good("cable came up", "came up") : bad("cable went down", "went down");
  if (changed.includes("verified"))
    return link.verified
      ? good("cable is verified now", "are verified now")
      : bad("cable no longer verified", "are no longer verified");
  return plain(`cable ${changedFields(changed)}`, changedFields(changed));
}

function describeHost(
  network: PageNetwork,
  host: Host,
  event: ShownChange["event"],
  changed: readonly string[],
): Description {
  const location = `${deviceNameById(network, host.location.elementId)} port ${host.location.port}`;
  if (event === "added") return plain(`seen on ${location}`, "were seen");
  if (event === "removed") return plain(`no longer seen on ${location}`, "are no longer seen");
  if (changed.includes("locations") || changed.includes("location"))
    return plain(`moved to ${location}`, "moved there");
  if (changed.includes("ipAddresses"))
    return plain(`has address ${host.ipAddresses.join(", ") || "none"}`, "have other addresses");
  return plain(changedFields(changed));
}
