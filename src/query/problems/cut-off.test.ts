import { describe, expect, test } from "bun:test";
import { runToEnd } from "../../lib/steps.ts";
import { linkId } from "../../model/ids.ts";
import { LinkGraph } from "../../view/link-graph.ts";
import { type Fault, type FaultEffect, findCutOffs } from "./cut-off.ts";

interface Network {
  /** `a-b` is a cable, `a=b` two of them; `a~b` an inactive one, `a!b` one that was lost. */
  readonly cables: string;
  readonly down?: string;
  /** Hosts by device; 1 where it is not given. `a b`: hosts that are at both. */
  readonly hosts?: Readonly<Record<string, number>>;
  /** `a:5`: a host of this device that was removed at this hour; `a+b:5` of both. */
  readonly removed?: string;
}

const HOUR_MS = 3_600_000;

function cutOffs(network: Network, faults: readonly string[]): string[] {
  return effectsOf(network, faults).map(({ cutOff: { devices: ids, deviceCount, hostCount } }) => {
    expect(ids).toHaveLength(Math.min(100, deviceCount));
    return `${[...ids].sort().join(" ")} / ${hostCount}`;
  });
}

/** The names of the faults that separate the devices of these faults. */
const separators = (network: Network, faults: readonly string[]): (string | undefined)[] =>
  effectsOf(network, faults).map(({ separatedBy }) => separatedBy?.replace(/^\d+ /, ""));

/** A fault is a device or `a-b`, with its hour: `a-b:3`; 0 where it is not given. */
function effectsOf(
  { cables, down = "", hosts = {}, removed = "" }: Network,
  faults: readonly string[],
): FaultEffect[] {
  const unavailable = new Set(down.split(" "));
  const devices = new Map<string, { available: boolean }>();
  const links = new Map<
    string,
    {
      src: { device: string; port: string };
      dst: { device: string; port: string };
      state: "ACTIVE" | "INACTIVE";
      type: "DIRECT";
    }
  >();
  const lost: { src: string; dst: string }[] = [];
  for (const [index, cable] of cables.split(" ").entries()) {
    const [, a = "", sign = "", b = ""] = /^(\w+)([-=~!]?)(\w*)$/.exec(cable) ?? [];
    for (const id of [a, b]) if (id !== "") devices.set(id, { available: !unavailable.has(id) });
    if (sign === "") continue;
    if (sign === "!") lost.push({ src: a, dst: b }, { src: b, dst: a });
    else {
      for (let i = 0; i < (sign === "=" ? 2 : 1); i++) {
        const port = String(index * 10 + i);
        for (const [from, to] of [
          [a, b],
          [b, a],
        ] as const) {
          const [src, dst] = [
            { device: from, port },
            { device: to, port },
          ];
          const state = sign === "~" ? "INACTIVE" : "ACTIVE";
          links.set(linkId(src, dst), { src, dst, state, type: "DIRECT" });
        }
      }
    }
  }
  const graph = runToEnd(LinkGraph.empty.with({ devices, links }));
  const parsed = faults.map((fault, i): Fault => {
    const [name = "", since = "0"] = fault.split(":");
    const [src = "", dst] = name.split("-");
    // A name may be given twice.
    return { id: `${i} ${name}`, at: dst === undefined ? src : { src, dst }, since: Number(since) * HOUR_MS };
  });
  const groups = Object.entries(hosts).map(([ids, count]) => ({ devices: ids.split(" "), count }));
  const located = {
    at: (id: string) => hosts[id] ?? 1,
    groups: groups.filter(({ devices: ids }) => ids.length > 1),
    removed: [...removed.matchAll(/(\S+):([\d.]+)/g)].map(([, at = "", time]) => ({
      devices: at.split("+"),
      time: Number(time) * HOUR_MS,
    })),
  };
  return [...runToEnd(findCutOffs(graph, located, lost, parsed)).values()];
}

const NOTHING = " / 0";

describe("what problems cut off", () => {
  test("in a tree: everything behind the device or the link", () => {
    const tree = "core-a core-b a-a1 a-a2 b-b1";
    expect(cutOffs({ cables: tree, down: "a" }, ["a"])).toEqual(["a a1 a2 / 3"]);
    expect(cutOffs({ cables: tree, down: "a1" }, ["a1"])).toEqual(["a1 / 1"]);
    expect(cutOffs({ cables: "core!a core-b core-c a-a1 b-b1" }, ["core-a"])).toEqual(["a a1 / 2"]);
    expect(cutOffs({ cables: "core~a core-b core-c a-a1 b-b1" }, ["core-a"])).toEqual(["a a1 / 2"]);
  });

  test("in a ring: nothing behind a link, only the device itself behind a device", () => {
    expect(cutOffs({ cables: "a-b b-c c-d d!a" }, ["d-a"])).toEqual([NOTHING]);
    expect(cutOffs({ cables: "a-b b-c c-d d-a", down: "c" }, ["c"])).toEqual(["c / 1"]);
  });

  test("two problems that together cut off: both, what neither cuts off alone", () => {
    const ring = "a!b b-c c!d d-e e-f f-a";
    expect(cutOffs({ cables: ring }, ["a-b", "c-d"])).toEqual(["b c / 2", "b c / 2"]);
    const down = { cables: "a-b b-c c-d d-e e-f f-a", down: "b d", hosts: { c: 5, a: 9 } };
    expect(cutOffs(down, ["b", "d"])).toEqual(["b c / 6", "c d / 6"]);
    expect(cutOffs({ cables: "a!b a!b a-c" }, ["a-b", "a-b"])).toEqual(["b / 1", "b / 1"]);
  });

  test("a link of which a parallel one works cuts off nothing", () => {
    expect(cutOffs({ cables: "a-b a~b" }, ["a-b"])).toEqual([NOTHING]);
  });

  test("problems one behind the other: each what lies behind it", () => {
    expect(cutOffs({ cables: "a-x a!b b!c", hosts: { a: 9 } }, ["a-b", "b-c"])).toEqual(["b c / 2", "c / 1"]);
    expect(cutOffs({ cables: "a-b b-c c-d a-x", down: "b c d" }, ["b", "c", "d"])).toEqual([
      "b c d / 3",
      "c d / 2",
      "d / 1",
    ]);
  });

  test("problems at different places have nothing of each other", () => {
    expect(cutOffs({ cables: "a-x a!b a!c c-d", hosts: { a: 9 } }, ["a-b", "a-c"])).toEqual([
      "b / 1",
      "c d / 2",
    ]);
  });

  test("a device behind a part that two problems cut off together has its own problem alone", () => {
    const network = { cables: "a!b b-c c!d d-e e-a c-y", down: "y", hosts: { e: 9 } };
    expect(cutOffs(network, ["a-b", "c-d", "y"])).toEqual(["b c / 2", "b c / 2", "y / 1"]);
  });

  test("the part with the most hosts is the largest, also where another has more devices", () => {
    const cables = "a-b b-c c!x x-y";
    expect(cutOffs({ cables, hosts: { x: 9, y: 9 } }, ["c-x"])).toEqual(["a b c / 3"]);
    // Hosts leave it: now the other one is the largest.
    expect(cutOffs({ cables, hosts: { x: 0, y: 0 } }, ["c-x"])).toEqual(["x y / 0"]);
  });

  test("a link of an unavailable device cuts off nothing besides the device", () => {
    const network = { cables: "core-x core~a core!b a~a1 b~a1 a!a2 b!a2", down: "a b", hosts: { core: 9 } };
    expect(cutOffs(network, ["a", "b", "core-a", "core-b", "a-a1", "b-a1", "a-a2", "b-a2"])).toEqual([
      "a a1 a2 / 3",
      "a1 a2 b / 3",
      ...Array<string>(6).fill(NOTHING),
    ]);
  });

  test("a host at several devices is cut off with the last of them, and counts once", () => {
    const pair = {
      cables: "core-l1 core-l2 l1-l2",
      hosts: { core: 0, l1: 0, l2: 0, "l1 l2": 40, "l2 l1": 2 },
    };
    expect(cutOffs({ ...pair, down: "l1" }, ["l1"])).toEqual(["l1 / 0"]);
    expect(cutOffs({ ...pair, down: "l2" }, ["l2"])).toEqual(["l2 / 0"]);
    const other = { ...pair, cables: `${pair.cables} core-x`, down: "l1 l2" };
    expect(cutOffs(other, ["l1", "l2"])).toEqual(["l1 / 40", "l2 / 2"]);
    // They count for the part that they are in: it is the largest.
    const parts = { cables: "a-b b!x", hosts: { a: 1, b: 1, x: 0, "z x": 5 } };
    expect(cutOffs(parts, ["b-x"])).toEqual(["a b / 2"]);
  });

  test("hosts that were removed since the cut are cut off, too", () => {
    const tree = { cables: "core-x core!a a-a1", hosts: { core: 9, a1: 0 } };
    expect(cutOffs({ ...tree, removed: "a:4 a:5 a1:6 core:7 gone:7" }, ["core-a:5"])).toEqual(["a a1 / 3"]);
    // 2.4 and 1.2 minutes before: they may have been noticed earlier than the link.
    expect(cutOffs({ ...tree, removed: "a:4.96 a:4.98" }, ["core-a:5"])).toEqual(["a a1 / 2"]);
    const down = { cables: "core-x core-a z", down: "a z", hosts: { core: 9, a: 0, z: 0 } };
    expect(cutOffs({ ...down, removed: "a:5 z:5 z:6" }, ["a:6", "z:5"])).toEqual(["a / 0", "z / 2"]);
  });

  test("of several problems, the first that cuts off a device counts for its removed hosts", () => {
    const line = { cables: "a-x a!b b!c", hosts: { a: 9, b: 0, c: 0 }, removed: "b:5 c:5 c:9" };
    expect(cutOffs(line, ["a-b:7", "b-c:4"])).toEqual(["b c / 2", "c / 2"]);
    const ring = { cables: "a!b b-c c!d d-e e-f f-a", hosts: { b: 0, c: 0 } };
    expect(cutOffs({ ...ring, removed: "b:2 c:4 c:1" }, ["a-b:2", "c-d:3"])).toEqual(["b c / 2", "b c / 2"]);
  });

  test("a removed host that was at several devices counts once, and only where all are cut off", () => {
    const pair = { cables: "core-x core-l1 core-l2", down: "l1 l2", hosts: { core: 9, l1: 0, l2: 0 } };
    expect(cutOffs({ ...pair, removed: "l1+l2:5 l2+l1:5 l1+core:5" }, ["l1:1", "l2:2"])).toEqual([
      "l1 / 1",
      "l2 / 1",
    ]);
  });

  test("what never was joined with the largest part is not cut off from it", () => {
    expect(cutOffs({ cables: "a-b b-c x-y", down: "y" }, ["y"])).toEqual([NOTHING]);
    // Nothing is known of its links.
    expect(cutOffs({ cables: "a-b z", down: "z" }, ["z"])).toEqual(["z / 1"]);
    expect(cutOffs({ cables: "a-b", down: "a b" }, ["a", "b"])).toEqual(["a / 1", "b / 1"]);
  });

  test("names at most 100 devices, the nearest first", () => {
    const cables = ["core-x", "core!d0", ...Array.from({ length: 149 }, (_, i) => `d${i}-d${i + 1}`)].join(
      " ",
    );
    expect(cutOffs({ cables, hosts: { x: 1000 } }, ["core-d0"])[0]).toEndWith("/ 150");
  });
});

describe("the outermost problem that alone separates an unavailable device", () => {
  test("is the first on the way from the largest part", () => {
    const line = { cables: "a-b b-c c-d a-x", down: "b c d" };
    expect(separators(line, ["d", "c", "b"])).toEqual(["b", "b", undefined]);
    const cut = { cables: "a-x a!b b-c c~d", down: "c d", hosts: { a: 9 } };
    expect(separators(cut, ["a-b", "c", "c-d", "d"])).toEqual([undefined, "a-b", undefined, "a-b"]);
  });

  test("is none where there is another way, or where two problems do it together", () => {
    expect(separators({ cables: "a-b b-c c-d d-a a-x", down: "b c" }, ["b", "c"])).toEqual([
      undefined,
      undefined,
    ]);
    expect(
      separators({ cables: "a-x a-l a-r l-z r-z", down: "l r z", hosts: { a: 9 } }, ["l", "r", "z"]),
    ).toEqual([undefined, undefined, undefined]);
    // Nothing is known that joins it.
    expect(separators({ cables: "a-b z", down: "b z" }, ["b", "z"])).toEqual([undefined, undefined]);
  });
});
