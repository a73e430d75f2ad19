import { describe, expect, test } from "bun:test";
import {
  campus,
  device,
  graph,
  host,
  link,
  listAttachments,
  listCables,
  mac,
} from "../../test/support/sample-network.ts";
import { runToEnd, withoutPauses } from "../lib/steps.ts";
import {
  assignNodeNames,
  commonPrefix,
  countHosts,
  deviceIdsOf,
  deviceName,
  resolvedLinks,
} from "./graph.ts";

const a1 = { device: "a", port: "1" };
const b1 = { device: "b", port: "1" };
const forward = link(a1, b1);
const reverse = link(b1, a1);
const devices = [device("a"), device("b")];

describe("cables", () => {
  test("a record and its reverse are one cable", () => {
    const cables = listCables(graph(devices, [forward, reverse]));
    expect(cables).toEqual([
      {
        id: "a/1-b/1",
        from: { port: "1", device: "a" },
        to: { port: "1", device: "b" },
        links: [forward, reverse],
        active: true,
        oneWay: false,
        verified: true,
        conflict: false,
      },
    ]);
    expect(listCables(campus())).toHaveLength(campus().links.length / 2);
  });

  test.each([
    ["no reverse", [reverse], { from: "b", active: true, oneWay: true }],
    [
      "no reverse, down",
      [{ ...reverse, state: "INACTIVE" as const }],
      { from: "b", active: false, oneWay: true },
    ],
    [
      "one direction down",
      [{ ...forward, state: "INACTIVE" as const }, reverse],
      { from: "b", active: true, oneWay: true },
    ],
    [
      "both down",
      [
        { ...forward, state: "INACTIVE" as const },
        { ...reverse, state: "INACTIVE" as const },
      ],
      { from: "a", active: false, oneWay: false },
    ],
  ])("%s", (_, links, expected) => {
    const [cable] = listCables(graph(devices, links));
    expect({ from: cable?.from.device, active: cable?.active, oneWay: cable?.oneWay }).toEqual(expected);
  });

  test("one unverified or conflicting record marks the cable", () => {
    const conflicting = { ...reverse, verified: false, annotations: { conflict: "port has two links" } };
    expect(listCables(graph(devices, [forward, conflicting]))[0]).toMatchObject({
      verified: false,
      conflict: true,
    });
  });

  test("other ports are another cable; a link to a device outside the graph is none", () => {
    const other = link(a1, { device: "b", port: "2" });
    const away = link({ device: "b", port: "3" }, { device: "c", port: "1" });
    expect(listCables(graph(devices, [reverse, other, away]))).toHaveLength(2);
    const network = graph(devices, [reverse, other, away]);
    const resolved = resolvedLinks(network, runToEnd(deviceIdsOf(network)));
    expect([...withoutPauses(resolved)]).toHaveLength(2);
  });

  test("a cable from a device to itself is one cable", () => {
    const loop = [link(a1, { device: "a", port: "2" }), link({ device: "a", port: "2" }, a1)];
    expect(listCables(graph(devices, loop))).toHaveLength(1);
  });
});

test("a host is attached at each location in the graph and counted once, at the newest", () => {
  const locations = [
    { elementId: "outside", port: "1" },
    { elementId: "b", port: "4" },
    { elementId: "a", port: "2" },
  ];
  const roamer = host(mac(1), b1, { locations });
  const g = graph(devices, [], [roamer, host(mac(2), b1)]);
  expect(listAttachments(g).map(({ at }) => `${at.device}/${at.port}`)).toEqual(["b/4", "a/2", "b/1"]);
  expect([...runToEnd(countHosts(g, new Set(["a", "b"])))]).toEqual([["b", 2]]);
});

test("the name of a device without a name annotation is its id", () => {
  expect(deviceName(device("a", { annotations: { name: " core-1 " } }))).toBe("core-1");
  expect(deviceName(device("a", { annotations: { name: " " } }))).toBe("a");
  expect(deviceName(device("a"))).toBe("a");
});

test("node names are unique even if ids are not", () => {
  const g = graph([device(`${mac(1)}/None`), device("x\u0001"), device("x\u0002")], [], [host(mac(1), a1)]);
  const names = runToEnd(assignNodeNames(g, (id) => id.replace(/\p{Cc}/gu, "\ufffd")));
  expect(g.devices.map((d) => names.device(d.id))).toEqual([`${mac(1)}/None`, "x\ufffd", "x\ufffd~2"]);
  expect(names.host(`${mac(1)}/None`)).toBe(`${mac(1)}/None~2`);
});

test.each([
  [["fra1-leaf1", "fra1-leaf2"], "fra1-"],
  [["fra1-core1"], ""],
  [["a", "b"], ""],
  [["of:01", "of:02"], ""],
  [["x-", "x-1"], ""],
  [["dc.row1.a", "dc.row1.b", "dc.row2.a"], "dc."],
])("commonPrefix of %j is %j", (names, prefix) => {
  expect(commonPrefix(names)).toBe(prefix);
});
