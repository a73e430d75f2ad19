import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ipKeyRange } from "../../model/address.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import { KINDS, type Kind, portId } from "../../model/ids.ts";
import { Churn } from "./churn.ts";
import { createDemoNetwork } from "./network.ts";

/** What a reader of the claims holds: each record once, by id, in its canonical form. */
type Holding = { readonly [K in Kind]: Map<string, ClaimTypes[K]> };

function put<K extends Kind>(holding: Holding, kind: K, claim: unknown): void {
  const result = canonicalClaim(kind, claim);
  if (!result.ok) throw new Error(`${kind}${result.fault.field} ${result.fault.message}`);
  holding[kind].set(result.id, result.claim);
}

function hold(claims: Claims): Holding {
  const holding: Holding = { devices: new Map(), ports: new Map(), links: new Map(), hosts: new Map() };
  for (const kind of KINDS) {
    let count = 0;
    for (const claim of claims[kind] ?? []) {
      put(holding, kind, claim);
      count++;
    }
    expect(holding[kind].size).toBe(count);
  }
  return holding;
}

function apply(holding: Holding, changes: readonly ClaimChange[]): void {
  for (const change of changes) {
    if (change.op === "set") put(holding, change.kind, change.claim);
    else expect(holding[change.kind].delete(change.id)).toBe(true);
  }
}

const inside = (address: string, block: string): boolean => {
  const key = ipKeyRange(address)?.from ?? "";
  const range = ipKeyRange(block);
  return range !== undefined && key >= range.from && key <= range.to;
};

/** All that must hold whatever happens. */
function expectSound(holding: Holding): void {
  const { devices, ports, links, hosts } = holding;
  const sourcePorts = new Set<string>();
  for (const { src, dst, state } of links.values()) {
    const [from, to] = [portId(src.device, String(src.port)), portId(dst.device, String(dst.port))];
    expect(ports.has(from) && ports.has(to)).toBe(true);
    expect(sourcePorts.has(from)).toBe(false);
    sourcePorts.add(from);
    const back = links.get(`${to}-${from}`);
    expect(back).toMatchObject({ state });
    if (!devices.get(src.device)?.available) expect(state).toBe("INACTIVE");
  }
  for (const { element } of ports.values()) expect(devices.has(element)).toBe(true);
  const taken = new Set<string>();
  for (const { ipAddresses = [], locations } of hosts.values()) {
    for (const { elementId, port } of locations) {
      const at = portId(elementId, String(port));
      expect(ports.has(at)).toBe(true);
      expect(sourcePorts.has(at)).toBe(false);
      expect(["leaf", "access"]).toContain(devices.get(elementId)?.annotations?.layer ?? "");
    }
    for (const ip of ipAddresses) {
      expect(taken.has(ip)).toBe(false);
      expect(inside(ip, ip.includes(":") ? "2001:db8::/32" : "10.0.0.0/8")).toBe(true);
      taken.add(ip);
    }
  }
  for (const { annotations = {} } of devices.values()) {
    expect(taken.has(annotations.managementAddress ?? "")).toBe(false);
    taken.add(annotations.managementAddress ?? "");
  }
}

/** How many devices can be reached from the first one. */
function reachable(holding: Holding): number {
  const neighbours = new Map<string, string[]>();
  for (const { src, dst } of holding.links.values()) {
    neighbours.set(src.device, [...(neighbours.get(src.device) ?? []), dst.device]);
  }
  const [start] = holding.devices.keys();
  if (start === undefined) return 0;
  const seen = new Set([start]);
  for (const device of seen) for (const next of neighbours.get(device) ?? []) seen.add(next);
  return seen.size;
}

const sizes = fc.record({
  devices: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 31, max: 400 })),
  hosts: fc.integer({ min: 0, max: 800 }),
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});

describe("the simulated network", () => {
  test("has the size asked for, is in one piece and sound, whatever the size", () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const holding = hold(createDemoNetwork(size).claims());
        expect(holding.devices.size).toBe(size.devices);
        expect(holding.hosts.size).toBe(size.hosts);
        expect(reachable(holding)).toBe(size.devices);
        expectSound(holding);
      }),
      { numRuns: 30 },
    );
  });

  test("is the same for the same seed, and another for another", () => {
    const claims = (seed: number) => hold(createDemoNetwork({ devices: 60, hosts: 200, seed }).claims());
    expect(claims(7)).toEqual(claims(7));
    expect(claims(7)).not.toEqual(claims(8));
  });

  test("stays sound through churn, and changes amount to what it then claims", () => {
    fc.assert(
      fc.property(sizes, fc.constantFrom(0.01, 1, 100), (size, perSecond) => {
        const network = createDemoNetwork(size);
        const churn = new Churn(network, perSecond, size.seed);
        const holding = hold(network.claims());
        for (let step = 0; step < 300; step++) apply(holding, churn.step());
        expectSound(holding);
        expect(hold(network.claims())).toEqual(holding);
      }),
      { numRuns: 12 },
    );
  });

  test("churn repeats itself for the same seed", () => {
    const run = () => {
      const churn = new Churn(createDemoNetwork({ devices: 50, hosts: 300, seed: 3 }), 1, 3);
      return Array.from({ length: 200 }, () => churn.step());
    };
    expect(run()).toEqual(run());
  });

  test("everything that can happen does happen, and what breaks is mended", () => {
    const network = createDemoNetwork({ devices: 50, hosts: 300, seed: 1 });
    const churn = new Churn(network, 1 / 3, 1);
    const happened = new Set<string>();
    let rebooted = 0;
    for (let step = 0; step < 2000; step++) {
      const [first] = churn.step();
      if (first?.op === "remove") happened.add("host gone");
      else if (first?.kind === "links") happened.add(`link ${first.claim.state}`);
      else if (first?.kind === "devices") {
        happened.add(`device ${first.claim.available}`);
        rebooted++;
      } else if (first) happened.add("host set");
    }
    expect([...happened].sort()).toEqual([
      "device false",
      "device true",
      "host gone",
      "host set",
      "link ACTIVE",
      "link INACTIVE",
    ]);
    expect(rebooted).toBeGreaterThan(20);
    expect(network.downDevices.size).toBeLessThan(4);
    expect(network.cutCables.size).toBeLessThan(6);
  });

  test("the largest has the records asked for without holding them", () => {
    const network = createDemoNetwork({ devices: 10_000, hosts: 1_000_000, seed: 1 });
    expect(network.plan.devices.length).toBe(10_000);
    expect(network.plan.cables.length * 2).toBeGreaterThan(38_000);
    expect(network.plan.cables.length * 2).toBeLessThan(44_000);
    const [first] = network.claims().hosts ?? [];
    expect(first?.locations.length).toBe(1);
    // The last host still stands in the block for hosts, and its address is one.
    expect(canonicalClaim("hosts", network.setHost(999_999, true)[0]?.op && first)).toMatchObject({
      ok: true,
    });
    expect(network.hosts.identity(999_999, true).v4).toMatch(/^10\.(\d|\d\d|1\d\d|2[0-4]\d|25[0-3])\./);
  });

  test("the extremes of size fit their address blocks", () => {
    for (const [devices, hosts] of [
      [1, 2_000_000],
      [50_000, 2_000_000],
    ] as const) {
      const network = createDemoNetwork({ devices, hosts, seed: 1 });
      const last = network.hosts.identity(hosts - 1, true);
      expect(inside(last.v4, "10.0.0.0/8") && !inside(last.v4, "10.254.0.0/15")).toBe(true);
    }
  });
});
