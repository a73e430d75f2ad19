/**
 * Restores the claims from before a restart. Links stay until the grace period ends, unless probes confirm them. Hosts
 * stay at their locations and are probed once their port has settled. A device that did not reconnect within the grace
 * period is marked unavailable, and is from then on handled like any other disconnected device.
 */
import { canonicalMac } from "../../model/address.ts";
import type { Claims, DeviceClaim, HostClaim } from "../../model/claim.ts";
import { PORT } from "./codec/instruction.ts";
import type { PortRef } from "./codec/port-ref.ts";
import { firstActivity, LearnedHost } from "./hosts/learned-host.ts";
import type { OpenflowController } from "./openflow-controller.ts";

export class GracefulRestart {
  readonly #controller: OpenflowController;
  readonly #devices: DeviceClaim[];
  readonly #hostPorts: PortRef[] = [];

  constructor(controller: OpenflowController, previous: Claims, now: number, graceEndsAt: number) {
    this.#controller = controller;
    this.#devices = [...(previous.devices ?? [])].filter(({ id }) => id.startsWith("of:"));
    // LLDP neighbours are not restored: they announce themselves again.
    const ports = [...(previous.ports ?? [])].filter(({ element }) => element.startsWith("of:"));
    controller.claims.load({ devices: this.#devices, ports });
    for (const { src, dst, type, verified } of previous.links ?? []) {
      if (!verified) continue;
      const [from, to] = [parsePortRef(src.device, src.port), parsePortRef(dst.device, dst.port)];
      if (from && to) controller.links.restore(from, to, type !== "INDIRECT", graceEndsAt);
    }
    for (const claim of previous.hosts ?? []) this.#restoreHost(claim, now);
  }

  endGrace(now: number): void {
    for (const claim of this.#devices) this.#controller.switches.restoreDisconnected(claim, now);
    // The switch may be back without this port, or with the port down.
    for (const ref of this.#hostPorts) {
      const port = this.#controller.switches.get(ref.device)?.ports.get(ref.port);
      if (!port?.up) this.#controller.hosts.removeHostsAt(ref, true);
    }
  }

  #restoreHost(claim: HostClaim, now: number): void {
    const mac = canonicalMac(claim.mac);
    const refs = claim.locations
      .map(({ elementId, port }) => parsePortRef(elementId, port))
      .filter((ref) => ref !== undefined);
    if (mac === undefined || refs.length === 0) return;
    const vlan = Number(claim.vlan);
    const host = new LearnedHost(mac, Number.isInteger(vlan) && vlan > 0 ? { vlan } : {});
    host.locations = refs.map((ref) => ({ ref, ...firstActivity(now) }));
    for (const ip of claim.ipAddresses ?? []) host.addresses.set(ip, firstActivity(now));
    if (!this.#controller.hosts.restore(host)) return;
    this.#controller.claims.load({ hosts: [claim] });
    this.#hostPorts.push(...refs);
  }
}

function parsePortRef(device: string, port: string | number): PortRef | undefined {
  if (!/^of:[0-9a-f]{16}$/.test(device)) return undefined;
  return { device, port: port === "local" ? PORT.local : Number(port) };
}
