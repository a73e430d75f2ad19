/**
 * What was claimed in an earlier life, taken up again. Links stand until the grace is over unless probes renew them;
 * hosts stay where they were and are asked once their port has settled; a device that has not come back by the end of
 * the grace is called unavailable, and from then on is like any other that was lost.
 */
import { canonicalMac } from "../../model/address.ts";
import type { Claims, DeviceClaim, HostClaim } from "../../model/claim.ts";
import { PORT } from "./codec/instruction.ts";
import type { Network } from "./controller.ts";
import { Host, heardFirst } from "./learned-host.ts";
import type { End } from "./link-table.ts";

export class Recollection {
  readonly #network: Network;
  readonly #devices: DeviceClaim[];
  readonly #hostEnds: End[] = [];

  constructor(network: Network, earlier: Claims, now: number, until: number) {
    this.#network = network;
    this.#devices = [...(earlier.devices ?? [])].filter(({ id }) => id.startsWith("of:"));
    // What foreign neighbours said of themselves they will say again.
    const ports = [...(earlier.ports ?? [])].filter(({ element }) => element.startsWith("of:"));
    network.book.load({ devices: this.#devices, ports });
    for (const { src, dst, type, verified } of earlier.links ?? []) {
      if (!verified) continue;
      const [from, to] = [endOf(src.device, src.port), endOf(dst.device, dst.port)];
      if (from && to) network.links.recall(from, to, type !== "INDIRECT", until);
    }
    for (const claim of earlier.hosts ?? []) this.#recallHost(claim, now);
  }

  /** The grace is over. */
  end(now: number): void {
    for (const claim of this.#devices) this.#network.switches.recallGone(claim, now);
    // A host whose switch is back but whose port is not, or leads elsewhere now, is nowhere.
    for (const end of this.#hostEnds) {
      const port = this.#network.switches.get(end.device)?.ports.get(end.port);
      if (!port?.up) this.#network.hosts.leave(end, true);
    }
  }

  #recallHost(claim: HostClaim, now: number): void {
    const mac = canonicalMac(claim.mac);
    const ends = claim.locations
      .map(({ elementId, port }) => endOf(elementId, port))
      .filter((end) => end !== undefined);
    if (mac === undefined || ends.length === 0) return;
    const vlan = Number(claim.vlan);
    const host = new Host(mac, Number.isInteger(vlan) && vlan > 0 ? { vlan } : {});
    host.places = ends.map((end) => ({ end, ...heardFirst(now) }));
    for (const ip of claim.ipAddresses ?? []) host.addresses.set(ip, heardFirst(now));
    if (!this.#network.hosts.recall(host)) return;
    this.#network.book.load({ hosts: [claim] });
    this.#hostEnds.push(...ends);
  }
}

function endOf(device: string, port: string | number): End | undefined {
  if (!/^of:[0-9a-f]{16}$/.test(device)) return undefined;
  return { device, port: port === "local" ? PORT.local : Number(port) };
}
