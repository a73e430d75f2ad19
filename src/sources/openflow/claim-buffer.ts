/**
 * What this source claims, and what of it the sink has not heard yet. What happens after a pause is said at once, and of
 * that first what ended: whoever sends traffic by a link must hear that it is gone before anybody hears why. What follows
 * close upon it goes in batches: all that happened in one turn of the event loop, or while the sink was busy.
 * A thing that changed twice meanwhile is said once, as it is now, so what waits is never more than what exists.
 */
import type { Clock } from "../../lib/clock.ts";
import type { ClaimChange, Claims, DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { hostId, type Kind, linkId, portId } from "../../model/ids.ts";
import type { ClaimSink } from "../source.ts";

/** From so many changes in one batch on, more are on their way, and waiting for them spares a batch for each few. */
const MANY = 32;
const BREATH_MS = 5;
/** Silence after which the next change is taken for one that stands alone. */
const PAUSE_MS = 2;

export class ClaimBook {
  readonly #devices = new Map<string, DeviceClaim>();
  readonly #ports = new Map<string, PortClaim>();
  readonly #portsOf = new Map<string, Set<string>>();
  readonly #links = new Map<string, LinkClaim>();
  readonly #hosts = new Map<string, HostClaim>();
  #unsaid = new Map<string, ClaimChange>();
  #wake: (() => void) | undefined;

  all(): Claims {
    return {
      devices: this.#devices.values(),
      ports: this.#ports.values(),
      links: this.#links.values(),
      hosts: this.#hosts.values(),
    };
  }

  device(id: string): DeviceClaim | undefined {
    return this.#devices.get(id);
  }

  setDevice(claim: DeviceClaim): void {
    this.#devices.set(claim.id, claim);
    this.#say(claim.id, { op: "set", kind: "devices", claim });
  }

  setPort(claim: PortClaim): void {
    const id = portId(claim.element, String(claim.port));
    this.#ports.set(id, claim);
    this.#portsOf.set(claim.element, (this.#portsOf.get(claim.element) ?? new Set<string>()).add(id));
    this.#say(id, { op: "set", kind: "ports", claim });
  }

  setLink(claim: LinkClaim): void {
    const end = ({ device, port }: LinkClaim["src"]) => ({ device, port: String(port) });
    const id = linkId(end(claim.src), end(claim.dst));
    this.#links.set(id, claim);
    this.#say(id, { op: "set", kind: "links", claim });
  }

  setHost(claim: HostClaim): void {
    const id = hostId(claim.mac, String(claim.vlan ?? "None"));
    this.#hosts.set(id, claim);
    this.#say(id, { op: "set", kind: "hosts", claim });
  }

  /** Takes away the ports of a device but those to keep. */
  removePorts(device: string, keep: ReadonlySet<string> = new Set()): void {
    for (const id of this.#portsOf.get(device) ?? []) if (!keep.has(id)) this.remove("ports", id);
  }

  remove(kind: Kind, id: string): void {
    const there = { devices: this.#devices, ports: this.#ports, links: this.#links, hosts: this.#hosts }[
      kind
    ];
    if (kind === "ports") this.#portsOf.get(this.#ports.get(id)?.element ?? "")?.delete(id);
    if (there.delete(id)) this.#say(id, { op: "remove", kind, id });
  }

  #say(id: string, change: ClaimChange): void {
    const key = `${change.kind} ${id}`;
    // Said anew goes to the end: the order in which things happened is the order in which they are told.
    this.#unsaid.delete(key);
    this.#unsaid.set(key, change);
    this.#wake?.();
  }

  /** Takes over what was claimed before, as if it had been said here. */
  load(earlier: Claims): void {
    for (const claim of earlier.devices ?? []) this.setDevice(claim);
    for (const claim of earlier.ports ?? []) this.setPort(claim);
    for (const claim of earlier.links ?? []) this.setLink(claim);
    for (const claim of earlier.hosts ?? []) this.setHost(claim);
  }

  /** From here on all is known to the sink. */
  async replace(sink: ClaimSink): Promise<void> {
    this.#unsaid = new Map();
    await sink.replace(this.all());
  }

  /** Says changes as they come, until the signal aborts: one at once, many in batches with a short breath between. */
  async tell(sink: ClaimSink, clock: Clock, signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    let saidAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (this.#unsaid.size === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
      if (clock.now() - saidAt < PAUSE_MS) {
        // Whatever else this turn of the event loop brings belongs to the same batch.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (signal.aborted) break;
      const changes = [...this.#unsaid.values()];
      this.#unsaid = new Map();
      await say(sink, changes);
      saidAt = clock.now();
      if (changes.length >= MANY) await clock.sleep(BREATH_MS, signal);
    }
    signal.removeEventListener("abort", wake);
  }
}

async function say(sink: ClaimSink, changes: readonly ClaimChange[]): Promise<void> {
  const ended = changes.length < MANY ? changes.filter(({ op }) => op === "remove") : [];
  if (ended.length === 0 || ended.length === changes.length) {
    if (changes.length > 0) await sink.apply(changes);
    return;
  }
  await sink.apply(ended);
  // Out to those who follow before anything else is worked on.
  await new Promise<void>((resolve) => setImmediate(resolve));
  await sink.apply(changes.filter(({ op }) => op !== "remove"));
}
