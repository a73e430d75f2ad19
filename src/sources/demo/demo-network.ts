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
import { hash32 } from "./demo-random.ts";
import { type Model, portCount, portRange, SPECS } from "./equipment.ts";
import {
  type AttachmentPoint,
  createHostPlan,
  createPlan,
  type EdgeDevice,
  type HostPlan,
  type NetworkPlan,
  type PlannedCable,
  type PlannedDevice,
} from "./network-plan.ts";
import type { DemoOptions } from "./options.ts";

export function createDemoNetwork({ devices, hosts, seed }: Omit<DemoOptions, "churn">): DemoNetwork {
  const plan = createPlan(devices);
  return new DemoNetwork(plan, createHostPlan(plan, hosts, seed), seed);
}

export class DemoNetwork {
  readonly plan: NetworkPlan;
  readonly hosts: HostPlan;
  readonly #seed: number;
  readonly #ids: readonly string[];
  /** The number of the cable at each port, by device. */
  readonly #cablesOf: readonly Map<number, number>[];
  readonly #edgeOf: ReadonlyMap<number, EdgeDevice>;
  // These are the deviations from the plan, oldest first. Others only read them.
  readonly downDevices = new Set<number>();
  readonly cutCables = new Set<number>();
  readonly absentHosts = new Set<number>();
  readonly movedHosts = new Map<number, AttachmentPoint>();
  readonly renumberedHosts = new Set<number>();

  constructor(plan: NetworkPlan, hosts: HostPlan, seed: number) {
    this.plan = plan;
    this.hosts = hosts;
    this.#seed = seed;
    this.#ids = plan.devices.map(deviceId);
    this.#cablesOf = plan.devices.map(() => new Map());
    for (const [index, { a, aPort, b, bPort }] of plan.cables.entries()) {
      this.#cablesOf[a]?.set(aPort, index);
      this.#cablesOf[b]?.set(bPort, index);
    }
    this.#edgeOf = new Map(plan.edges.map((edge) => [edge.device, edge]));
  }

  claims(): Claims {
    return {
      devices: { [Symbol.iterator]: () => this.#devices() },
      ports: { [Symbol.iterator]: () => this.#ports() },
      links: { [Symbol.iterator]: () => this.#links() },
      hosts: { [Symbol.iterator]: () => this.#hosts() },
    };
  }

  attachmentOf(host: number): AttachmentPoint {
    return this.movedHosts.get(host) ?? this.hosts.home(host);
  }

  setDevice(device: number, up: boolean): ClaimChange[] {
    if (up) this.downDevices.delete(device);
    else this.downDevices.add(device);
    const cables = [...(this.#cablesOf[device]?.values() ?? [])];
    return [
      { op: "set", kind: "devices", claim: this.#device(device) },
      ...cables.flatMap((cable) => this.#cableChanges(cable)),
    ];
  }

  setCable(cable: number, up: boolean): ClaimChange[] {
    if (up) this.cutCables.delete(cable);
    else this.cutCables.add(cable);
    return this.#cableChanges(cable);
  }

  /** Adds or removes a host. A host that returns is at its home port, with its first address. */
  setHost(host: number, present: boolean): ClaimChange[] {
    if (present) {
      this.absentHosts.delete(host);
      return [this.#hostChange(host)];
    }
    const { mac, vlan } = this.hosts.identity(host, false);
    this.absentHosts.add(host);
    this.movedHosts.delete(host);
    this.renumberedHosts.delete(host);
    return [{ op: "remove", kind: "hosts", id: hostId(mac, vlan) }];
  }

  /** Moves a host; back to its home port if `attachment` is undefined. */
  moveHost(host: number, attachment: AttachmentPoint | undefined): ClaimChange[] {
    if (attachment) this.movedHosts.set(host, attachment);
    else this.movedHosts.delete(host);
    return [this.#hostChange(host)];
  }

  changeAddress(host: number): ClaimChange[] {
    if (!this.renumberedHosts.delete(host)) this.renumberedHosts.add(host);
    return [this.#hostChange(host)];
  }

  *#devices(): Generator<DeviceClaim> {
    for (const device of this.plan.devices.keys()) yield this.#device(device);
  }

  *#ports(): Generator<PortClaim> {
    for (const [device, { layer }] of this.plan.devices.entries()) {
      const { firstPort, lastPort } = this.#edgeOf.get(device) ?? { firstPort: 1, lastPort: 0 };
      for (let port = 1; port <= portCount(layer); port++) {
        const cable = this.#cablesOf[device]?.get(port);
        const isForHosts = port >= firstPort && port <= lastPort;
        // A trunk port without a cable is disabled.
        yield this.#port(device, port, cable === undefined ? isForHosts : this.#isUp(cable));
      }
    }
  }

  *#links(): Generator<LinkClaim> {
    for (const [index, cable] of this.plan.cables.entries()) yield* this.#linksOf(cable, this.#isUp(index));
  }

  *#hosts(): Generator<HostClaim> {
    for (let host = 0; host < this.hosts.count; host++)
      if (!this.absentHosts.has(host)) yield this.#host(host);
  }

  #isUp(cable: number): boolean {
    const ends = this.plan.cables[cable];
    if (!ends || this.cutCables.has(cable)) return false;
    return !this.downDevices.has(ends.a) && !this.downDevices.has(ends.b);
  }

  #hostChange(host: number): ClaimChange {
    return { op: "set", kind: "hosts", claim: this.#host(host) };
  }

  #cableChanges(index: number): ClaimChange[] {
    const cable = this.plan.cables[index];
    if (!cable) return [];
    const up = this.#isUp(index);
    const ports = [this.#port(cable.a, cable.aPort, up), this.#port(cable.b, cable.bPort, up)];
    return [
      ...this.#linksOf(cable, up).map((claim) => ({ op: "set", kind: "links", claim }) as const),
      ...ports.map((claim) => ({ op: "set", kind: "ports", claim }) as const),
    ];
  }

  // The claims of planned entities are functions of the number in the plan and of whether the entity is up.

  #device(device: number): DeviceClaim {
    const planned = this.#planned(device);
    const { layer, ordinal } = planned;
    const spec = SPECS[layer];
    const up = !this.downDevices.has(device);
    const [, mfr, hw, software, driver, serialPrefix] = this.#modelOf(planned);
    const chance = hash32(this.#seed, device, 3);
    const site = this.plan.sites[planned.site];
    const address = managementAddress(device);
    return {
      id: this.#ids[device] ?? "",
      type: spec.type,
      available: up,
      role: up ? "MASTER" : "NONE",
      mfr,
      hw,
      sw: software[chance % software.length] ?? software[0],
      serial: serialPrefix + (chance.toString(36) + device.toString(36)).toUpperCase().padStart(10, "0"),
      driver,
      chassisId: (device + 1).toString(16),
      annotations: {
        name: `${site?.code}-${spec.short}${ordinal}`,
        layer,
        site: site?.code ?? "",
        managementAddress: address,
        // A switch connects to the controller from an ephemeral port; a router listens on the NETCONF port.
        channelId: `${address}:${spec.protocol === "NETCONF" ? 830 : 32_768 + (chance % 28_000)}`,
        protocol: spec.protocol,
        ...(layer === "core" &&
          site && {
            city: site.city,
            latitude: site.latitude.toFixed(4),
            // The second router of a site is in the next building.
            longitude: (site.longitude + (ordinal - 1) * 0.02).toFixed(4),
          }),
      },
    };
  }

  #port(device: number, port: number, up: boolean): PortClaim {
    const planned = this.#planned(device);
    const [portName] = this.#modelOf(planned);
    const { speed, type } = portRange(planned.layer, port);
    return {
      element: this.#ids[device] ?? "",
      port: String(port),
      isEnabled: up,
      type,
      portSpeed: speed,
      annotations: { portName: portName(port) },
    };
  }

  /** The links of both directions. */
  #linksOf({ a, aPort, b, bPort, km }: PlannedCable, up: boolean): LinkClaim[] {
    const ends = [
      { port: String(aPort), device: this.#ids[a] ?? "" },
      { port: String(bPort), device: this.#ids[b] ?? "" },
    ] as const;
    return [ends, ends.toReversed()].map(([src = ends[0], dst = ends[1]]) => ({
      src,
      dst,
      type: "DIRECT",
      state: up ? "ACTIVE" : "INACTIVE",
      verified: true,
      // Light in fibre takes about 5 µs per kilometre.
      ...(km !== undefined && {
        annotations: { lengthKm: String(km), latencyMs: (km * 0.005).toFixed(2) },
      }),
    }));
  }

  #host(host: number): HostClaim {
    const { mac, vlan, v4, v6, name } = this.hosts.identity(host, this.renumberedHosts.has(host));
    const { edge, port } = this.attachmentOf(host);
    return {
      mac,
      vlan,
      ipAddresses: v6 === undefined ? [v4] : [v4, v6],
      locations: [{ elementId: this.#ids[this.plan.edges[edge]?.device ?? 0] ?? "", port: String(port) }],
      annotations: { name },
    };
  }

  /** All devices of one layer at one site have the same model. */
  #modelOf({ layer, site }: PlannedDevice): Model {
    const { models } = SPECS[layer];
    return models[hash32(this.#seed, site, 4) % models.length] ?? models[0];
  }

  #planned(device: number): PlannedDevice {
    const found = this.plan.devices[device];
    if (!found) throw new RangeError(`the plan has no device ${device}`);
    return found;
  }
}

/** An address from a block that is outside the subnets of the hosts. */
const managementAddress = (device: number): string =>
  `10.254.${Math.floor(device / 254)}.${1 + (device % 254)}`;

const deviceId = ({ layer }: PlannedDevice, device: number): string =>
  SPECS[layer].protocol === "NETCONF"
    ? `netconf:${managementAddress(device)}:830`
    : `of:${(device + 1).toString(16).padStart(16, "0")}`;
