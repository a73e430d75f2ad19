/**
 * The current state of the simulated network: the plan and the deviations from it (devices that are down, cables that are cut,
 * hosts that are absent, moved or renumbered). Claims are created on demand and hosts are computed, so memory does not grow
 * with the number of hosts.
 *
 * Each method that changes the state returns the changes to claim. At any time `claims()` equals the first claims with
 * all changes since applied.
 */
import type { ClaimChange, Claims, DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { hostId } from "../../model/ids.ts";
import { portCount } from "./equipment.ts";
import { createInventory, type DemoInventory } from "./inventory.ts";
import {
  type AttachmentPoint,
  createHostPlan,
  createPlan,
  type HostPlan,
  type NetworkPlan,
} from "./network-plan.ts";
import type { DemoOptions } from "./options.ts";

export function createDemoNetwork({
  devices,
  hosts,
  seed,
}: Required<Omit<DemoOptions, "churn">>): DemoNetwork {
  const plan = createPlan(devices);
  return new DemoNetwork(
    plan,
    createHostPlan(plan, hosts, seed),
    createInventory(plan, seed),
    createPortUsage(plan),
  );
}

/** The use of the ports of one device. */
interface PortUsage {
  /** The number of the cable at each port. */
  readonly cables: Map<number, number>;
  hosts: { readonly firstPort: number; readonly lastPort: number } | undefined;
}

export class DemoNetwork {
  readonly plan: NetworkPlan;
  readonly hosts: HostPlan;
  readonly #inventory: DemoInventory;
  readonly #portUsage: readonly PortUsage[];
  readonly #downDevices = new Set<number>();
  readonly #cutCables = new Set<number>();
  readonly #absentHosts = new Set<number>();
  readonly #movedHosts = new Map<number, AttachmentPoint>();
  readonly #renumberedHosts = new Set<number>();

  constructor(plan: NetworkPlan, hosts: HostPlan, inventory: DemoInventory, portUsage: readonly PortUsage[]) {
    this.plan = plan;
    this.hosts = hosts;
    this.#inventory = inventory;
    this.#portUsage = portUsage;
  }

  claims(): Claims {
    return {
      devices: { [Symbol.iterator]: () => this.#devices() },
      ports: { [Symbol.iterator]: () => this.#ports() },
      links: { [Symbol.iterator]: () => this.#links() },
      hosts: { [Symbol.iterator]: () => this.#hosts() },
    };
  }

  // These are the deviations from the plan, oldest first.
  get downDevices(): ReadonlySet<number> {
    return this.#downDevices;
  }
  get cutCables(): ReadonlySet<number> {
    return this.#cutCables;
  }
  get absentHosts(): ReadonlySet<number> {
    return this.#absentHosts;
  }
  get movedHosts(): ReadonlyMap<number, AttachmentPoint> {
    return this.#movedHosts;
  }
  get renumberedHosts(): ReadonlySet<number> {
    return this.#renumberedHosts;
  }

  attachmentOf(host: number): AttachmentPoint {
    return this.#movedHosts.get(host) ?? this.hosts.home(host);
  }

  setDevice(device: number, up: boolean): ClaimChange[] {
    if (up) this.#downDevices.delete(device);
    else this.#downDevices.add(device);
    const changes: ClaimChange[] = [
      { op: "set", kind: "devices", claim: this.#inventory.device(device, up) },
    ];
    for (const cable of this.#portUsage[device]?.cables.values() ?? [])
      changes.push(...this.#cableChanges(cable));
    return changes;
  }

  setCable(cable: number, up: boolean): ClaimChange[] {
    if (up) this.#cutCables.delete(cable);
    else this.#cutCables.add(cable);
    return this.#cableChanges(cable);
  }

  /** Adds or removes a host. A host that returns is at its home port, with its first address. */
  setHost(host: number, present: boolean): ClaimChange[] {
    if (present) {
      this.#absentHosts.delete(host);
      return [this.#hostChange(host)];
    }
    const { mac, vlan } = this.hosts.identity(host, false);
    this.#absentHosts.add(host);
    this.#movedHosts.delete(host);
    this.#renumberedHosts.delete(host);
    return [{ op: "remove", kind: "hosts", id: hostId(mac, vlan) }];
  }

  /** Moves a host; back to its home port if `attachment` is undefined. */
  moveHost(host: number, attachment: AttachmentPoint | undefined): ClaimChange[] {
    if (attachment) this.#movedHosts.set(host, attachment);
    else this.#movedHosts.delete(host);
    return [this.#hostChange(host)];
  }

  changeAddress(host: number): ClaimChange[] {
    if (!this.#renumberedHosts.delete(host)) this.#renumberedHosts.add(host);
    return [this.#hostChange(host)];
  }

  *#devices(): Generator<DeviceClaim> {
    for (const device of this.plan.devices.keys()) {
      yield this.#inventory.device(device, !this.#downDevices.has(device));
    }
  }

  *#ports(): Generator<PortClaim> {
    for (const [device, { layer }] of this.plan.devices.entries()) {
      const portUsage = this.#portUsage[device];
      for (let port = 1; port <= portCount(layer); port++) {
        const cable = portUsage?.cables.get(port);
        const forHosts =
          portUsage?.hosts && port >= portUsage.hosts.firstPort && port <= portUsage.hosts.lastPort;
        // A trunk port without a cable is disabled.
        yield this.#inventory.port(device, port, cable === undefined ? forHosts === true : this.#isUp(cable));
      }
    }
  }

  *#links(): Generator<LinkClaim> {
    for (const [index, cable] of this.plan.cables.entries()) {
      yield this.#inventory.link(cable, "forward", this.#isUp(index));
      yield this.#inventory.link(cable, "reverse", this.#isUp(index));
    }
  }

  *#hosts(): Generator<HostClaim> {
    for (let host = 0; host < this.hosts.count; host++) {
      if (!this.#absentHosts.has(host)) yield this.#host(host);
    }
  }

  #isUp(cable: number): boolean {
    const ends = this.plan.cables[cable];
    return (
      !!ends &&
      !this.#cutCables.has(cable) &&
      !this.#downDevices.has(ends.a) &&
      !this.#downDevices.has(ends.b)
    );
  }

  #host(host: number): HostClaim {
    return this.#inventory.host(
      this.hosts.identity(host, this.#renumberedHosts.has(host)),
      this.attachmentOf(host),
    );
  }

  #hostChange(host: number): ClaimChange {
    return { op: "set", kind: "hosts", claim: this.#host(host) };
  }

  #cableChanges(index: number): ClaimChange[] {
    const cable = this.plan.cables[index];
    if (!cable) return [];
    const up = this.#isUp(index);
    return [
      { op: "set", kind: "links", claim: this.#inventory.link(cable, "forward", up) },
      { op: "set", kind: "links", claim: this.#inventory.link(cable, "reverse", up) },
      { op: "set", kind: "ports", claim: this.#inventory.port(cable.a, cable.aPort, up) },
      { op: "set", kind: "ports", claim: this.#inventory.port(cable.b, cable.bPort, up) },
    ];
  }
}

function createPortUsage({ devices, cables, edges }: NetworkPlan): PortUsage[] {
  const sockets: PortUsage[] = devices.map(() => ({ cables: new Map(), hosts: undefined }));
  for (const [index, { a, aPort, b, bPort }] of cables.entries()) {
    sockets[a]?.cables.set(aPort, index);
    sockets[b]?.cables.set(bPort, index);
  }
  for (const edge of edges) {
    const at = sockets[edge.device];
    if (at) at.hosts = edge;
  }
  return sockets;
}
