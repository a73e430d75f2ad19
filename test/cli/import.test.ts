/** `gazetteer import` as a user runs it: file in, network file out, which passes `check` and is served. */
import { beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Device, Host, Link } from "../../src/model/entity.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Network {
  readonly devices: readonly Device[];
  readonly links: readonly Link[];
  readonly hosts: readonly Host[];
}

/** What a service shows that reads the file. */
async function serve(path: string): Promise<Network & { export(format: string): Promise<string> }> {
  const service = await startService({ args: ["--data", ":memory:", "--file", path] });
  await until(async () => (await service.fetch("/readyz")).status === 200, { what: "readiness" });
  const list = async (kind: string) => (await (await service.fetch(`/controller/v1/${kind}`)).json())[kind];
  const network = { devices: await list("devices"), links: await list("links"), hosts: await list("hosts") };
  const exports = new Map<string, string>();
  for (const format of ["netjson", "graphml", "rfc8345"]) {
    exports.set(format, await (await service.fetch(`/controller/v1/topology?format=${format}`)).text());
  }
  await service.stop();
  return { ...network, export: async (format) => exports.get(format) ?? "" };
}

/** Imports, checks and serves. */
async function imported(path: string, ...flags: string[]): Promise<Network & { stderr: string }> {
  const { status, stdout, stderr } = await runCommand(["import", path, ...flags]);
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  const result = file(`imported-${path.replaceAll(/\W/g, "-")}.yaml`, stdout);
  const check = await runCommand(["check", "--file", result]);
  expect({ status: check.status, stderr: check.stderr.replaceAll(/^(note|warning): .*\n/gm, "") }).toEqual({
    status: 0,
    stderr: "",
  });
  return { ...(await serve(result)), stderr };
}

const ids = (entities: readonly { readonly id: string }[]) => entities.map(({ id }) => id).sort();
const byId = (devices: readonly Device[], id: string) => devices.find((device) => device.id === id);

const ZOO = `<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d36" />
  <key attr.name="LinkLabel" attr.type="string" for="edge" id="d37" />
  <key attr.name="LinkSpeedUnits" attr.type="string" for="edge" id="d39" />
  <key attr.name="LinkSpeed" attr.type="string" for="edge" id="d35" />
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d32" />
  <key attr.name="type" attr.type="string" for="node" id="d30" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d28" />
  <key attr.name="Network" attr.type="string" for="graph" id="d20" />
  <graph edgedefault="undirected">
    <data key="d20">Example</data>
    <node id="0"><data key="d28">51.50853</data><data key="d32">-0.12574</data><data key="d33">London</data></node>
    <node id="1"><data key="d33">Paris</data><data key="d30">Green Node</data></node>
    <node id="2"/>
    <node id="2"><data key="d33">again</data></node>
    <node id="Porto &amp; Faro"/>
    <node/>
    <edge source="0" target="1"><data key="d37">10 Gbps</data><data key="d36">10000000000.0</data></edge>
    <edge source="1" target="0"><data key="d35">155</data><data key="d39">M</data></edge>
    <edge source="1" target="2"/>
    <edge source="2" target="2"/>
    <edge source="2" target="9"/>
    <hyperedge><endpoint node="0"/><endpoint node="1"/><endpoint node="2"/></hyperedge>
  </graph>
</graphml>
`;

describe("GraphML of the Topology Zoo", () => {
  test("nodes, parallel edges and loops are served; what is left out is listed with its line", async () => {
    const { devices, links, stderr } = await imported(file("zoo.graphml", ZOO));
    expect(ids(devices)).toEqual(["0", "1", "2", "Porto_&_Faro"]);
    expect(byId(devices, "0")?.annotations).toMatchObject({
      name: "London",
      latitude: "51.50853",
      longitude: "-0.12574",
    });
    expect(byId(devices, "1")?.annotations).toMatchObject({ name: "Paris", type: "Green Node" });
    expect(byId(devices, "Porto_&_Faro")?.annotations.name).toBe("Porto & Faro");
    expect(links).toHaveLength(8);
    expect(links.every(({ bidirectional }) => bidirectional)).toBe(true);
    expect(links.filter(({ src, dst }) => src.device === "0" && dst.device === "1")).toHaveLength(2);
    expect(links.filter(({ src, dst }) => src.device === "2" && dst.device === "2")).toHaveLength(2);
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(folder.length + 1));
    expect(lines.sort()).toEqual(
      [
        "zoo.graphml (graphml): 4 devices, 8 ports, 8 links, 0 hosts",
        "zoo.graphml:18: left out a node: it has no id",
        'zoo.graphml:16: left out the node "2": it is a second one with this id',
        'zoo.graphml:17: the node "Porto & Faro" gets the id Porto_&_Faro: an id has 1 to 255 characters, none of them a space, a control character or a mark of the text direction',
        'zoo.graphml:23: left out the edge from "2" to "9": there is no node "9"',
        "zoo.graphml:24: left out a hyperedge: a link has two ends; describe it as a node with edges",
      ].sort(),
    );
  });

  test("the speed of a link is that of its ports", async () => {
    const { stdout } = await runCommand(["import", file("speed.graphml", ZOO)]);
    const {
      devices: [london],
    } = Bun.YAML.parse(stdout) as { devices: { ports: object[] }[] };
    expect(london?.ports).toEqual([
      { port: expect.any(String), portSpeed: 10_000, annotations: { portName: "to-1" } },
      { port: expect.any(String), portSpeed: 155, annotations: { portName: "to-1-2" } },
    ]);
  });
});

test("GraphML of other tools: directed edges, ports, defaults, labels and groups", async () => {
  const text = `<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key id="site" for="node" attr.name="site"><default>lab</default></key>
  <key id="g" for="node" yfiles.type="nodegraphics"/>
  <key id="up" for="node" attr.name="available" attr.type="boolean"/>
  <graph edgedefault="directed">
    <node id="a"><port name="eth0"/><data key="up">false</data><data key="site">x</data></node>
    <node id="b"><data key="g"><y:ShapeNode><y:Fill color="#fff"/><y:NodeLabel>Core <![CDATA[<1>]]></y:NodeLabel></y:ShapeNode></data></node>
    <node id="B"/>
    <node id="folder"><graph edgedefault="undirected"><node id="c"/><node id="d"/><edge source="c" target="d"/></graph></node>
    <edge source="a" target="b" sourceport="eth0" targetport="7"/>
    <edge source="b" target="a"/>
    <edge source="a" target="c"/>
    <edge source="a" target="d" directed="false"/>
  </graph></graphml>`;
  const { devices, links, stderr } = await imported(file("tool.graphml", text));
  expect(ids(devices)).toEqual(["B~2", "a", "b", "c", "d", "folder"]);
  expect(byId(devices, "a")).toMatchObject({ available: false, annotations: { site: "x" } });
  expect(byId(devices, "b")?.annotations).toMatchObject({ name: "Core <1>", site: "lab" });
  expect(byId(devices, "c")?.annotations).toMatchObject({ group: "folder" });
  const ends = links
    .map(({ src, dst, bidirectional }) => `${src.device}-${dst.device} ${bidirectional}`)
    .sort();
  expect(ends).toEqual([
    "a-b false",
    "a-c false",
    "a-d true",
    "b-a false",
    "c-d true",
    "d-a true",
    "d-c true",
  ]);
  expect(ids(links)).toContain("a/1003123639-b/7");
  expect(stderr).toContain('the node "B" gets the id B~2: another node has the same id in another case');
});

test("containerlab: kinds, groups, container names as aliases, interfaces as ports", async () => {
  const text = `name: srlceos
topology:
  defaults: {kind: nokia_srlinux, labels: {site: ber}}
  kinds:
    nokia_srlinux: {type: ixrd3, image: "ghcr.io/nokia/srlinux:24.3"}
  groups:
    access: {kind: linux, image: "alpine:3"}
  nodes:
    srl:
      mgmt-ipv4: 172.20.20.2
      labels: {site: muc, rack: 7}
    ceos: {kind: arista_ceos, image: "ceos:4.32.0F"}
    pc1: {group: access}
    br0: {kind: bridge}
    r1:
      kind: cisco_xrd
  links:
    - endpoints: ["srl:e1-1", "ceos:eth1"]
    - endpoints: ["srl:e1-2", "pc1:eth1"]
      mtu: 1500
    - type: veth
      endpoints: [{node: srl, interface: e1-3}, {node: ceos, interface: eth2}]
    - endpoints: ["br0:p1", "r1:Gi0-0-0-0"]
    - endpoints: ["srl:e1-1", "ceos:eth1"]
    - endpoints: ["srl:e1-4", "host:veth1"]
    - {type: vxlan, endpoint: {node: srl, interface: e1-5}, remote: 10.0.0.1}
    - endpoints: ["srl:e1-6", "gone:eth1"]
    - endpoints: ["srl"]
`;
  const { devices, links, stderr } = await imported(file("lab.clab.yml", text));
  expect(devices.map(({ id, type }) => `${id} ${type}`)).toEqual([
    "br0 SWITCH",
    "ceos SWITCH",
    "pc1 SERVER",
    "r1 ROUTER",
    "srl SWITCH",
  ]);
  expect(byId(devices, "srl")).toMatchObject({
    hw: "ixrd3",
    sw: "ghcr.io/nokia/srlinux:24.3",
    aliases: ["clab-srlceos-srl"],
    annotations: {
      name: "srl",
      kind: "nokia_srlinux",
      site: "muc",
      rack: "7",
      managementAddress: "172.20.20.2",
    },
  });
  expect(byId(devices, "ceos")).toMatchObject({ hw: "unknown", sw: "ceos:4.32.0F" });
  expect(byId(devices, "pc1")?.annotations).toMatchObject({ kind: "linux", site: "ber" });
  expect(links).toHaveLength(8);
  for (const reason of [
    'lab.clab.yml:24: left out the edge from "srl" to "ceos": it is a second one between the same ports',
    "lab.clab.yml:25: left out topology.links[5]: host:veth1 is outside of the lab",
    "lab.clab.yml:26: left out topology.links[6]: a link of type vxlan has no two endpoints",
    'lab.clab.yml:27: left out the edge from "srl" to "gone": there is no node "gone"',
    'lab.clab.yml:28: left out topology.links[8]: it wants two endpoints such as "node1:eth1"',
  ])
    expect(stderr).toContain(reason);
});

test("NetJSON of a routing protocol: both directions of a link are one cable", async () => {
  const graph = {
    type: "NetworkGraph",
    protocol: "olsr",
    version: "0.8",
    metric: "ETX",
    nodes: [
      {
        id: "172.16.40.24",
        label: "node-A",
        local_addresses: ["10.0.0.1", "10.0.0.2"],
        properties: { hostname: "a" },
      },
      { id: "172.16.40.60", properties: { deep: { nested: [1] } } },
      { label: "without id" },
    ],
    links: [
      { source: "172.16.40.24", target: "172.16.40.60", cost: 1.0, cost_text: "good", properties: { lq: 1 } },
      { source: "172.16.40.60", target: "172.16.40.24", cost: 2.5 },
      { source: "172.16.40.60" },
    ],
  };
  const { devices, links, stderr } = await imported(file("olsr.json", JSON.stringify(graph, null, 1)));
  expect(ids(devices)).toEqual(["172.16.40.24", "172.16.40.60"]);
  expect(byId(devices, "172.16.40.24")?.annotations).toMatchObject({
    name: "node-A",
    hostname: "a",
    managementAddress: "10.0.0.1",
    localAddresses: "10.0.0.1 10.0.0.2",
  });
  expect(byId(devices, "172.16.40.60")?.annotations.deep).toBe('{"nested":[1]}');
  expect(links.map(({ bidirectional, annotations }) => [bidirectional, annotations?.cost])).toEqual([
    [true, "1"],
    [true, "2.5"],
  ]);
  expect(stderr).toMatch(/olsr\.json:\d+: left out nodes\[2\]: it has no id\n/);
  expect(stderr).toMatch(/olsr\.json:\d+: left out links\[2\]: it has no source or no target\n/);
});

describe("exports of this service, imported again", () => {
  const SAMPLE = {
    devices: [
      { id: "of:0000000000000001", type: "ROUTER", mfr: "a \"b\" <c>", serial: "0012", aliases: ["openflow:1", "r1"], annotations: { name: "leaf 1", latitude: "50.1" } },
      { id: "Leaf-2", available: false, role: "MASTER", driver: "d" },
      { id: "netconf:10.0.0.1:830" },
      { id: "alone" },
    ],
    links: [
      { src: { device: "of:0000000000000001", port: 1 }, dst: { device: "Leaf-2", port: 1 }, bidirectional: true, annotations: { metric: "5" } },
      { src: { device: "of:0000000000000001", port: 2 }, dst: { device: "Leaf-2", port: 2 }, bidirectional: true },
      { src: { device: "Leaf-2", port: 3 }, dst: { device: "netconf:10.0.0.1:830", port: "local" }, type: "TUNNEL", state: "INACTIVE", verified: false },
    ],
    hosts: [
      { mac: "00:00:00:00:00:01", vlan: 10, ipAddresses: ["10.0.0.1", "2001:db8::1"], locations: [{ elementId: "Leaf-2", port: 7 }, { elementId: "of:0000000000000001", port: 8 }], annotations: { name: "pc" } },
      { mac: "00:00:00:00:00:02", configured: true, locations: [{ elementId: "Leaf-2", port: 9 }], auxLocations: [{ elementId: "of:0000000000000001", port: 8 }] },
    ],
  }; // biome-ignore format: a table
  let original: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    original = await serve(file("sample.json", JSON.stringify(SAMPLE)));
  });

  const withoutTracking = (entities: readonly object[]) =>
    JSON.parse(JSON.stringify(entities), (name, value) =>
      ["firstSeen", "lastChanged", "sources", "revision"].includes(name) ? undefined : value,
    );

  test("rfc8345, which has ids only", async () => {
    const again = await imported(file("own-rfc8345.json", await original.export("rfc8345")));
    expect(ids(again.devices)).toEqual(ids(original.devices));
    expect(ids(again.links)).toEqual(ids(original.links));
    expect(ids(again.hosts)).toEqual(ids(original.hosts));
  });

  test.each(["netjson", "graphml"])("%s", async (format) => {
    const name = `own.${format === "graphml" ? "graphml" : "json"}`;
    const again = await imported(file(name, await original.export(format)));
    expect(withoutTracking(again.devices)).toEqual(withoutTracking(original.devices));
    expect(withoutTracking(again.hosts)).toEqual(withoutTracking(original.hosts));
    expect(ids(again.links)).toEqual(ids(original.links));
    // NetJSON has no annotations of links here.
    const expected = withoutTracking(original.links).map((link: { annotations?: object }) => {
      const { annotations: _, ...rest } = link;
      return format === "graphml" ? link : rest;
    });
    expect(withoutTracking(again.links)).toEqual(expected);
  });
});

describe("RFC 8345", () => {
  test("layers and OpenDaylight's topology are read as by the source restconf", async () => {
    const document = {
      "network-topology:network-topology": {
        topology: [
          {
            "topology-id": "flow:1",
            node: [
              { "node-id": "openflow:1", "termination-point": [{ "tp-id": "openflow:1:1" }] },
              { "node-id": "openflow:2" },
              { "termination-point": [] },
            ],
            link: [
              {
                "link-id": "openflow:1:1",
                source: { "source-node": "openflow:1", "source-tp": "openflow:1:1" },
                destination: { "dest-node": "openflow:2", "dest-tp": "openflow:2:3" },
              },
              {
                "link-id": "openflow:2:4",
                source: { "source-node": "openflow:2", "source-tp": "openflow:2:4" },
                destination: { "dest-node": "openflow:9", "dest-tp": "openflow:9:1" },
              },
            ],
          },
        ],
      },
    };
    const { devices, links, stderr } = await imported(file("odl.json", JSON.stringify(document)));
    expect(devices.map(({ id, aliases }) => [id, aliases])).toEqual([
      ["of:0000000000000001", ["openflow:1"]],
      ["of:0000000000000002", ["openflow:2"]],
    ]);
    expect(ids(links)).toEqual(["of:0000000000000001/1-of:0000000000000002/3"]);
    expect(stderr).toContain("odl.json: left out one of the devices: node-id is required\n");
    expect(stderr).toContain(
      "odl.json: left out one of the links: destination/dest-node is not a node of its network\n",
    );
  });
});
