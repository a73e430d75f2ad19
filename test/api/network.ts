/**
 * Networks for the tests: a small one with every kind of entity, and random ones for properties. Random changes use few
 * ids, so that they meet: a device is removed while it has links, a host moves, two sources claim the same entity.
 */
import fc from "fast-check";
import type { ClaimChange, Claims } from "../../src/model/claim.ts";

export const deviceId = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;

export const setDevice = (n: number, more: object = {}) =>
  ({ op: "set", kind: "devices", claim: { id: deviceId(n), ...more } }) as const;

export const setHost = (n: number, name: string, ip: string, device = 1): ClaimChange => ({
  op: "set",
  kind: "hosts",
  claim: {
    mac: `00:00:00:00:00:${n.toString(16).padStart(2, "0")}`,
    ipAddresses: [ip],
    locations: [{ elementId: deviceId(device), port: 1 }],
    annotations: { name },
  },
});

/** The list of these is larger than the buffers of a socket, so it is still being sent while a client stalls. */
export const MANY_LARGE_DEVICES = Array.from({ length: 1_800 }, (_, n) =>
  setDevice(n, { mfr: "x".repeat(15_000) }),
);

/** Text that breaks a renderer which does not escape. */
export const HOSTILE = '"<b>&]]>,\n=1+1 \u202e🦊\u0000';

/** Devices 1–4 in a ring, 5 unavailable; hosts at 1, 2 and 5; one link in one direction, one inactive, one held back. */
export const SAMPLE: Claims = {
  devices: [
    {
      id: deviceId(1),
      type: "ROUTER",
      role: "MASTER",
      mfr: "Maker, Inc.",
      hw: "H1",
      sw: "1.0",
      serial: "S1",
      driver: "ovs",
      chassisId: "1",
      annotations: {
        name: "core",
        managementAddress: "192.0.2.1",
        channelId: "192.0.2.1:6653",
        protocol: "OF_13",
      },
    },
    { id: deviceId(2), annotations: { name: HOSTILE } },
    { id: deviceId(3) },
    { id: deviceId(4), type: "SERVER" },
    { id: deviceId(5), available: false, type: "OTHER" },
    { id: "netconf:198.51.100.7:830", type: "FIREWALL" },
  ],
  ports: [
    { element: deviceId(1), port: 1, portSpeed: 10_000, annotations: { portName: "eth1" } },
    { element: deviceId(1), port: "local", isEnabled: false },
    { element: deviceId(2), port: 1, type: "fiber" },
  ],
  links: [
    ...[1, 2, 3, 4].flatMap((n) => {
      const next = (n % 4) + 1;
      const [a, b] = [
        { device: deviceId(n), port: 1 },
        { device: deviceId(next), port: 2 },
      ];
      return [
        { src: a, dst: b },
        { src: b, dst: a },
      ];
    }),
    { src: { device: deviceId(4), port: 9 }, dst: { device: deviceId(5), port: 9 }, verified: false },
    {
      src: { device: deviceId(1), port: 7 },
      dst: { device: deviceId(3), port: 7 },
      type: "TUNNEL",
      state: "INACTIVE",
      annotations: { metric: "5" },
    },
    { src: { device: deviceId(1), port: 8 }, dst: { device: deviceId(99), port: 1 } },
  ],
  hosts: [
    {
      mac: "00:00:00:00:00:01",
      ipAddresses: ["10.0.0.1", "2001:db8::1"],
      locations: [{ elementId: deviceId(1), port: 3 }],
    },
    {
      mac: "00:00:00:00:00:02",
      vlan: 10,
      innerVlan: 20,
      ipAddresses: ["10.0.1.2"],
      configured: true,
      locations: [
        { elementId: deviceId(2), port: 3 },
        { elementId: deviceId(1), port: 4 },
      ],
      annotations: { name: "printer" },
    },
    { mac: "0a:00:00:00:00:03", suspended: true, locations: [{ elementId: deviceId(5), port: 1 }] },
    { mac: "0a:00:00:00:00:04", locations: [{ elementId: deviceId(77), port: 1 }] },
  ],
};

const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const device = fc.integer({ min: 1, max: 9 }).map(deviceId);
const port = oneOf("1", "2", "3", "local");
const text = oneOf(
  "core",
  "\u212aelvin \u0130",
  "Edge",
  "a,b",
  "ünïcode",
  HOSTILE,
  "=cmd",
  "x".repeat(300),
  "",
);
const annotations = fc.dictionary(oneOf("name", "site", "constructor", "a.b"), text, { maxKeys: 3 });

const deviceClaim = fc.record(
  {
    id: device,
    type: oneOf("SWITCH", "ROUTER", "OTHER"),
    available: fc.boolean(),
    role: oneOf("MASTER", "NONE"),
    mfr: text,
    sw: oneOf("1.0", "1.1"),
    annotations,
  },
  { requiredKeys: ["id"] },
);
const portClaim = fc.record(
  { element: device, port, isEnabled: fc.boolean(), portSpeed: oneOf(10, 1000, 2.5), annotations },
  { requiredKeys: ["element", "port"] },
);
const end = fc.record({ device, port });
const linkClaim = fc
  .record(
    { src: end, dst: end, state: oneOf("ACTIVE", "INACTIVE"), type: oneOf("DIRECT", "TUNNEL"), annotations },
    { requiredKeys: ["src", "dst"] },
  )
  .filter(({ src, dst }) => src.device !== dst.device || src.port !== dst.port);
const address = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 6 })).map(([a, b]) => `10.0.${a}.${b}`),
  fc.integer({ min: 1, max: 6 }).map((n) => `2001:db8::${n}`),
);
const mac = fc
  .integer({ min: 1, max: 12 })
  .map((n) => `0A:00:00:00:00:${n.toString(16).padStart(2, "0").toUpperCase()}`);
const vlan = oneOf("None", "10", "20");
const hostClaim = fc.record(
  {
    mac,
    vlan,
    ipAddresses: fc.uniqueArray(address, { maxLength: 3 }),
    configured: fc.boolean(),
    locations: fc.array(fc.record({ elementId: device, port }), { minLength: 1, maxLength: 2 }),
    annotations,
  },
  { requiredKeys: ["mac", "vlan", "locations"] },
);

const set: fc.Arbitrary<ClaimChange> = fc.oneof(
  { arbitrary: deviceClaim.map((claim) => ({ op: "set", kind: "devices", claim }) as const), weight: 3 },
  { arbitrary: portClaim.map((claim) => ({ op: "set", kind: "ports", claim }) as const), weight: 1 },
  { arbitrary: linkClaim.map((claim) => ({ op: "set", kind: "links", claim }) as const), weight: 3 },
  { arbitrary: hostClaim.map((claim) => ({ op: "set", kind: "hosts", claim }) as const), weight: 3 },
);
const remove: fc.Arbitrary<ClaimChange> = fc.oneof(
  device.map((id) => ({ op: "remove", kind: "devices", id }) as const),
  fc.tuple(device, port).map(([d, p]) => ({ op: "remove", kind: "ports", id: `${d}/${p}` }) as const),
  fc.tuple(mac, vlan).map(([m, v]) => ({ op: "remove", kind: "hosts", id: `${m}/${v}` }) as const),
);

/** One batch of changes of one of two sources. */
export interface Step {
  readonly source: "first" | "second";
  readonly changes: readonly ClaimChange[];
}

export const anyStep: fc.Arbitrary<Step> = fc.record({
  source: oneOf("first", "first", "second"),
  changes: fc.array(fc.oneof({ arbitrary: set, weight: 4 }, { arbitrary: remove, weight: 1 }), {
    minLength: 1,
    maxLength: 12,
  }),
});

/** A first step with enough changes that most filters match something. */
export const anyNetwork: fc.Arbitrary<Step> = fc.record({
  source: oneOf("first"),
  changes: fc
    .tuple(
      fc.array(
        deviceClaim.map((claim) => ({ op: "set", kind: "devices", claim }) as const),
        { minLength: 8, maxLength: 12 },
      ),
      fc.array(set, { minLength: 20, maxLength: 50 }),
    )
    .map(([devices, rest]): ClaimChange[] => [...devices, ...rest]),
});
