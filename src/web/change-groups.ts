/**
 * The recent changes, grouped: the same change of many ports, links or hosts of one device within a short time is one
 * group ("14 ports of leaf-3 went down"). A group keeps a few of its changes and the number of all, and the number of groups
 * is bounded, so that any rate of changes fits. Where groups must go, those that are no fault go first: a flood of moving
 * hosts does not push out the device that went down.
 */
import { type ChangeText, describeChange, type EntityChange, type PortChange } from "./change-text.ts";
import { deviceNameById, formatCount } from "./names.ts";
import type { Network } from "./network.ts";

export type RecentChange = (EntityChange | PortChange) & { readonly revision: number; readonly time: number };

export interface ChangeGroup {
  readonly key: string;
  /** The newest ones, at most `MAX_LISTED`. */
  readonly changes: readonly (ChangeText & { readonly time: number })[];
  /** The number of different entities. */
  readonly count: number;
  /** What changed, for a group of several: `14 ports of leaf-3`. */
  readonly title: string;
  /** Epoch milliseconds of the newest change. */
  readonly time: number;
}

/** A change joins a group whose last change is not older than this. */
const GROUP_MS = 60_000;
const MAX_GROUPS = 200;
const MAX_LISTED = 50;
/** Beyond this number, an entity that changes again is counted again. */
const MAX_SUBJECTS = 10_000;

interface OpenGroup {
  readonly key: string;
  readonly kind: RecentChange["resource"];
  readonly changes: (ChangeText & { readonly time: number })[];
  readonly subjects: Set<string>;
  count: number;
  time: number;
  /** The devices that all changes of the group concern; empty for devices themselves. */
  places: readonly string[];
  /** Made when it is shown; undefined after a change. */
  shown: ChangeGroup | undefined;
}

const NOUNS = {
  devices: ["device", "devices"],
  links: ["link", "links"],
  hosts: ["host", "hosts"],
  ports: ["port", "ports"],
} as const;

export class ChangeGroups {
  /** Oldest first. */
  #groups: OpenGroup[] = [];
  /** By kind, text of several, and place. */
  readonly #open = new Map<string, OpenGroup>();
  #made = 0;

  /** Newest first. */
  list(network: Network): ChangeGroup[] {
    return this.#groups.toReversed().map((group) => {
      group.shown ??= showGroup(group, network);
      return group.shown;
    });
  }

  /** Oldest first; none older than those before. */
  add(network: Network, changes: Iterable<RecentChange>): void {
    for (const change of changes) this.#add(change, describeChange(network, change));
    if (this.#groups.length > MAX_GROUPS) this.#evict();
  }

  #add({ resource, time }: RecentChange, text: ChangeText): void {
    const keysOf = (places: readonly string[]) =>
      (places.length === 0 ? [""] : places).map((place) => JSON.stringify([resource, text.many, place]));
    const candidates = keysOf(text.places)
      .map((key) => this.#open.get(key))
      .filter((group) => group !== undefined && time - group.time <= GROUP_MS);
    // Of the two devices of a link, the one with more changes is what failed.
    const group = candidates.sort((p, q) => (q?.count ?? 0) - (p?.count ?? 0))[0];
    if (!group) {
      const made: OpenGroup = {
        key: String(++this.#made),
        kind: resource,
        changes: [{ ...text, time }],
        subjects: new Set([text.subject]),
        count: 1,
        time,
        places: text.places,
        shown: undefined,
      };
      for (const key of keysOf(text.places)) this.#open.set(key, made);
      this.#groups.push(made);
      return;
    }
    group.time = time;
    group.shown = undefined;
    if (!group.subjects.has(text.subject)) {
      group.count++;
      if (group.subjects.size < MAX_SUBJECTS) group.subjects.add(text.subject);
      const common = group.places.filter((place) => text.places.includes(place));
      const [former, places] = [group.places, common];
      for (const key of keysOf(former.filter((place) => !places.includes(place))))
        if (this.#open.get(key) === group && former.length > 0) this.#open.delete(key);
      group.places = places;
      group.changes.unshift({ ...text, time });
      if (group.changes.length > MAX_LISTED) group.changes.pop();
    }
    // The group with the newest change is the last one.
    this.#groups.splice(this.#groups.lastIndexOf(group), 1);
    this.#groups.push(group);
  }

  #evict(): void {
    const excess = this.#groups.length - MAX_GROUPS;
    const isFault = ({ changes }: OpenGroup) => changes[0]?.tone === "bad";
    const order = [...this.#groups.filter((group) => !isFault(group)), ...this.#groups.filter(isFault)];
    const removed = new Set(order.slice(0, excess));
    this.#groups = this.#groups.filter((group) => !removed.has(group));
    for (const [key, group] of this.#open) if (removed.has(group)) this.#open.delete(key);
  }
}

function showGroup({ key, kind, changes, count, time, places }: OpenGroup, network: Network): ChangeGroup {
  const [one, many] = NOUNS[kind];
  const [place] = places;
  const of = place === undefined ? "" : ` of ${deviceNameById(network, place)}`;
  return { key, changes: [...changes], count, time, title: `${formatCount(count, one, many)}${of}` };
}
