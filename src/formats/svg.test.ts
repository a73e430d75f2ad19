import { describe, expect, test } from "bun:test";
import { demoGraph } from "../../test/support/demo-graph.ts";
import {
  campus,
  createPortAllocator,
  degradedCampus,
  device,
  graph,
  host,
  hostileGraph,
  leafSpine,
  link,
  mac,
  mesh,
} from "../../test/support/sample-network.ts";
import type { TopologyGraph } from "./graph.ts";
import { renderSvg } from "./svg.ts";

const render = (of: TopologyGraph): string => [...renderSvg(of)].join("");
const a = { device: "a", port: "1" };
const b = { device: "b", port: "1" };

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The cards, as drawn: the first rectangle of each group that has a title. */
function cards(svg: string): Rect[] {
  const rects = svg.matchAll(
    /<g><title>[^<]*<\/title><rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
  );
  return [...rects].map(([, ...numbers]) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
    return { x, y, width, height };
  });
}

const touch = (p: Rect, q: Rect): boolean =>
  p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height && q.y < p.y + p.height;

describe("the picture", () => {
  test.each([
    ["demo", demoGraph()],
    ["campus", degradedCampus()],
    ["leaf and spine", leafSpine(4, 40)],
    ["mesh", mesh(7, 7)],
    ["torus", mesh(6, 6, true)],
    ["hostile", hostileGraph()],
  ])("%s: a card a device, and none touches another", (_, of) => {
    const drawn = cards(render(of));
    expect(drawn).toHaveLength(of.devices.length);
    for (const [i, p] of drawn.entries()) for (const q of drawn.slice(i + 1)) expect(touch(p, q)).toBe(false);
  });

  test("says of what and when, to readers and to screen readers", () => {
    const svg = render(degradedCampus());
    const summary = /aria-label="([^"]*)"/.exec(svg)?.[1];
    expect(svg).toStartWith(
      '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Network topology: ',
    );
    expect(svg).toContain("<title>Network topology, revision 42</title>");
    expect(summary).toContain("46 devices (1 unavailable)");
    expect(summary).toContain("187 directed links drawn as 94 lines (2 inactive)");
    expect(summary).toContain("432 hosts · 1 cluster");
    expect(summary).toContain("Revision 42 · last change 2026-11-15 01:00:00 UTC");
  });

  test("is the same for the same network, and the network is the same after it", () => {
    const of = degradedCampus();
    const before = structuredClone(of);
    expect(render(of)).toBe(render(of));
    expect(of).toEqual(before);
  });

  test("an empty network is a picture too", () => {
    expect(render(graph([], []))).toContain("0 devices");
  });

  test("a network of a thousand devices and one of ten thousand have all their cards", () => {
    expect(cards(render(campus(40, 23, 0)))).toHaveLength(1002);
    expect(cards(render(mesh(100, 100)))).toHaveLength(10_000);
  });
});

describe("states", () => {
  const two = [device("a"), device("b")];
  /** The picture above its legend, which shows every state there is. */
  const drawn = (of: TopologyGraph) => render(of).split(">Devices</text>")[0] ?? "";

  test("an unavailable device is dashed, square and crossed; a conflict has a second frame and a sign", () => {
    const calm = drawn(graph(two, []));
    expect(calm).not.toContain("stroke-dasharray");
    const down = drawn(graph([device("a", { available: false })], []));
    expect(down).toMatch(/rx="0" [^>]*stroke="#b3261e"[^>]* stroke-dasharray="5 3"/);
    expect(down).toContain("<circle");
    const doubtful = drawn(graph([device("a", { annotations: { conflict: "twice" } })], []));
    expect(doubtful.match(/<rect /g)).toHaveLength(3);
  });

  test.each([
    ["active", [link(a, b), link(b, a)], 'stroke="#4d6273" stroke-width="1.6">'],
    ["unverified", [link(a, b, { verified: false }), link(b, a)], 'stroke-dasharray="1 4"'],
    [
      "inactive",
      [link(a, b, { state: "INACTIVE" }), link(b, a, { state: "INACTIVE" })],
      'stroke="#b3261e" stroke-width="1.6" stroke-dasharray="8 5"',
    ],
    ["in conflict", [link(a, b), link(b, a, { annotations: { conflict: "x" } })], 'stroke-width="4"'],
    ["one way", [link(a, b)], "a port 1 → b port 1"],
  ])("a link that is %s", (_, links, look) => {
    expect(drawn(graph(two, links))).toContain(look);
  });

  test("hosts are a count on their device", () => {
    const svg = drawn(graph(two, [], [host(mac(1), a), host(mac(2), a), host(mac(3), b)]));
    expect(svg).toContain(">Switch · 2 hosts</text>");
    expect(svg).toContain(">Switch · 1 host</text>");
  });

  test("several cables between two devices are several lines; one to itself is a ring", () => {
    const plug = createPortAllocator();
    const svg = drawn(
      graph(two, [...plug.cable("a", "b"), ...plug.cable("b", "a"), ...plug.cable("a", "a")]),
    );
    const paths = [...svg.matchAll(/<path d="(M[^"]*)"><title>/g)].map(([, d]) => d);
    expect(new Set(paths).size).toBe(2);
    expect(svg).toContain('r="8"');
  });

  test("neighbours without another order stand in the order people count in", () => {
    const svg = drawn(leafSpine(2, 12));
    expect(svg.indexOf(">leaf:2</text>")).toBeLessThan(svg.indexOf(">leaf:10</text>"));
  });
});

test("nothing in it runs, loads or points anywhere, whatever the texts are", () => {
  const svg = render(hostileGraph());
  const tags = new Set([...svg.matchAll(/<(\w+)/g)].map(([, tag = ""]) => tag));
  expect([...tags].sort()).toEqual(["circle", "desc", "g", "path", "rect", "svg", "text", "title"]);
  const attributes = new Set([...svg.matchAll(/ ([\w:-]+)="/g)].map(([, name = ""]) => name));
  for (const name of attributes) expect(name).not.toMatch(/^on|href|style|class|^id$|xlink/);
  expect(svg).not.toMatch(/url\(|@import|<!|<\?/);
  const markup = svg.replace(/>[^<]*</g, "><");
  expect(markup.match(/\w+:\/\//g)).toEqual(["http://"]); // The name space.
});
