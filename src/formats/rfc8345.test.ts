import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  campus,
  device,
  graph,
  host,
  hostileGraph,
  type ListedGraph,
  link,
  mac,
} from "../../test/support/sample-network.ts";
import { RFC8345_NETWORK_ID } from "../model/rfc8345-ids.ts";
import { renderRfc8345 } from "./rfc8345.ts";

interface Network {
  "network-id": string;
  "network-types": Record<string, never>;
  node: { "node-id": string; "ietf-network-topology:termination-point": { "tp-id": string }[] }[];
  "ietf-network-topology:link": {
    "link-id": string;
    source: { "source-node": string; "source-tp": string };
    destination: { "dest-node": string; "dest-tp": string };
  }[];
}

function render(topology: ListedGraph): Network {
  const document: { "ietf-network:networks": { network: [Network] } } = JSON.parse(
    [...renderRfc8345(topology)].join(""),
  );
  return document["ietf-network:networks"].network[0];
}

/** STD 66, normalised as `inet:uri` requires: lower-case scheme, upper-case hex, no unnecessary encoding. */
const URI = /^[a-z][a-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#@!$&'()*+,;=]|%[0-9A-F]{2})+$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const encodedCharacters = (id: string) =>
  [...id.matchAll(/%(..)/g)].map(([, hex = ""]) => Number.parseInt(hex, 16));
const isUri = (id: string) => URI.test(id) && !UNRESERVED.test(String.fromCharCode(...encodedCharacters(id)));

/** The requirements of the modules' keys and references, some of which yanglint does not check. */
function expectValid(topology: ListedGraph): void {
  const network = render(topology);
  const points = new Map<string, Set<string>>();
  for (const node of network.node) {
    expect(isUri(node["node-id"]), node["node-id"]).toBe(true);
    const list = node["ietf-network-topology:termination-point"].map((tp) => tp["tp-id"]);
    for (const id of list) expect(isUri(id), id).toBe(true);
    expect(new Set(list).size).toBe(list.length);
    points.set(node["node-id"], new Set(list));
  }
  expect(points.size).toBe(topology.devices.length + topology.hosts.length);
  const links = network["ietf-network-topology:link"];
  for (const { "link-id": id, source, destination } of links) {
    expect(isUri(id), id).toBe(true);
    expect(points.get(source["source-node"])?.has(source["source-tp"])).toBe(true);
    expect(points.get(destination["dest-node"])?.has(destination["dest-tp"])).toBe(true);
  }
  expect(new Set(links.map((item) => item["link-id"])).size).toBe(links.length);
}

test("a small network", () => {
  const a = { device: "of:1", port: "1" };
  const b = { device: "not a uri", port: "2" };
  const topology = graph([device("of:1"), device("not a uri")], [link(a, b)], [host(mac(10), a)]);
  const hostUri = "gazetteer:host/00:00:00:00:00:0A/None";
  expect(render(topology)).toEqual({
    "network-id": RFC8345_NETWORK_ID,
    "network-types": {},
    node: [
      {
        "node-id": "gazetteer:device/not%20a%20uri",
        "ietf-network-topology:termination-point": [{ "tp-id": "gazetteer:device/not%20a%20uri/2" }],
      },
      { "node-id": "of:1", "ietf-network-topology:termination-point": [{ "tp-id": "of:1/1" }] },
      { "node-id": hostUri, "ietf-network-topology:termination-point": [{ "tp-id": `${hostUri}/nic` }] },
    ],
    "ietf-network-topology:link": [
      {
        "link-id": "gazetteer:link/of:1/1-not%20a%20uri/2",
        source: { "source-node": "of:1", "source-tp": "of:1/1" },
        destination: {
          "dest-node": "gazetteer:device/not%20a%20uri",
          "dest-tp": "gazetteer:device/not%20a%20uri/2",
        },
      },
      {
        "link-id": "gazetteer:attachment/00:00:00:00:00:0A/None/nic-of:1/1",
        source: { "source-node": hostUri, "source-tp": `${hostUri}/nic` },
        destination: { "dest-node": "of:1", "dest-tp": "of:1/1" },
      },
      {
        "link-id": "gazetteer:attachment/of:1/1-00:00:00:00:00:0A/None/nic",
        source: { "source-node": "of:1", "source-tp": "of:1/1" },
        destination: { "dest-node": hostUri, "dest-tp": `${hostUri}/nic` },
      },
    ],
  });
});

describe("keys are unique URIs and references resolve", () => {
  test("for a campus, hostile ids and an empty network", () => {
    expectValid(campus());
    expectValid(hostileGraph());
    expectValid(graph([], []));
  });

  test("for any ids", () => {
    const id = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.string({
        unit: fc.constantFrom("o", "f", ":", "/", "?", "#", "%", "4", "1", "[", "G", "~", "é"),
        minLength: 1,
      }),
      fc.constantFrom("gazetteer:device/of", "of:1", "Of:1", "of:%31", "http://A"),
    );
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 6 }), (ids) => {
        const [first = "", second = ""] = ids;
        const links = [link({ device: first, port: "1" }, { device: second, port: "local" })];
        expectValid(
          graph(
            ids.map((one) => device(one)),
            links,
            [host(mac(1), { device: second, port: "3" })],
          ),
        );
      }),
    );
  });
});
