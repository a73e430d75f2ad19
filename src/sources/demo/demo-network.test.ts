import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../test/support/property.ts";
import { ipKeyRange } from "../../model/address.ts";
import { type ClaimChange, type Claims, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import { KINDS, type Kind, portId } from "../../model/ids.ts";
import { Churn } from "./churn.ts";
import { createDemoNetwork } from "./demo-network.ts";

/** The claims by id, in canonical form. */
type ClaimStore = { readonly [K in Kind]: Map<string, ClaimTypes[K]> };

function put<K extends Kind>(store: ClaimStore, kind: K, claim: unknown): void {
  const result = canonicalClaim(kind, claim);
  if (!result.ok) throw new Error(`${kind}${result.fault.field} ${result.fault.message}`);
  store[kind].set(result.id, result.claim);
}

function storeClaims(claims: Claims): ClaimStore {
  const store: ClaimStore = { devices: new Map(), ports: new Map(), links: new Map(), hosts: new Map() };
  for (const kind of KINDS) {
    let count = 0;
    for (const claim of claims[kind] ?? []) {
      put(store, kind, claim);
      count++;
    }
    expect(store[kind].size).toBe(count);
  }
  return store;
}

function apply(store: ClaimStore, changes: readonly ClaimChange[]): void {
  for (const change of changes) {
    if (change.op === "set") put(store, change.kind, change.claim);
    else expect(store[change.kind].delete(change.id)).toBe(true);
  }
}

const inside = (address: string, block: string): boolean => {
  const key = ipKeyRange(address)?.from ?? "";
  const range = ipKeyRange(block);
  return range !== undefined && key >= range.from && key <= range.to;
};

/** The invariants of the network in any state. */
function expectConsistent(store: ClaimStore): void {
  const { devices, ports, links, hosts } = store;
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
  const addresses = new Set<string>();
  for (const { ipAddresses = [], locations } of hosts.values()) {
    for (const { elementId, port } of locations) {
      const at = portId(elementId, String(port));
      expect(ports.has(at)).toBe(true);
      expect(sourcePorts.has(at)).toBe(false);
      expect(["leaf", "access"]).toContain(devices.get(elementId)?.annotations?.layer ?? "");
    }
    for (const ip of ipAddresses) {
      expect(addresses.has(ip)).toBe(false);
      expect(inside(ip, ip.includes(":") ? "2001:db8::/32" : "10.0.0.0/8")).toBe(true);
      addresses.add(ip);
    }
  }
  for (const { annotations = {} } of devices.values()) {
    expect(addresses.has(annotations.managementAddress ?? "")).toBe(false);
    addresses.add(annotations.managementAddress ?? "");
  }
}

/** The number of devices that can be reached from the first one. */
function countReachable(store: ClaimStore): number {
  const neighbours = new Map<string, string[]>();
  for (const { src, dst } of store.links.values()) {
    neighbours.set(src.device, [...(neighbours.get(src.device) ?? []), dst.device]);
  }
  const [start] = store.devices.keys();
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
  test("has the configured size, is connected and is consistent", () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const store = storeClaims(createDemoNetwork(size).claims());
        expect(store.devices.size).toBe(size.devices);
        expect(store.hosts.size).toBe(size.hosts);
        expect(countReachable(store)).toBe(size.devices);
        expectConsistent(store);
      }),
      { numRuns: runs(30) },
    );
  });

  test("is equal for the same seed and different for another", () => {
    const claims = (seed: number) =>
      storeClaims(createDemoNetwork({ devices: 60, hosts: 200, seed }).claims());
    expect(claims(7)).toEqual(claims(7));
    expect(claims(7)).not.toEqual(claims(8));
  });

  test("stays consistent during churn, and its claims equal the first claims with all changes applied", () => {
    fc.assert(
      fc.property(sizes, fc.constantFrom(0.01, 1, 100), (size, perSecond) => {
        const network = createDemoNetwork(size);
        const churn = new Churn(network, perSecond, size.seed);
        const store = storeClaims(network.claims());
        for (let step = 0; step < 300; step++) apply(store, churn.step());
        expectConsistent(store);
        expect(storeClaims(network.claims())).toEqual(store);
      }),
      { numRuns: runs(12) },
    );
  });

  test("churn is the same for the same seed", () => {
    const run = () => {
      const churn = new Churn(createDemoNetwork({ devices: 50, hosts: 300, seed: 3 }), 1, 3);
      return Array.from({ length: 200 }, () => churn.step());
    };
    expect(run()).toEqual(run());
  });

  test("all kinds of events occur, and failures are repaired", () => {
    const network = createDemoNetwork({ devices: 50, hosts: 300, seed: 1 });
    const churn = new Churn(network, 1 / 3, 1);
    const events = new Set<string>();
    let rebooted = 0;
    for (let step = 0; step < 2000; step++) {
      const [first] = churn.step();
      if (first?.op === "remove") events.add("host removed");
      else if (first?.kind === "links") events.add(`link ${first.claim.state}`);
      else if (first?.kind === "devices") {
        events.add(`device ${first.claim.available}`);
        rebooted++;
      } else if (first) events.add("host set");
    }
    expect([...events].sort()).toEqual([
      "device false",
      "device true",
      "host removed",
      "host set",
      "link ACTIVE",
      "link INACTIVE",
    ]);
    expect(rebooted).toBeGreaterThan(20);
    expect(network.downDevices.size).toBeLessThan(4);
    expect(network.cutCables.size).toBeLessThan(6);
  });

  test("a large network has the configured number of records without storing them", () => {
    const network = createDemoNetwork({ devices: 10_000, hosts: 1_000_000, seed: 1 });
    expect(network.plan.devices.length).toBe(10_000);
    expect(network.plan.cables.length * 2).toBeGreaterThan(38_000);
    expect(network.plan.cables.length * 2).toBeLessThan(44_000);
    const [first] = network.claims().hosts ?? [];
    expect(first?.locations.length).toBe(1);
    // The last host is in the address block for hosts.
    expect(canonicalClaim("hosts", network.setHost(999_999, true)[0]?.op && first)).toMatchObject({
      ok: true,
    });
    expect(network.hosts.identity(999_999, true).v4).toMatch(/^10\.(\d|\d\d|1\d\d|2[0-4]\d|25[0-3])\./);
  });

  test("the smallest and the largest network fit their address blocks", () => {
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
