/**
 * The hosts of one moment that the page needs (those of opened devices, the selected one, ends of paths and conflicting
 * ones) and the number of hosts at each device. The page never loads all hosts. `sync.ts` opens, loads and closes groups;
 * the change stream keeps opened groups and counts up to date.
 */
import type { HostCounts, Query } from "../../client/client.ts";
import { Multimap } from "../../lib/multimap.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Host } from "../../model/entity.ts";

/** A subset of the hosts: the query that lists it, and the test that recognises its hosts in the change stream. */
export interface HostSelection {
  readonly key: string;
  readonly query: Query;
  includes(host: Host): boolean;
}

/** Maximum number of hosts of a group that are loaded. The table of hosts shows all. */
export const MAX_GROUP_HOSTS = 1000;

const isAt = (host: Host, device: string): boolean =>
  host.locations.some(({ elementId }) => elementId === device);

/** Escapes commas, which separate the values of a parameter. */
export const parameterValue = (id: string): string => id.replaceAll(",", "\\,");

export const hostsAtDevice = (device: string): HostSelection => ({
  key: `device ${device}`,
  query: { device: parameterValue(device), limit: MAX_GROUP_HOSTS },
  includes: (host) => isAt(host, device),
});

export const hostWithId = (id: string): HostSelection => ({
  key: `host ${id}`,
  query: { id: parameterValue(id) },
  includes: (host) => host.id === id,
});

export const CONFLICTING_HOSTS: HostSelection = {
  key: "conflicts",
  query: { conflict: true, limit: MAX_GROUP_HOSTS },
  includes: hasConflict,
};

interface StreamedHost {
  readonly event: "added" | "updated" | "removed";
  readonly value: Host;
  readonly revision: number;
  readonly changed?: readonly string[];
}

/** The difference of one host between two moments of the past. */
interface HostDifference {
  readonly event: "added" | "updated" | "removed";
  readonly value: Host;
  readonly before?: Host;
}

interface OpenedGroup {
  readonly group: HostSelection;
  state: "loading" | "complete" | "partial" | "failed";
  /** The reason why loading failed, as the service states it. */
  fault?: string;
  /** The changes that the stream sends while the group is being loaded. */
  readonly changes: StreamedHost[];
}

interface CountChange {
  readonly host: Host;
  readonly delta: 1 | -1;
  readonly revision: number;
}

/** Maximum number of changed hosts whose last value is kept although they are not opened. Tables show these values. */
const MAX_CHANGED_HOSTS = 2000;

const NO_COUNTS: HostCounts = { counts: {}, total: 0, revision: 0 };

export class Hosts {
  /** The hosts of all opened groups, by id. */
  readonly opened = new Map<string, Host>();
  /** The moment of a past network in the form of the `at` parameter; undefined for the live network. */
  at: string | undefined;
  /** A number that rises with every change. */
  version = 0;
  total: number;
  /** The newest revision that is known to be in the lists and counts. */
  revision: number;
  readonly #groups = new Map<string, OpenedGroup>();
  /** Changed hosts in order of their last change. */
  readonly #changed = new Map<string, Host>();
  readonly #openedAt = new Multimap<string, string>();
  #counts: Map<string, number>;
  #countsRevision: number;
  /** The revision of the last change that moved a host from an unknown location. */
  #staleRevision = 0;
  /** The changes of counts that the stream sends while the counts are loaded again. */
  #changesOfCounts: CountChange[] | undefined;

  constructor({ counts, total, revision }: HostCounts = NO_COUNTS, at?: string) {
    this.at = at;
    this.#counts = new Map(Object.entries(counts));
    this.total = total;
    this.revision = revision;
    this.#countsRevision = revision;
  }

  count(device: string): number {
    return this.#counts.get(device) ?? 0;
  }

  /** The newest known value of the host. */
  latest(host: Host): Host {
    const changed = this.#changed.get(host.id);
    return changed && changed.revision > host.revision ? changed : host;
  }

  /** The opened hosts at a device. */
  openedAt(device: string): Host[] {
    return [...this.#openedAt.of(device)].flatMap((id) => this.opened.get(id) ?? []);
  }

  /** Whether the counts must be loaded again, because a host moved from an unknown location. */
  get countsAreStale(): boolean {
    return this.#staleRevision > this.#countsRevision;
  }

  /**
   * Loads the counts again, at the newest known revision or later. Changes that the stream sent meanwhile and that the
   * counts do not contain are applied to them. Does nothing while the counts are being loaded.
   */
  async recount(load: (minRevision: number) => Promise<HostCounts>): Promise<void> {
    if (this.#changesOfCounts) return;
    this.#changesOfCounts = [];
    try {
      const { counts, total, revision } = await load(this.revision);
      const later = this.#changesOfCounts.filter((change) => change.revision > revision);
      this.#counts = new Map(Object.entries(counts));
      this.total = total;
      this.#countsRevision = revision;
      this.revision = Math.max(this.revision, revision);
      for (const { host, delta } of later) this.#addToCounts(host, delta);
      this.version++;
    } finally {
      this.#changesOfCounts = undefined;
    }
  }

  get groupKeys(): string[] {
    return [...this.#groups.keys()];
  }

  /** The state of a group. Undefined when the group is not open. */
  stateOf(key: string): OpenedGroup["state"] | undefined {
    return this.#groups.get(key)?.state;
  }

  /** The reason why the hosts of the group are not loaded; undefined unless loading failed. */
  faultOf(key: string): string | undefined {
    return this.#groups.get(key)?.fault;
  }

  /** Whether the page knows if there is such a host. */
  isKnown(id: string): boolean {
    const state = this.stateOf(hostWithId(id).key);
    return this.opened.has(id) || state === "complete" || state === "partial";
  }

  open(group: HostSelection): void {
    this.#groups.set(group.key, { group, state: "loading", changes: [] });
  }

  close(key: string): void {
    if (!this.#groups.delete(key)) return;
    for (const host of [...this.opened.values()]) if (!this.#isOpen(host)) this.#remove(host.id);
    this.version++;
  }

  /** Sets the hosts of a group as the service lists them. Changes that the stream sent meanwhile are applied again. */
  setLoaded(key: string, hosts: readonly Host[], isComplete: boolean): void {
    const opened = this.#groups.get(key);
    if (!opened) return;
    for (const host of hosts) if ((this.opened.get(host.id)?.revision ?? 0) <= host.revision) this.#set(host);
    for (const change of opened.changes) this.#applyToOpened(change);
    opened.changes.length = 0;
    opened.state = isComplete ? "complete" : "partial";
    this.version++;
  }

  /** Records that the service refused the list. The group is not loaded again until another moment is shown. */
  setFailed(key: string, fault: string): void {
    const opened = this.#groups.get(key);
    if (!opened) return;
    opened.state = "failed";
    opened.fault = fault;
    opened.changes.length = 0;
    this.version++;
  }

  /** Applies a change from the stream, which may repeat a change that a list already contains. */
  apply(change: StreamedHost): void {
    this.version++;
    this.revision = Math.max(this.revision, change.revision);
    if (change.revision > this.#countsRevision) this.#applyToCounts(change);
    this.#keepChanged(change.value);
    for (const { state, changes } of this.#groups.values()) if (state === "loading") changes.push(change);
    this.#applyToOpened(change);
  }

  /**
   * Moves to another moment of the past, later or earlier. The caller loads groups again that are being loaded. Failed
   * groups are closed, so that they are opened again.
   */
  moveTo(at: string, revision: number, differences: readonly HostDifference[]): void {
    this.at = at;
    this.revision = revision;
    this.#countsRevision = revision;
    this.#changed.clear();
    for (const { group, state } of [...this.#groups.values()]) if (state === "failed") this.close(group.key);
    if (differences.length > 0) this.version++;
    for (const { event, value, before } of differences) {
      if (event !== "added") this.#addToCounts(before ?? value, -1);
      if (event !== "removed") this.#addToCounts(value, 1);
      if (event === "removed" || !this.#isOpen(value)) this.#remove(value.id);
      else this.#set(value);
    }
  }

  #keepChanged(host: Host): void {
    this.#changed.delete(host.id);
    this.#changed.set(host.id, host);
    if (this.#changed.size <= MAX_CHANGED_HOSTS) return;
    for (const oldest of this.#changed.keys()) {
      this.#changed.delete(oldest);
      return;
    }
  }

  #applyToOpened({ event, value, revision }: StreamedHost): void {
    if ((this.opened.get(value.id)?.revision ?? 0) > revision) return;
    if (event === "removed" || !this.#isOpen(value)) this.#remove(value.id);
    else this.#set(value);
  }

  #applyToCounts({ event, value, changed, revision }: StreamedHost): void {
    const count = (host: Host, delta: 1 | -1) => {
      this.#addToCounts(host, delta);
      this.#changesOfCounts?.push({ host, delta, revision });
    };
    if (event === "added") count(value, 1);
    else if (event === "removed") count(value, -1);
    else if (changed?.includes("locations")) {
      const before = this.opened.get(value.id);
      // When a list already contains the move but the counts do not, the previous location of the host is unknown.
      if (!before || before.revision >= revision) this.#staleRevision = revision;
      else {
        count(before, -1);
        count(value, 1);
      }
    }
  }

  #addToCounts({ locations }: Host, delta: 1 | -1): void {
    this.total += delta;
    for (const device of new Set(locations.map(({ elementId }) => elementId)))
      this.#counts.set(device, Math.max(0, this.count(device) + delta));
  }

  #isOpen(host: Host): boolean {
    for (const { group } of this.#groups.values()) if (group.includes(host)) return true;
    return false;
  }

  #set(host: Host): void {
    this.#remove(host.id);
    this.opened.set(host.id, host);
    for (const { elementId } of host.locations) this.#openedAt.add(elementId, host.id);
  }

  #remove(id: string): void {
    for (const { elementId } of this.opened.get(id)?.locations ?? []) this.#openedAt.remove(elementId, id);
    this.opened.delete(id);
  }
}
