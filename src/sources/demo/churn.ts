/**
 * The events in the simulated network, one per step: cables flap, devices reboot, hosts join, leave, move and change
 * their address. A failure is repaired some time later. A repair is a step too, so that the configured rate is the rate
 * of all events. The number of failures at a time is limited, which also limits the memory.
 */
import { appendTo } from "../../lib/multimap.ts";
import type { ClaimChange } from "../../model/claim.ts";
import type { DemoNetwork } from "./demo-network.ts";
import { createRandom, type Random } from "./demo-random.ts";
import type { AttachmentPoint } from "./network-plan.ts";

const FLAP_SECONDS = { min: 5, max: 30 };
const REBOOT_SECONDS = { min: 40, max: 120 };
/** Maximum share of cables, devices and hosts that may be down or absent at the same time. */
const MAX_BROKEN_SHARE = 0.05;
const MAX_HOSTS_AWAY = 10_000;

type ChurnEvent = () => ClaimChange[];

export class Churn {
  readonly #network: DemoNetwork;
  readonly #perSecond: number;
  readonly #random: Random;
  readonly #maxHostsAway: number;
  /** The events with their weights, which add up to 100. */
  readonly #events: readonly (readonly [weight: number, event: ChurnEvent])[] = [
    [30, () => this.#flap()],
    [5, () => this.#reboot()],
    [25, () => this.#move()],
    [25, () => this.#joinOrLeave()],
    [15, () => this.#changeAddress()],
  ];
  readonly #scheduledRepairs = new Map<number, ChurnEvent[]>();
  readonly #dueRepairs: ChurnEvent[] = [];
  #step = 0;

  constructor(network: DemoNetwork, perSecond: number, seed: number) {
    this.#network = network;
    this.#perSecond = perSecond;
    this.#random = createRandom(seed);
    this.#maxHostsAway = Math.min(MAX_HOSTS_AWAY, Math.ceil(network.hosts.count * MAX_BROKEN_SHARE));
  }

  /** Returns the changes of one event; none when all limits are reached. */
  step(): ClaimChange[] {
    this.#step++;
    this.#dueRepairs.push(...(this.#scheduledRepairs.get(this.#step) ?? []));
    this.#scheduledRepairs.delete(this.#step);
    const repair = this.#dueRepairs.shift();
    if (repair) return repair();
    let chance = this.#random.below(100);
    const first = this.#events.findIndex(([weight]) => {
      chance -= weight;
      return chance < 0;
    });
    // An event that is not possible now is replaced by the next one that is.
    for (let i = 0; i < this.#events.length; i++) {
      const changes = this.#events[(first + i) % this.#events.length]?.[1]() ?? [];
      if (changes.length > 0) return changes;
    }
    return [];
  }

  #flap(): ClaimChange[] {
    const { plan, cutCables, downDevices } = this.#network;
    const cable = this.#random.below(plan.cables.length);
    const ends = plan.cables[cable];
    if (!ends || downDevices.has(ends.a) || downDevices.has(ends.b) || cutCables.has(cable)) return [];
    if (cutCables.size >= Math.ceil(plan.cables.length * MAX_BROKEN_SHARE)) return [];
    this.#scheduleRepair(FLAP_SECONDS, () => this.#network.setCable(cable, true));
    return this.#network.setCable(cable, false);
  }

  #reboot(): ClaimChange[] {
    const { plan, downDevices } = this.#network;
    const device = this.#random.below(plan.devices.length);
    if (downDevices.size >= Math.ceil(plan.devices.length * MAX_BROKEN_SHARE) || downDevices.has(device))
      return [];
    this.#scheduleRepair(REBOOT_SECONDS, () => this.#network.setDevice(device, true));
    return this.#network.setDevice(device, false);
  }

  #move(): ClaimChange[] {
    const { movedHosts } = this.#network;
    const [oldest] = movedHosts.keys();
    if (oldest !== undefined && (movedHosts.size >= this.#maxHostsAway || this.#random.below(10) < 4)) {
      return this.#network.moveHost(oldest, undefined);
    }
    const host = this.#pickHost();
    if (host === undefined) return [];
    const from = this.#network.attachmentOf(host);
    const to = this.#pickNearbyPort(from);
    return to.edge === from.edge && to.port === from.port ? [] : this.#network.moveHost(host, to);
  }

  #joinOrLeave(): ClaimChange[] {
    const { absentHosts } = this.#network;
    const [oldest] = absentHosts;
    if (oldest !== undefined && (absentHosts.size >= this.#maxHostsAway || this.#random.below(2) === 0)) {
      return this.#network.setHost(oldest, true);
    }
    const host = this.#pickHost();
    return host === undefined ? [] : this.#network.setHost(host, false);
  }

  #changeAddress(): ClaimChange[] {
    const { renumberedHosts } = this.#network;
    const [oldest] = renumberedHosts;
    const host = renumberedHosts.size >= this.#maxHostsAway ? oldest : this.#pickHost();
    return host === undefined ? [] : this.#network.changeAddress(host);
  }

  #pickHost(): number | undefined {
    const { hosts } = this.#network;
    if (hosts.count === 0) return undefined;
    const host = this.#random.below(hosts.count);
    return this.#network.absentHosts.has(host) ? undefined : host;
  }

  /** Picks a host port at the same site. */
  #pickNearbyPort(from: AttachmentPoint): AttachmentPoint {
    const { edges, devices } = this.#network.plan;
    const site = devices[edges[from.edge]?.device ?? 0]?.site;
    const nearby = 24;
    const guess = Math.min(
      edges.length - 1,
      Math.max(0, from.edge - nearby / 2 + this.#random.below(nearby)),
    );
    const edge = devices[edges[guess]?.device ?? 0]?.site === site ? guess : from.edge;
    const { firstPort, lastPort } = edges[edge] ?? { firstPort: 1, lastPort: 1 };
    return { edge, port: firstPort + this.#random.below(lastPort - firstPort + 1) };
  }

  #scheduleRepair({ min, max }: typeof FLAP_SECONDS, repair: ChurnEvent): void {
    const seconds = min + this.#random.below(max - min + 1);
    // At very low rates the repair is the next step, even if that comes later than `seconds`.
    const due = this.#step + Math.max(1, Math.round(seconds * this.#perSecond));
    appendTo(this.#scheduledRepairs, due, repair);
  }
}
