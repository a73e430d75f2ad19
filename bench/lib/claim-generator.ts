/** A network of any size, as the claims of one source. */
import type { Claims, DeviceClaim, HostClaim, LinkClaim } from "../../src/model/claim.ts";

const hex = (value: number, width: number) => value.toString(16).padStart(width, "0");

/** Realistic claims: vendor MAC prefixes, hosts in random order of id, two addresses and a name each. */
export class ClaimGenerator {
  readonly hosts: number;
  readonly devices: number;

  constructor(hosts: number) {
    this.hosts = hosts;
    this.devices = Math.max(10, Math.floor(hosts / 100));
  }

  *#devices(): Generator<DeviceClaim> {
    for (let n = 0; n < this.devices; n++) {
      yield {
        id: `of:${hex(n, 16)}`,
        type: "SWITCH",
        available: true,
        role: "MASTER",
        mfr: "Example Networks",
        hw: "EX-48",
        sw: "4.2.1",
        annotations: { name: `sw${n}`, managementAddress: `10.255.${n >> 8}.${n & 255}`, protocol: "OF_13" },
      };
    }
  }

  /** A ring to the next device and one to the third next: four links per device. */
  *#links(): Generator<LinkClaim> {
    for (let n = 0; n < this.devices; n++) {
      for (const [step, outPort, inPort] of [
        [1, "49", "50"],
        [3, "51", "52"],
      ] as const) {
        const src = { port: outPort, device: `of:${hex(n, 16)}` };
        const dst = { port: inPort, device: `of:${hex((n + step) % this.devices, 16)}` };
        yield { src, dst, type: "DIRECT", state: "ACTIVE", verified: true };
        yield { src: dst, dst: src, type: "DIRECT", state: "ACTIVE", verified: true };
      }
    }
  }

  host(n: number, moved = 0): HostClaim {
    const low = Math.imul(n, 0x9e3779b1) & 0xffffff;
    const digits = hex(0xa4bb6d * 2 ** 24 + low, 12).toUpperCase();
    const at = (n + moved) % this.devices;
    return {
      mac: digits.replace(/..(?=.)/g, "$&:"),
      vlan: "None",
      ipAddresses: [
        `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
        `2001:db8:${hex(1 + (at >> 8), 1)}:${hex(1 + (at & 255), 1)}:a6bb:6dff:fe${hex(low >> 16, 2)}:${hex(1 + (low & 0xfff), 1)}`,
      ],
      locations: [{ elementId: `of:${hex(at, 16)}`, port: String(1 + (n % 48)) }],
      annotations: { name: `ws-${n}.example.net` },
    };
  }

  *#hosts(): Generator<HostClaim> {
    for (let n = 0; n < this.hosts; n++) yield this.host(n);
  }

  claims(): Claims {
    return { devices: this.#devices(), links: this.#links(), hosts: this.#hosts() };
  }
}
