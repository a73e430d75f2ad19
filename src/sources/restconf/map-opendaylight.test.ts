import { describe, expect, test } from "bun:test";
import { ids, link, map, points } from "../../../test/support/restconf-mapping.ts";

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

  test("topologies over others: nodes, points and links are joined as the draft refers to them", () => {
    const overlay = {
      "topology-id": "overlay",
      "underlay-topology": [{ "topology-ref": "flow:1" }],
      node: ["1", "2"].map((n) => ({
        "node-id": `router${n}`,
        "supporting-node": [{ "topology-ref": "flow:1", "node-ref": `openflow:${n}` }],
        "termination-point": [{ "tp-id": "eth0", "tp-ref": [`openflow:${n}:1`] }],
      })),
      link: [
        link("a", ["router1", "eth0"], ["router2", "eth0"]),
        {
          ...link("b", ["router2", "other"], ["router1", "other"]),
          "supporting-link": [{ "link-ref": "openflow:2:1" }],
        },
      ],
    };
    const mapped = map({ topologies: [overlay, flow1] });
    expect(mapped.faults).toEqual([]);
    expect(mapped.claims.devices.map(({ aliases }) => aliases)).toEqual([
      ["openflow:1", "router1"],
      ["openflow:2", "router2"],
    ]);
    expect(ids(mapped).links).toEqual(ids(map({ topologies: [flow1] })).links);
  });
});
