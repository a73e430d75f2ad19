/**
 * The hosts that the page needs, of one moment: those of opened devices, selected ones, ends of paths, conflicting ones; and
 * how many hosts there are at each device. The page never loads all hosts. A group is opened and closed by
 * `sync.ts`, which also loads it; the change stream keeps opened groups and counts up to date.
 */
import type { HostCounts, Query } from "../../client/client.ts";
import { hasConflict } from "../../model/conflict.ts";
import type { Host } from "../../model/entity.ts";

/** Some hosts, as the service lists them and as the page recognises them in the change stream. */
export interface HostSelection {
  readonly key: string;
  readonly query: Query;
  includes(host: Host): boolean;
}

/** More hosts of one group are not loaded. The table of hosts has all. */
export const MAX_GROUP_HOSTS = 1000;

const isAt = (host: Host, device: string): boolean =>
  host.locations.some(({ elementId }) => elementId === device);

/** A comma would separate two values. */
const parameterValue = (id: string): string => id.replaceAll(",", "\\,");

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

/** What differs in one host between two moments of the past. */
interface HostDifference {
  readonly event: "added" | "updated" | "removed";
  readonly value: Host;
  readonly before?: Host;
}

interface OpenedGroup {
  readonly group: HostSelection;
  state: "loading" | "complete" | "partial" | "failed";
  /** Why it failed, as the service states it. */
  fault?: string;
  /** What the stream changed while the group is loaded. */
  readonly changes: StreamedHost[];
}

interface CountChange {
  readonly host: Host;
  readonly delta: 1 | -1;
  readonly revision: number;
}

/** Changed hosts whose last value is kept, although they are not opened: for tables too long to be loaded again. */
const MAX_CHANGED_HOSTS = 2000;

const NO_COUNTS: HostCounts = { counts: {}, total: 0, revision: 0 };

export class Hosts {
  /** The hosts of all opened groups, by id. */
  readonly opened = new Map<string, Host>();
  /** The moment of a past network, as the interface takes it. */
  at: string | undefined;
  /** Rises with every change. */
  version = 0;
  total: number;
  /** The newest revision that is known to be in the lists and counts. */
  revision: number;
  readonly #groups = new Map<string, OpenedGroup>();
  /** Changed hosts in order of their last change. */
  readonly #changed = new Map<string, Host>();
  readonly #openedAt = new Map<string, Set<string>>();
  #counts: Map<string, number>;
  #countsRevision: number;
  /** The revision of the last host that moved from an unknown place. */
  #staleRevision = 0;
  /** What the stream changes while the counts are loaded again. */
  #changesOfCounts: CountChange[] | undefined;

  constructor({ counts, total, revision }: HostCounts = NO_COUNTS, at?: string) {
    this.at = at;
    this.#counts = new Map(Object.entries(counts));
    this.total = total;
    this.revision = revision;
    this.#countsRevision = revision;
  }

  /** All of these hosts, in one group that is never loaded. */
  static of(hosts: Iterable<Host>): Hosts {
    const all = new Hosts();
    all.open({ key: "all", query: {}, includes: () => true });
    all.setLoaded("all", [], true);
    for (const value of hosts) all.apply({ event: "added", value, revision: 1 });
    return all;
  }

  count(device: string): number {
    return this.#counts.get(device) ?? 0;
  }

  /** The same host as it is now, as far as its changes are known. */
  latest(host: Host): Host {
    const changed = this.#changed.get(host.id);
    return changed && changed.revision > host.revision ? changed : host;
  }

  /** The opened hosts at a device. */
  openedAt(device: string): Host[] {
    return [...(this.#openedAt.get(device) ?? [])].flatMap((id) => this.opened.get(id) ?? []);
  }

  /** Some hosts moved from an unknown place: the counts must be loaded again. */
  get countsAreStale(): boolean {
    return this.#staleRevision > this.#countsRevision;
  }

  /**
   * Loads the counts again, of at least the given revision. What the stream changed meanwhile and they do not contain is
   * applied to them. Does nothing while they are being loaded.
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

  /** Undefined when the group is not open. */
  stateOf(key: string): OpenedGroup["state"] | undefined {
    return this.#groups.get(key)?.state;
  }

  /** Why the hosts of the group are not there; undefined unless the service refused them. */
  faultOf(key: string): string | undefined {
    return this.#groups.get(key)?.fault;
  }

  /** Whether it is known if there is such a host. */
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

  /** The hosts of a group as the service lists them. What the stream changed meanwhile is applied again. */
  setLoaded(key: string, hosts: readonly Host[], isComplete: boolean): void {
    const opened = this.#groups.get(key);
    if (!opened) return;
    for (const host of hosts) if ((this.opened.get(host.id)?.revision ?? 0) <= host.revision) this.#set(host);
    for (const change of opened.changes) this.#applyToOpened(change);
    opened.changes.length = 0;
    opened.state = isComplete ? "complete" : "partial";
    this.version++;
  }

  /** The service refused the list: the group is not loaded again before another moment is shown. */
  setFailed(key: string, fault: string): void {
    const opened = this.#groups.get(key);
    if (!opened) return;
    opened.state = "failed";
    opened.fault = fault;
    opened.changes.length = 0;
    this.version++;
  }

  /** Applies a change of the stream, which may repeat what a list contains already. */
  apply(change: StreamedHost): void {
    this.version++;
    this.revision = Math.max(this.revision, change.revision);
    if (change.revision > this.#countsRevision) this.#applyToCounts(change);
    this.#keepChanged(change.value);
    for (const { state, changes } of this.#groups.values()) if (state === "loading") changes.push(change);
    this.#applyToOpened(change);
  }

  /**
   * Becomes the hosts of another moment of the past, later or earlier. What is being loaded is loaded again by its caller;
   * what failed is closed, so that it is opened again.
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
      // A list may contain the move already, and the counts not: where the host was before is not known then.
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
    for (const { elementId } of host.locations) {
      const ids = this.#openedAt.get(elementId);
      if (ids) ids.add(host.id);
      else this.#openedAt.set(elementId, new Set([host.id]));
    }
  }

  #remove(id: string): void {
    for (const { elementId } of this.opened.get(id)?.locations ?? [])
      this.#openedAt.get(elementId)?.delete(id);
    this.opened.delete(id);
  }
}
