/**
 * The simulated network as it is now: the plan, plus what deviates from it. Only deviations are kept (which devices
 * are down, which cables are cut, which hosts are away from home), so memory follows what happens, not the size of
 * the network, and claims are made when they are asked for.
 *
 * Each method that changes something answers the changes to be claimed. The claims of the whole network are always
 * exactly what its first claims and all changes since amount to.
 */
import type { ClaimChange, Claims, DeviceClaim, HostClaim, LinkClaim, PortClaim } from "../../model/claim.ts";
import { hostId } from "../../model/ids.ts";
import { type Layer, portCount, portRange, SPECS } from "./equipment.ts";
import { HostPlan } from "./host-plan.ts";
import type { DemoOptions } from "./options.ts";
import { type Cable, createPlan, type Plan } from "./plan.ts";
import { hash32 } from "./random.ts";

export interface Place {
  readonly edge: number;
  readonly port: number;
}

export class DemoNetwork {
  readonly plan: Plan;
  readonly hosts: HostPlan;
  readonly #seed: number;
  readonly #ids: readonly string[];
  /** The cables of each device, and by its port the one cable that is plugged in there. */
  readonly #cablesOf: readonly (readonly number[])[];
  readonly #down = new Set<number>();
  readonly #cut = new Set<number>();
  readonly #gone = new Set<number>();
  readonly #moved = new Map<number, Place>();
  readonly #secondLease = new Set<number>();

  constructor({ devices, hosts, seed }: Required<Omit<DemoOptions, "churn">>) {
    this.plan = createPlan(devices);
    this.hosts = new HostPlan(this.plan, hosts, seed);
    this.#seed = seed;
    this.#ids = this.plan.devices.map(({ layer }, device) => deviceId(layer, device));
    this.#cablesOf = cablesOf(this.plan);
  }

  claims(): Claims {
    return {
      devices: { [Symbol.iterator]: () => this.#devices() },
      ports: { [Symbol.iterator]: () => this.#ports() },
      links: { [Symbol.iterator]: () => this.#links() },
      hosts: { [Symbol.iterator]: () => this.#hosts() },
    };
  }

  isDown(device: number): boolean {
    return this.#down.has(device);
  }
  isCut(cable: number): boolean {
    return this.#cut.has(cable);
  }
  isGone(host: number): boolean {
    return this.#gone.has(host);
  }
  /** Those away from home, whoever has been away longest first. */
  get gone(): ReadonlySet<number> {
    return this.#gone;
  }
  get moved(): ReadonlyMap<number, Place> {
    return this.#moved;
  }

  placeOf(host: number): Place {
    const moved = this.#moved.get(host);
    if (moved) return moved;
    const edge = this.hosts.homeEdge(host);
    return { edge, port: this.hosts.homePort(host, edge) };
  }

  setDevice(device: number, up: boolean): ClaimChange[] {
    if (up) this.#down.delete(device);
    else this.#down.add(device);
    const changes: ClaimChange[] = [{ op: "set", kind: "devices", claim: this.#device(device) }];
    for (const cable of this.#cablesOf[device] ?? []) changes.push(...this.#cableChanges(cable));
    return changes;
  }

  setCable(cable: number, whole: boolean): ClaimChange[] {
    if (whole) this.#cut.delete(cable);
    else this.#cut.add(cable);
    return this.#cableChanges(cable);
  }

  /** A host that comes back comes back to its home, with its first address. */
  setHost(host: number, present: boolean): ClaimChange[] {
    if (present) {
      this.#gone.delete(host);
      return [this.#hostChange(host)];
    }
    const { mac, vlan } = this.#identity(host);
    this.#gone.add(host);
    this.#moved.delete(host);
    this.#secondLease.delete(host);
    return [{ op: "remove", kind: "hosts", id: hostId(mac, vlan) }];
  }

  /** Without a place: back home. */
  moveHost(host: number, place: Place | undefined): ClaimChange[] {
    if (place) this.#moved.set(host, place);
    else this.#moved.delete(host);
    return [this.#hostChange(host)];
  }

  changeAddress(host: number): ClaimChange[] {
    if (!this.#secondLease.delete(host)) this.#secondLease.add(host);
    return [this.#hostChange(host)];
  }

  #cableChanges(index: number): ClaimChange[] {
    const cable = this.plan.cables[index];
    if (!cable) return [];
    return [
      { op: "set", kind: "links", claim: this.#link(cable, index, true) },
      { op: "set", kind: "links", claim: this.#link(cable, index, false) },
      { op: "set", kind: "ports", claim: this.#port(cable.a, cable.aPort, this.#isWhole(cable, index)) },
      { op: "set", kind: "ports", claim: this.#port(cable.b, cable.bPort, this.#isWhole(cable, index)) },
    ];
  }

  #hostChange(host: number): ClaimChange {
    return { op: "set", kind: "hosts", claim: this.#host(host, this.hosts.homeEdge(host)) };
  }

  *#devices(): Generator<DeviceClaim> {
    for (const device of this.plan.devices.keys()) yield this.#device(device);
  }

  *#ports(): Generator<PortClaim> {
    const cableAt = new Map<number, number>();
    for (const [device, { layer }] of this.plan.devices.entries()) {
      cableAt.clear();
      for (const index of this.#cablesOf[device] ?? []) {
        const cable = this.plan.cables[index];
        if (cable) cableAt.set(cable.a === device ? cable.aPort : cable.bPort, index);
      }
      for (let port = 1; port <= portCount(layer); port++) {
        const index = cableAt.get(port);
        const cable = index === undefined ? undefined : this.plan.cables[index];
        yield this.#port(device, port, !cable || index === undefined || this.#isWhole(cable, index));
      }
    }
  }

  *#links(): Generator<LinkClaim> {
    for (const [index, cable] of this.plan.cables.entries()) {
      yield this.#link(cable, index, true);
      yield this.#link(cable, index, false);
    }
  }

  *#hosts(): Generator<HostClaim> {
    let edge = 0;
    for (let host = 0; host < this.hosts.count; host++) {
      while (host >= this.hosts.endOf(edge)) edge++;
      if (!this.#gone.has(host)) yield this.#host(host, edge);
    }
  }

  #isWhole(cable: Cable, index: number): boolean {
    return !this.#cut.has(index) && !this.#down.has(cable.a) && !this.#down.has(cable.b);
  }

  #device(device: number): DeviceClaim {
    const { layer, site, ordinal } = this.plan.devices[device] ?? { layer: "access", site: 0, ordinal: 0 };
    const spec = SPECS[layer];
    const chance = hash32(this.#seed, device, 3);
    // One site, one maker for each layer: that is how they are bought.
    const model = spec.models[hash32(this.#seed, site, 4) % spec.models.length] ?? spec.models[0];
    const place = this.plan.sites[site];
    const address = managementAddress(device);
    const up = !this.#down.has(device);
    return {
      id: this.#ids[device] ?? "",
      type: spec.type,
      available: up,
      role: up ? "MASTER" : "NONE",
      mfr: model.mfr,
      hw: model.hw,
      sw: model.sw[chance % model.sw.length] ?? model.sw[0],
      serial:
        model.serialPrefix + (chance.toString(36) + device.toString(36)).toUpperCase().padStart(10, "0"),
      driver: model.driver,
      chassisId: (device + 1).toString(16),
      annotations: {
        name: `${place?.code}-${spec.short}${ordinal}`,
        layer,
        site: place?.code ?? "",
        managementAddress: address,
        // A switch calls the controller from some port of its own; a router is called at NETCONF's.
        channelId: `${address}:${spec.protocol === "NETCONF" ? 830 : 32_768 + (chance % 28_000)}`,
        protocol: spec.protocol,
        ...(layer === "core" &&
          place && {
            city: place.city,
            latitude: place.latitude.toFixed(4),
            // The second router of a site stands in the next building.
            longitude: (place.longitude + (ordinal - 1) * 0.02).toFixed(4),
          }),
      },
    };
  }

  #port(device: number, port: number, isEnabled: boolean): PortClaim {
    const { layer, site } = this.plan.devices[device] ?? { layer: "access", site: 0 };
    const { models } = SPECS[layer];
    const model = models[hash32(this.#seed, site, 4) % models.length] ?? models[0];
    const { speed, type } = portRange(layer, port);
    return {
      element: this.#ids[device] ?? "",
      port: String(port),
      isEnabled,
      type,
      portSpeed: speed,
      annotations: { portName: model.portName(port) },
    };
  }

  #link(cable: Cable, index: number, forth: boolean): LinkClaim {
    const a = { port: String(cable.aPort), device: this.#ids[cable.a] ?? "" };
    const b = { port: String(cable.bPort), device: this.#ids[cable.b] ?? "" };
    return {
      src: forth ? a : b,
      dst: forth ? b : a,
      type: "DIRECT",
      state: this.#isWhole(cable, index) ? "ACTIVE" : "INACTIVE",
      verified: true,
      ...(cable.km !== undefined && {
        // Light in glass takes about 5 µs for a kilometre.
        annotations: { lengthKm: String(cable.km), latencyMs: (cable.km * 0.005).toFixed(2) },
      }),
    };
  }

  #identity(host: number) {
    return this.hosts.identity(host, this.hosts.homeEdge(host), this.#secondLease.has(host));
  }

  #host(host: number, homeEdge: number): HostClaim {
    const { mac, vlan, name, v4, v6 } = this.hosts.identity(host, homeEdge, this.#secondLease.has(host));
    const place = this.#moved.get(host);
    const device = this.plan.edges[place?.edge ?? homeEdge]?.device ?? 0;
    const port = place?.port ?? this.hosts.homePort(host, homeEdge);
    return {
      mac,
      vlan,
      ipAddresses: v6 === undefined ? [v4] : [v4, v6],
      locations: [{ elementId: this.#ids[device] ?? "", port: String(port) }],
      annotations: { name },
    };
  }
}

const managementAddress = (device: number): string =>
  `10.254.${Math.floor(device / 254)}.${1 + (device % 254)}`;

function deviceId(layer: Layer, device: number): string {
  return SPECS[layer].protocol === "NETCONF"
    ? `netconf:${managementAddress(device)}:830`
    : `of:${(device + 1).toString(16).padStart(16, "0")}`;
}

function cablesOf({ devices, cables }: Plan): number[][] {
  const of: number[][] = devices.map(() => []);
  for (const [index, { a, b }] of cables.entries()) {
    of[a]?.push(index);
    of[b]?.push(index);
  }
  return of;
}
