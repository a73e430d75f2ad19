import { expect, test } from "bun:test";
import {
  degradedCampus,
  device,
  graph,
  host,
  hostileGraph,
  link,
  mac,
} from "../../test/support/sample-network.ts";
import type { TopologyGraph } from "./graph.ts";
import { renderNetJson } from "./netjson.ts";

interface NetworkGraph {
  type: string;
  protocol: string;
  version: string;
  metric: string;
  revision: string;
  nodes: { id: string; label: string; local_addresses: string[]; properties: Record<string, unknown> }[];
  links: { source: string; target: string; cost: number; properties: Record<string, unknown> }[];
}
const render = (graph: TopologyGraph): NetworkGraph => JSON.parse([...renderNetJson(graph)].join(""));

test("a small network", () => {
  const a = { device: "of:1", port: "1" };
  const b = { device: "of:2", port: "2" };
  const rendered = render(
    graph(
      [
        device("of:1", { annotations: { name: "one", managementAddress: "10.0.0.1" } }),
        device("of:2", { available: false }),
      ],
      [link(a, b), link(b, a, { state: "INACTIVE", verified: false })],
      [host(mac(1), { device: "of:2", port: "9" }, { ipAddresses: ["10.1.0.1"] })],
    ),
  );
  expect(rendered).toMatchObject({
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    metric: "hops",
    revision: "42",
    nodes: [
      {
        id: "of:1",
        label: "one",
        local_addresses: ["10.0.0.1"],
        properties: { kind: "device", available: true },
      },
      { id: "of:2", label: "of:2", local_addresses: [], properties: { available: false } },
      { id: `${mac(1)}/None`, label: "10.1.0.1", local_addresses: ["10.1.0.1", mac(1)] },
    ],
    links: [
      {
        source: "of:1",
        target: "of:2",
        cost: 1,
        properties: {
          ids: ["of:1/1-of:2/2", "of:2/2-of:1/1"],
          state: "ACTIVE",
          bidirectional: false,
          verified: false,
          source_port: "1",
          target_port: "2",
        },
      },
      { source: `${mac(1)}/None`, target: "of:2", properties: { kind: "attachment", target_port: "9" } },
    ],
  });
});

test.each([
  ["campus", degradedCampus()],
  ["hostile", hostileGraph()],
  ["empty", graph([], [])],
])("%s: ids are unique, every end is a node, no record is repeated", (_, network) => {
  const { nodes, links } = render(network);
  const ids = new Set(nodes.map((node) => node.id));
  expect(ids.size).toBe(network.devices.length + network.hosts.length);
  for (const { source, target } of links) expect(ids.has(source) && ids.has(target)).toBe(true);
  expect(new Set(links.map((item) => JSON.stringify(item))).size).toBe(links.length);
  for (const node of nodes) expect(new Set(node.local_addresses).size).toBe(node.local_addresses.length);
});
