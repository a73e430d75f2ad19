import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ids, LINK, link, type Mapped, map, on, points, TP } from "../../../test/support/restconf-mapping.ts";
import { isRecord } from "../../lib/is-record.ts";
import { KINDS } from "../../model/ids.ts";

describe("names of nodes and termination points", () => {
  test.each([
    ["openflow:1", "openflow:1:2", "of:0000000000000001/2"],
    ["openflow:18446744073709551615", "openflow:18446744073709551615:1", "of:ffffffffffffffff/1"],
    ["openflow:99999999999999999999", "openflow:99999999999999999999:1", "openflow:99999999999999999999/1"],
    ["openflow:1", "openflow:1:LOCAL", "of:0000000000000001/local"],
    ["openflow:1", "openflow:1:4294967294", "of:0000000000000001/local"],
    ["openflow:1", "openflow:1:4294967293", "of:0000000000000001/controller"],
    ["openflow:1", "openflow:11:1", "of:0000000000000001/#"],
    ["s1", "s1:1", "s1/1"],
    ["s1", "s1/07", "s1/7"],
    ["s1", "4", "s1/4"],
    ["s1", "s1:", "s1/#"],
  ])("%s, %s is %s", (node, tp, expected) => {
    const mapped = map({
      topologies: [{ "topology-id": "t", node: [{ "node-id": node, "termination-point": points(tp) }] }],
    });
    const [port] = ids(mapped).ports;
    // # is a number made from the name.
    expect(port?.replace(/1\d{9}$/, "#")).toBe(expected);
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
          isRecord(value) ? { "node-id": "a", id: "openflow:1", "topology-id": "t", ...value } : value,
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
  const named = (name: string) => ({ "ietf-l2-topology:l2-node-attributes": { name } });
  const low = {
    "network-id": "low",
    node: names.map((id) => ({ "node-id": id, ...named(`${id}-low`), [TP]: points("1", "2", "x") })),
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
  const same = {
    "network-id": "same",
    node: names.map((id) => ({ "node-id": id, ...named(`${id}-same`), [TP]: points("1") })),
  };
  const canonical = ({ claims }: Mapped) =>
    JSON.stringify(KINDS.map((kind) => claims[kind].map((c) => JSON.stringify(c)).sort()));
  const networks = [low, high, same];
  const expected = canonical(map({ networks }));
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      expect(canonical(map({ networks: shuffle(networks, { state: seed }) }))).toBe(expected);
    }),
  );
});

/** All lists in another order. */
function shuffle<T>(value: T, random: { state: number }): T;
function shuffle(value: unknown, random: { state: number }): unknown {
  if (Array.isArray(value)) {
    const keyed = value.map((entry) => {
      random.state = (Math.imul(random.state, 1_664_525) + 1_013_904_223) >>> 0;
      return { key: random.state, entry: shuffle(entry, random) };
    });
    return keyed.sort((a, b) => a.key - b.key).map(({ entry }) => entry);
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shuffle(entry, random)]));
}
