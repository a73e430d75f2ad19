import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalClaim } from "../../model/claim.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { type MappedClaims, mapTopology } from "./map-topology.ts";
import { parseInventory } from "./parse-inventory.ts";
import { IETF_NETWORK, NETWORK_TOPOLOGY, parseNetworks } from "./parse-networks.ts";
import type { TopologyRecords } from "./topology-records.ts";
import { isYangObject } from "./yang-json.ts";

interface Mapped {
  readonly claims: MappedClaims;
  /** `kind field message`. */
  readonly faults: string[];
}

interface Documents {
  readonly networks?: unknown[];
  readonly topologies?: unknown[];
  readonly inventory?: unknown[];
}

function map({ networks = [], topologies = [], inventory = [] }: Documents): Mapped {
  const faults: string[] = [];
  const onFault = (kind: Kind, { field, message }: { field: string; message: string }) =>
    faults.push(`${kind} ${field} ${message}`);
  const records: TopologyRecords = { nodes: [], hosts: [], links: [] };
  parseNetworks({ "ietf-network:networks": { network: networks } }, IETF_NETWORK, records, onFault);
  const draft = { "network-topology:network-topology": { topology: topologies } };
  parseNetworks(draft, NETWORK_TOPOLOGY, records, onFault);
  const nodes = parseInventory({ "opendaylight-inventory:nodes": { node: inventory } }, onFault);
  return { claims: mapTopology(records, nodes, onFault), faults };
}

/** Ids of all claims, as the sink derives them. */
function ids({ claims }: Mapped): Record<Kind, string[]> {
  const idsOf = (kind: Kind) =>
    claims[kind].map((claim) => {
      const result = canonicalClaim(kind, claim);
      return result.ok ? result.id : `${kind} ${result.fault.field} ${result.fault.message}`;
    });
  const all: Record<Kind, string[]> = { devices: [], ports: [], links: [], hosts: [] };
  for (const kind of KINDS) all[kind] = idsOf(kind).sort();
  return all;
}

const TP = "ietf-network-topology:termination-point";
const LINK = "ietf-network-topology:link";
const points = (...tps: string[]) => tps.map((tp) => ({ "tp-id": tp }));
const link = (id: string, [a, atp]: [string, string], [b, btp]: [string, string], more: object = {}) => ({
  "link-id": id,
  source: { "source-node": a, "source-tp": atp },
  destination: { "dest-node": b, "dest-tp": btp },
  ...more,
});
const on = (network: string, node: string) => ({ "network-ref": network, "node-ref": node });

describe("names of nodes and termination points", () => {
  test.each([
    ["openflow:1", "openflow:1:2", "of:0000000000000001/2"],
    ["openflow:18446744073709551615", "openflow:18446744073709551615:1", "of:ffffffffffffffff/1"],
    ["openflow:99999999999999999999", "openflow:99999999999999999999:1", "openflow:99999999999999999999/1"],
    ["openflow:1", "openflow:1:LOCAL", "of:0000000000000001/local"],
    ["openflow:1", "openflow:1:4294967294", "of:0000000000000001/local"],
    ["openflow:1", "openflow:1:4294967293", "of:0000000000000001/controller"],
    ["openflow:1", "openflow:11:1", "of:0000000000000001/1893104543"],
    ["s1", "s1:1", "s1/1"],
    ["s1", "s1/07", "s1/7"],
    ["s1", "4", "s1/4"],
    ["s1", "s1:", "s1/1000000114"],
  ])("%s, %s is %s", (node, tp, expected) => {
    const mapped = map({
      topologies: [{ "topology-id": "t", node: [{ "node-id": node, "termination-point": points(tp) }] }],
    });
    const [port] = ids(mapped).ports;
    expect(port?.replace(/1\d{9}$/, "#")).toBe(expected.replace(/1\d{9}$/, "#"));
    expect(mapped.faults).toEqual([]);
  });

  test("an OpenFlow switch keeps its own name as an alias, and a named port its name", () => {
    const node = { "node-id": "openflow:1", "termination-point": points("openflow:1:eth0") };
    const { claims } = map({ topologies: [{ "topology-id": "flow:1", node: [node] }] });
    expect(claims.devices).toEqual([{ id: "of:0000000000000001", aliases: ["openflow:1"] }]);
    expect(claims.ports[0]?.annotations).toEqual({ portName: "eth0" });
  });
});

describe("layers", () => {
  const l1 = {
    "network-id": "l1",
    node: [
      { "node-id": "box", [TP]: points("box:1", "box:2", "box:3") },
      { "node-id": "far", [TP]: points("far:1") },
    ],
    [LINK]: [link("fibre", ["box", "box:1"], ["far", "far:1"])],
  };
  const l2 = {
    "network-id": "l2",
    node: [
      {
        "node-id": "bridge",
        "supporting-node": [on("l1", "box")],
        "ietf-l2-topology:l2-node-attributes": { name: "sw-a", "management-address": ["192.0.2.7"] },
        [TP]: [
          {
            "tp-id": "p7",
            "supporting-termination-point": [{ ...on("l1", "box"), "tp-ref": "box:1" }],
            "ietf-l2-topology:l2-termination-point-attributes": {
              "interface-name": "xe-0/0/1",
              "mac-address": "00-00-5e-00-53-01",
            },
          },
        ],
      },
      { "node-id": "far-bridge", "supporting-node": [on("l1", "far")], [TP]: points("p1") },
    ],
    [LINK]: [
      link("ethernet", ["bridge", "p7"], ["far-bridge", "p1"], {
        "supporting-link": [{ "network-ref": "l1", "link-ref": "fibre" }],
        "ietf-l2-topology:l2-link-attributes": { rate: "10000000", delay: 1500 },
      }),
    ],
  };
  const l3 = {
    "network-id": "l3",
    node: [
      {
        "node-id": "192.0.2.1",
        "supporting-node": [on("l2", "bridge")],
        "ietf-l3-unicast-topology:l3-node-attributes": { name: "a.example.net", "router-id": ["192.0.2.1"] },
      },
    ],
  };

  test("three layers are one device with the id of the lowest, transitively", () => {
    const mapped = map({ networks: [l3, l1, l2] });
    expect(mapped.faults).toEqual([]);
    expect(ids(mapped).devices).toEqual(["box", "far"]);
    expect(mapped.claims.devices.find(({ id }) => id === "box")).toEqual({
      id: "box",
      aliases: ["192.0.2.1", "bridge"],
      type: "ROUTER",
      annotations: { name: "a.example.net", routerId: "192.0.2.1", managementAddress: "192.0.2.7" },
    });
  });

  test("a supported termination point is the same port, a supported link the same link", () => {
    const mapped = map({ networks: [l2, l1] });
    expect(ids(mapped).links).toEqual(["box/1-far/1"]);
    expect(mapped.claims.links[0]?.annotations).toEqual({ bandwidthMbps: "10000", latencyMs: "1.5" });
    const port = mapped.claims.ports.find(({ element, port: number }) => element === "box" && number === "1");
    expect(port?.annotations).toEqual({ portName: "xe-0/0/1", portMac: "00:00:5E:00:53:01" });
    expect(ids(mapped).ports.filter((id) => id.startsWith("box/"))).toEqual(["box/1", "box/2", "box/3"]);
  });

  test("a link over a path of others is virtual", () => {
    const network = {
      "network-id": "l1",
      node: ["a", "b", "c"].map((id) => ({ "node-id": id })),
      [LINK]: [link("1", ["a", "1"], ["b", "1"]), link("2", ["b", "2"], ["c", "1"])],
    };
    const overlay = {
      "network-id": "l3",
      node: ["a", "c"].map((id) => ({ "node-id": id, "supporting-node": [on("l1", id)] })),
      [LINK]: [
        link("t", ["a", "9"], ["c", "9"], {
          "supporting-link": ["1", "2"].map((ref) => ({ "network-ref": "l1", "link-ref": ref })),
        }),
      ],
    };
    const { claims } = map({ networks: [overlay, network] });
    expect(claims.links).toContainEqual({
      src: { device: "a", port: "9" },
      dst: { device: "c", port: "9" },
      type: "VIRTUAL",
    });
    expect(claims.links).toHaveLength(3);
  });

  test("a node over several of one network is a device of its own", () => {
    const site = { "node-id": "site", "supporting-node": [on("l1", "box"), on("l1", "far")] };
    const mapped = map({ networks: [l1, { "network-id": "abstract", node: [site] }] });
    expect(ids(mapped).devices).toEqual(["box", "far", "site"]);
  });

  test("layers in a circle and references to nothing do no harm", () => {
    const circle = [
      { "network-id": "x", node: [{ "node-id": "a", "supporting-node": [on("y", "b"), on("gone", "c")] }] },
      { "network-id": "y", node: [{ "node-id": "b", "supporting-node": [on("x", "a")] }] },
    ];
    expect(ids(map({ networks: circle })).devices).toEqual(["a"]);
  });

  test("a chain of 20,000 layers is one device", () => {
    const networks = Array.from({ length: 20_000 }, (_, i) => ({
      "network-id": `n${i}`,
      node: [{ "node-id": `d${i}`, "supporting-node": i > 0 ? [on(`n${i - 1}`, `d${i - 1}`)] : [] }],
    }));
    expect(ids(map({ networks })).devices).toEqual(["d0"]);
  });

  test("names that two layers exchange do not join two devices", () => {
    const networks = [
      { "network-id": "low", node: [{ "node-id": "1" }, { "node-id": "2" }] },
      {
        "network-id": "high",
        node: [
          { "node-id": "1", "supporting-node": [on("low", "2")] },
          { "node-id": "2", "supporting-node": [on("low", "1")] },
        ],
      },
    ];
    const { claims } = map({ networks });
    expect(claims.devices).toEqual([{ id: "1" }, { id: "2" }]);
  });
});

describe("OpenDaylight", () => {
  const connector = (id: string, more: object) => ({ id, ...more });
  const flow1 = {
    "topology-id": "flow:1",
    node: [
      { "node-id": "openflow:1", "termination-point": points("openflow:1:1", "openflow:1:LOCAL") },
      { "node-id": "openflow:2", "termination-point": points("openflow:2:1") },
    ],
    link: [
      link("openflow:1:1", ["openflow:1", "openflow:1:1"], ["openflow:2", "openflow:2:1"]),
      link("openflow:2:1", ["openflow:2", "openflow:2:1"], ["openflow:1", "openflow:1:1"]),
    ],
  };
  const A = "of:0000000000000001";

  test("equipment, names, speeds and states are those of the inventory", () => {
    const inventory = [
      {
        id: "openflow:1",
        "flow-node-inventory:manufacturer": "Nicira, Inc.",
        "flow-node-inventory:hardware": "Open vSwitch",
        "flow-node-inventory:software": "3.1.0",
        "flow-node-inventory:serial-number": "None",
        "flow-node-inventory:description": "s1",
        "flow-node-inventory:ip-address": "192.0.2.9",
        "flow-node-inventory:port-number": 6000,
        "node-connector": [
          connector("openflow:1:1", {
            "flow-node-inventory:name": "s1-eth1",
            "flow-node-inventory:hardware-address": "ba:dc:12:20:c6:76",
            "flow-node-inventory:current-speed": "10000000",
            "flow-node-inventory:current-feature": "ten-gb-fd copper",
            "flow-node-inventory:configuration": "",
            "flow-node-inventory:state": { "link-down": true, live: false, blocked: false },
          }),
          connector("openflow:1:LOCAL", {
            "flow-node-inventory:current-feature": "one-gb-fd fiber",
            "flow-node-inventory:configuration": "PORT-DOWN",
          }),
        ],
      },
      { id: "openflow:9" },
    ];
    const mapped = map({ topologies: [flow1], inventory });
    expect(mapped.faults).toEqual([]);
    expect(ids(mapped).devices).toEqual([A, "of:0000000000000002"]);
    expect(mapped.claims.devices.find(({ id }) => id === A)).toEqual({
      id: A,
      aliases: ["openflow:1"],
      type: "SWITCH",
      available: true,
      mfr: "Nicira, Inc.",
      hw: "Open vSwitch",
      sw: "3.1.0",
      chassisId: "1",
      annotations: { name: "s1", managementAddress: "192.0.2.9", channelId: "192.0.2.9:6000" },
    });
    expect(mapped.claims.ports).toContainEqual({
      element: A,
      port: "1",
      isEnabled: false,
      portSpeed: 10_000,
      type: "copper",
      annotations: { portName: "s1-eth1", portMac: "BA:DC:12:20:C6:76" },
    });
    expect(mapped.claims.ports).toContainEqual({
      element: A,
      port: "local",
      isEnabled: false,
      portSpeed: 1000,
      type: "fiber",
    });
    expect(mapped.claims.links.map(({ state }) => state)).toEqual(["INACTIVE", "INACTIVE"]);
  });

  test("without an inventory no state is claimed", () => {
    const { claims } = map({ topologies: [flow1] });
    expect(claims.links.map(({ state }) => state)).toEqual([undefined, undefined]);
  });

  const HOST = "host:00:00:00:00:00:0a";
  test.each<[string, object, string[]]>([
    [
      "an attachment point",
      { "host-tracker-service:attachment-points": [{ "tp-id": "openflow:1:1" }] },
      ["None"],
    ],
    [
      "addresses in two VLANs",
      {
        "host-tracker-service:addresses": [
          { mac: "00:00:00:00:00:0a", ip: "10.0.0.1", vlan: 0 },
          { mac: "00:00:00:00:00:0a", ip: "10.0.7.1", vlan: 7 },
        ],
        "host-tracker-service:attachment-points": [{ "tp-id": "openflow:1:1", active: true }],
      },
      ["7", "None"],
    ],
    ["a link only", {}, ["None"]],
  ])("a host with %s", (_, augmentation, vlans) => {
    const topology = {
      ...flow1,
      node: [...flow1.node, { "node-id": HOST, "termination-point": points(HOST), ...augmentation }],
      link: [link(`${HOST}/1`, [HOST, HOST], ["openflow:1", "openflow:1:1"])],
    };
    const mapped = map({ topologies: [topology] });
    expect(mapped.faults).toEqual([]);
    expect(ids(mapped).hosts).toEqual(vlans.map((vlan) => `00:00:00:00:00:0A/${vlan}`));
    for (const { locations } of mapped.claims.hosts) expect(locations).toEqual([{ elementId: A, port: "1" }]);
    expect(ids(mapped).devices).toHaveLength(2);
    expect(ids(mapped).links).toEqual([]);
  });
});

describe("malformed records are dropped one by one", () => {
  const good = { "node-id": "a", [TP]: points("1") };
  test.each<[string, object, string]>([
    [
      "a node that is a text",
      { node: [good, "x"] },
      "devices /ietf-network:node has an entry that is not an object",
    ],
    ["a node without an id", { node: [good, { [TP]: points("1") }] }, "devices /node-id is required"],
    ["an id that is a list", { node: [good, { "node-id": ["b"] }] }, "devices /node-id is required"],
    [
      "a termination point without an id",
      { node: [{ ...good, [TP]: [...points("1"), {}] }] },
      "ports /tp-id is required",
    ],
    [
      "termination points that are no list",
      { node: [good, { "node-id": "b", [TP]: 5 }] },
      `ports /${TP} is not a list`,
    ],
    [
      "a link without a destination",
      { node: [good], [LINK]: [{ "link-id": "l", source: { "source-node": "a", "source-tp": "1" } }] },
      "links /destination/dest-node is required",
    ],
    [
      "a link to nothing",
      { node: [good], [LINK]: [link("l", ["a", "1"], ["gone", "1"])] },
      "links /destination/dest-node is not a node of its network",
    ],
  ])("%s", (_, content, fault) => {
    const mapped = map({ networks: [{ "network-id": "n", ...content }] });
    expect(mapped.faults).toEqual([fault]);
    expect(ids(mapped).ports).toContain("a/1");
    expect(ids(mapped).links).toEqual([]);
  });

  test("any JSON gives faults, never an exception", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 4 }), (values) => {
        const entries = values.map((value) =>
          isYangObject(value) ? { "node-id": "a", id: "openflow:1", "topology-id": "t", ...value } : value,
        );
        const network = {
          "network-id": "n",
          "topology-id": "t",
          node: entries,
          [LINK]: entries,
          link: entries,
        };
        map({ networks: [network, ...entries], topologies: [network, ...entries], inventory: entries });
      }),
    );
  });
});

test("the order of the lists does not matter", () => {
  const names = ["a", "b", "c", "d"];
  const low = {
    "network-id": "low",
    node: names.map((id) => ({ "node-id": id, [TP]: points("1", "2", "x") })),
  };
  const high = {
    "network-id": "high",
    node: names.map((id) => ({
      "node-id": `${id}2`,
      "supporting-node": [on("low", id)],
      [TP]: points("y", "1"),
    })),
    [LINK]: names.map((id) => link(id, [`${id}2`, "y"], ["a2", "1"])),
  };
  const canonical = ({ claims }: Mapped) =>
    JSON.stringify(KINDS.map((kind) => claims[kind].map((c) => JSON.stringify(c)).sort()));
  const expected = canonical(map({ networks: [low, high] }));
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: 4 }), fc.boolean(), (order, swapped) => {
      const shuffled = [low, high].map((network) => ({
        ...network,
        node: order.map((_, i) => network.node[names.indexOf(order[i] ?? "")]),
        ...(LINK in network && { [LINK]: order.map((id) => high[LINK][names.indexOf(id)]) }),
      }));
      expect(canonical(map({ networks: swapped ? shuffled.reverse() : shuffled }))).toBe(expected);
    }),
  );
});
