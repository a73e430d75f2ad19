/**
 * The claims of this source, and the changes that the sink has not received yet.
 *
 * - A change after a quiet period is sent at once. Changes that follow closely are sent in batches: all changes of one
 *   turn of the event loop, or all changes that were queued while the sink was busy.
 * - The removals of a small batch are sent before its other changes, so that clients receive a failed link first.
 * - A claim that changed several times while it was queued is sent once, in its latest form, which bounds the queue.
 * - The size of a batch is limited, and devices take turns in it, so that thousands of changes of one device do not delay
 *   the changes of another.
 */
import type { Clock } from "../../lib/clock.ts";
import type { ClaimChange, Claims, DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { hostId, type Kind, linkId, portId } from "../../model/ids.ts";
import type { ClaimSink } from "../source.ts";

/** After a batch of this size many more changes are expected. A pause after it collects them into fewer batches. */
const LARGE_BATCH = 32;
const LARGE_BATCH_PAUSE_MS = 5;
const MAX_BATCH = 2048;
/** After a pause this long the next change is sent at once. */
const QUIET_MS = 2;

export class ClaimBuffer {
  readonly #devices = new Map<string, DeviceClaim>();
  readonly #ports = new Map<string, PortClaim>();
  readonly #portsOf = new Map<string, Set<string>>();
  readonly #links = new Map<string, LinkClaim>();
  readonly #hosts = new Map<string, HostClaim>();
  readonly #pending = new FairQueue<ClaimChange>();
  #wake: (() => void) | undefined;

  all(): Claims {
    return {
      devices: this.#devices.values(),
      ports: this.#ports.values(),
      links: this.#links.values(),
      hosts: this.#hosts.values(),
    };
  }

  getDevice(id: string): DeviceClaim | undefined {
    return this.#devices.get(id);
  }

  setDevice(claim: DeviceClaim): void {
    this.#devices.set(claim.id, claim);
    this.#queue(claim.id, claim.id, { op: "set", kind: "devices", claim });
  }

  setPort(claim: PortClaim): void {
    const id = portId(claim.element, String(claim.port));
    this.#ports.set(id, claim);
    this.#portsOf.set(claim.element, (this.#portsOf.get(claim.element) ?? new Set<string>()).add(id));
    this.#queue(claim.element, id, { op: "set", kind: "ports", claim });
  }

  setLink(claim: LinkClaim): void {
    const connectPoint = ({ device, port }: LinkClaim["src"]) => ({ device, port: String(port) });
    const id = linkId(connectPoint(claim.src), connectPoint(claim.dst));
    this.#links.set(id, claim);
    this.#queue(claim.dst.device, id, { op: "set", kind: "links", claim });
  }

  setHost(claim: HostClaim): void {
    const id = hostId(claim.mac, String(claim.vlan ?? "None"));
    this.#hosts.set(id, claim);
    this.#queue(deviceOfHost(claim), id, { op: "set", kind: "hosts", claim });
  }

  /** Removes the ports of a device except those in `keep`. */
  removePorts(device: string, keep: ReadonlySet<string> = new Set()): void {
    for (const id of this.#portsOf.get(device) ?? []) if (!keep.has(id)) this.remove("ports", id);
  }

  remove(kind: Kind, id: string): void {
    const device = this.#delete(kind, id);
    if (device !== undefined) this.#queue(device, id, { op: "remove", kind, id });
  }

  /** Returns the device that the deleted claim belonged to; undefined when there was no such claim. */
  #delete(kind: Kind, id: string): string | undefined {
    switch (kind) {
      case "devices":
        return this.#devices.delete(id) ? id : undefined;
      case "ports": {
        const element = this.#ports.get(id)?.element;
        const ports = this.#portsOf.get(element ?? "");
        ports?.delete(id);
        if (ports?.size === 0) this.#portsOf.delete(element ?? "");
        return this.#ports.delete(id) ? element : undefined;
      }
      case "links": {
        const device = this.#links.get(id)?.dst.device;
        return this.#links.delete(id) ? device : undefined;
      }
      case "hosts": {
        const claim = this.#hosts.get(id);
        return this.#hosts.delete(id) && claim ? deviceOfHost(claim) : undefined;
      }
    }
  }

  #queue(device: string, id: string, change: ClaimChange): void {
    this.#pending.add(device, `${change.kind} ${id}`, change);
    this.#wake?.();
  }

  /** Adds claims from before a restart. */
  load(previous: Claims): void {
    for (const claim of previous.devices ?? []) this.setDevice(claim);
    for (const claim of previous.ports ?? []) this.setPort(claim);
    for (const claim of previous.links ?? []) this.setLink(claim);
    for (const claim of previous.hosts ?? []) this.setHost(claim);
  }

  /** Sends all claims and empties the queue. */
  async sendAll(sink: ClaimSink): Promise<void> {
    this.#pending.clear();
    await sink.replace(this.all());
  }

  /** Sends changes as they are queued, until the signal aborts. */
  async sendChanges(sink: ClaimSink, clock: Clock, signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    let sentAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (this.#pending.size === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
      if (clock.now() - sentAt < QUIET_MS) {
        // All changes of this turn of the event loop go into the same batch.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (signal.aborted) break;
      const changes = this.#pending.take(MAX_BATCH);
      await sendBatch(sink, changes);
      sentAt = clock.now();
      if (changes.length >= LARGE_BATCH) await clock.sleep(LARGE_BATCH_PAUSE_MS, signal);
    }
    signal.removeEventListener("abort", wake);
  }
}

const deviceOfHost = ({ locations: [location] }: HostClaim): string => location?.elementId ?? "";

async function sendBatch(sink: ClaimSink, changes: readonly ClaimChange[]): Promise<void> {
  const removals = changes.length < LARGE_BATCH ? changes.filter(({ op }) => op === "remove") : [];
  if (removals.length === 0 || removals.length === changes.length) {
    if (changes.length > 0) await sink.apply(changes);
    return;
  }
  await sink.apply(removals);
  // Lets subscribers receive the removals before the other changes are processed.
  await new Promise<void>((resolve) => setImmediate(resolve));
  await sink.apply(changes.filter(({ op }) => op !== "remove"));
}

interface Queued<Item> {
  readonly owner: string;
  readonly item: Item;
}

/** Number of items of one owner that are taken before the next owner has its turn. */
const ITEMS_PER_TURN = 64;
const MAX_UNSORTED = 2048;

/**
 * A queue in which owners take turns. The items of one owner keep the order in which they were added: an item that is added
 * again replaces the earlier one and moves to the end. Turns matter only when not all items are taken at once, which is
 * rare, so the items are grouped by owner only when more than `MAX_UNSORTED` are queued, or when some are left over.
 */
export class FairQueue<Item> {
  readonly #items = new Map<string, Queued<Item>>();
  /** The keys of each owner, the owner with the next turn first. Undefined while the items are not grouped by owner. */
  #owners: Map<string, Set<string>> | undefined;

  get size(): number {
    return this.#items.size;
  }

  add(owner: string, key: string, item: Item): void {
    this.#delete(key);
    this.#items.set(key, { owner, item });
    if (this.#owners) sortIn(this.#owners, owner, key);
    else if (this.#items.size > MAX_UNSORTED) this.#sort();
  }

  clear(): void {
    this.#items.clear();
    this.#owners = undefined;
  }

  /** Removes and returns up to `count` items. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    if (this.#items.size <= count) {
      for (const { item } of this.#items.values()) taken.push(item);
      this.clear();
      return taken;
    }
    const owners = this.#owners ?? this.#sort();
    // The iteration continues with the owners that are appended during it.
    for (const [owner, keys] of owners) {
      if (taken.length >= count) break;
      this.#takeOf(keys, Math.min(ITEMS_PER_TURN, count - taken.length), taken);
      owners.delete(owner);
      if (keys.size > 0) owners.set(owner, keys);
    }
    return taken;
  }

  #takeOf(keys: Set<string>, count: number, taken: Item[]): void {
    let left = count;
    for (const key of keys) {
      if (left-- <= 0) return;
      const queued = this.#items.get(key);
      keys.delete(key);
      this.#items.delete(key);
      if (queued) taken.push(queued.item);
    }
  }

  #delete(key: string): void {
    if (!this.#owners) {
      this.#items.delete(key);
      return;
    }
    const queued = this.#items.get(key);
    if (!queued) return;
    this.#items.delete(key);
    const keys = this.#owners.get(queued.owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#owners.delete(queued.owner);
  }

  #sort(): Map<string, Set<string>> {
    const owners = new Map<string, Set<string>>();
    for (const [key, { owner }] of this.#items) sortIn(owners, owner, key);
    this.#owners = owners;
    return owners;
  }
}

function sortIn(owners: Map<string, Set<string>>, owner: string, key: string): void {
  const keys = owners.get(owner);
  if (keys) keys.add(key);
  else owners.set(owner, new Set([key]));
}
