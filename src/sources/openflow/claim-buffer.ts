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
import { Multimap } from "../../lib/multimap.ts";
import type {
  Claim,
  ClaimChange,
  Claims,
  ClaimTypes,
  DeviceClaim,
  HostClaim,
  LinkClaim,
  PortClaim,
} from "../../model/claim.ts";
import { hostId, type Kind, linkId, portId } from "../../model/ids.ts";
import type { ClaimSink } from "../source.ts";

/** After a batch of this size many more changes are expected. A pause after it collects them into fewer batches. */
const LARGE_BATCH = 32;
const LARGE_BATCH_PAUSE_MS = 5;
const MAX_BATCH = 2048;
/** After a pause this long the next change is sent at once. */
const QUIET_MS = 2;

export class ClaimBuffer {
  readonly #claims: { readonly [K in Kind]: Map<string, ClaimTypes[K]> } = {
    devices: new Map(),
    ports: new Map(),
    links: new Map(),
    hosts: new Map(),
  };
  readonly #portsOf = new Multimap<string, string>();
  readonly #pending = new FairQueue<ClaimChange>();
  #wake: (() => void) | undefined;

  all(): Claims {
    const { devices, ports, links, hosts } = this.#claims;
    return { devices: devices.values(), ports: ports.values(), links: links.values(), hosts: hosts.values() };
  }

  getDevice(id: string): DeviceClaim | undefined {
    return this.#claims.devices.get(id);
  }

  setDevice(claim: DeviceClaim): void {
    this.#claims.devices.set(claim.id, claim);
    this.#queue(claim, claim.id, { op: "set", kind: "devices", claim });
  }

  setPort(claim: PortClaim): void {
    const id = portId(claim.element, String(claim.port));
    this.#claims.ports.set(id, claim);
    this.#portsOf.add(claim.element, id);
    this.#queue(claim, id, { op: "set", kind: "ports", claim });
  }

  setLink(claim: LinkClaim): void {
    const connectPoint = ({ device, port }: LinkClaim["src"]) => ({ device, port: String(port) });
    const id = linkId(connectPoint(claim.src), connectPoint(claim.dst));
    this.#claims.links.set(id, claim);
    this.#queue(claim, id, { op: "set", kind: "links", claim });
  }

  setHost(claim: HostClaim): void {
    const id = hostId(claim.mac, String(claim.vlan ?? "None"));
    this.#claims.hosts.set(id, claim);
    this.#queue(claim, id, { op: "set", kind: "hosts", claim });
  }

  /** Removes the ports of a device except those in `keep`. */
  removePorts(device: string, keep: ReadonlySet<string> = new Set()): void {
    for (const id of this.#portsOf.of(device)) if (!keep.has(id)) this.remove("ports", id);
  }

  remove(kind: Kind, id: string): void {
    const claim = this.#claims[kind].get(id);
    if (!claim) return;
    this.#claims[kind].delete(id);
    if (kind === "ports") this.#portsOf.remove(deviceOf(claim), id);
    this.#queue(claim, id, { op: "remove", kind, id });
  }

  #queue(claim: Claim, id: string, change: ClaimChange): void {
    this.#pending.add(deviceOf(claim), `${change.kind} ${id}`, change);
    this.#wake?.();
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

/** Returns the device whose changes are queued together with those of the claim. */
function deviceOf(claim: Claim): string {
  if ("element" in claim) return claim.element;
  if ("dst" in claim) return claim.dst.device;
  return "locations" in claim ? (claim.locations[0]?.elementId ?? "") : claim.id;
}

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

/**
 * A queue in which owners take turns when not all items are taken at once. The items of one owner keep the order in which
 * they were added: an item that is added again replaces the earlier one and moves to the end.
 */
export class FairQueue<Item> {
  readonly #items = new Map<string, Queued<Item>>();
  /** The keys of each owner, the owner with the next turn first. */
  readonly #owners = new Multimap<string, string>();

  get size(): number {
    return this.#items.size;
  }

  add(owner: string, key: string, item: Item): void {
    this.#remove(key);
    this.#items.set(key, { owner, item });
    this.#owners.add(owner, key);
  }

  clear(): void {
    this.#items.clear();
    this.#owners.clear();
  }

  /** Removes and returns up to `count` items. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    if (this.#items.size <= count) {
      for (const { item } of this.#items.values()) taken.push(item);
      this.clear();
      return taken;
    }
    // The iteration continues with the owners that are appended during it.
    for (const [owner, keys] of this.#owners) {
      if (taken.length >= count) break;
      const end = Math.min(count, taken.length + ITEMS_PER_TURN);
      for (const key of keys) {
        if (taken.length >= end) break;
        const queued = this.#remove(key);
        if (queued) taken.push(queued.item);
      }
      // An owner with items left has its next turn after all others.
      if (this.#owners.delete(owner)) this.#owners.set(owner, keys);
    }
    return taken;
  }

  #remove(key: string): Queued<Item> | undefined {
    const queued = this.#items.get(key);
    if (!queued) return undefined;
    this.#items.delete(key);
    this.#owners.remove(queued.owner, key);
    return queued;
  }
}
