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
import { cablesOf, type TopologyGraph } from "./graph.ts";
import { drawNetwork, renderSvg } from "./svg.ts";

const render = (network: TopologyGraph): string => [...renderSvg(network)].join("");
const a = { device: "a", port: "1" };
const b = { device: "b", port: "1" };

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const contains = ({ x, y, width, height }: Rect, [px = 0, py = 0]: readonly number[]) =>
  px > x && px < x + width && py > y && py < y + height;

/** The boxes of the devices: the first rectangle of each group that has a title. */
function deviceBoxes(svg: string): Rect[] {
  const rects = svg.matchAll(
    /<g><title>[^<]*<\/title><rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
  );
  return [...rects].map(([, ...numbers]) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
    return { x, y, width, height };
  });
}

const overlap = (p: Rect, q: Rect): boolean =>
  p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height && q.y < p.y + p.height;

describe("the drawing", () => {
  test.each([
    ["demo", demoGraph()],
    ["campus", degradedCampus()],
    ["leaf and spine", leafSpine(4, 40)],
    ["mesh", mesh(7, 7)],
    ["torus", mesh(6, 6, true)],
    ["hostile", hostileGraph()],
  ])("%s: every device has a box and no two overlap", (_, network) => {
    const boxes = deviceBoxes(render(network));
    expect(boxes).toHaveLength(network.devices.length);
    for (const [i, p] of boxes.entries())
      for (const q of boxes.slice(i + 1)) expect(overlap(p, q)).toBe(false);
  });

  test.each([
    ["demo", demoGraph()],
    ["campus with parallel cables", degradedCampus()],
    ["leaf and spine", leafSpine(4, 40)],
    ["torus", mesh(6, 6, true)],
  ])("%s: no line runs through a box that it does not end at", (_, network) => {
    const svg = render(network);
    const boxes = deviceBoxes(svg);
    for (const [, d = ""] of svg.matchAll(/<path d="(M[^"]*)"><title>/g)) {
      const numbers = (d.match(/-?[\d.]+/g) ?? []).map(Number);
      const corners = Array.from({ length: numbers.length / 2 }, (_, i) => numbers.slice(i * 2, i * 2 + 2));
      const ends = [corners[0] ?? [], corners.at(-1) ?? []];
      const others = boxes.filter((box) => !ends.some((end) => contains(box, end)));
      for (const [i, [x1 = 0, y1 = 0]] of corners.slice(0, -1).entries()) {
        const [x2 = 0, y2 = 0] = corners[i + 1] ?? [];
        for (let part = 0; part <= 1; part += 0.02) {
          const point = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
          expect(others.filter((box) => contains(box, point))).toEqual([]);
        }
      }
    }
  });

  test("has counts and revision, visible and for screen readers", () => {
    const svg = render(degradedCampus());
    const summary = /aria-label="([^"]*)"/.exec(svg)?.[1];
    expect(svg).toStartWith(
      '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Network topology: ',
    );
    expect(svg).toContain("<title>Network topology, revision 42</title>");
    expect(summary).toContain("46 devices (1 down)");
    expect(summary).toContain("94 cables (2 down)");
    expect(summary).toContain("432 hosts · 1 cluster");
    expect(summary).toContain("Revision 42 · last change 2026-11-15 01:00:00 UTC");
  });

  test("is the same for the same network and does not change the network", () => {
    const network = degradedCampus();
    const { link: _, ...lists } = network;
    const before = structuredClone(lists);
    expect(render(network)).toBe(render(network));
    expect(network).toMatchObject(before);
  });

  test("an empty network gives a drawing", () => {
    expect(render(graph([], []))).toContain("0 devices");
  });

  test("networks of a thousand and of ten thousand devices have a box for each", () => {
    expect(deviceBoxes(render(campus(40, 23, 0)))).toHaveLength(1002);
    expect(deviceBoxes(render(mesh(100, 100)))).toHaveLength(10_000);
  });
});

describe("states", () => {
  const devices = [device("a"), device("b")];
  /** The drawing without the legend, which shows every state. */
  const renderWithoutLegend = (network: TopologyGraph) => render(network).split(">Devices</text>")[0] ?? "";

  test("an unavailable device is dashed, square and crossed; a conflict has a second frame and a sign", () => {
    const available = renderWithoutLegend(graph(devices, []));
    expect(available).not.toContain("stroke-dasharray");
    const unavailable = renderWithoutLegend(graph([device("a", { available: false })], []));
    expect(unavailable).toMatch(/rx="0" [^>]*stroke="#b3261e"[^>]* stroke-dasharray="5 3"/);
    expect(unavailable).toContain("<circle");
    const conflicting = renderWithoutLegend(graph([device("a", { annotations: { conflict: "twice" } })], []));
    expect(conflicting.match(/<rect /g)).toHaveLength(3);
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
  ])("a link that is %s", (_, links, style) => {
    expect(renderWithoutLegend(graph(devices, links))).toContain(style);
  });

  test("a lost link is dashed with a cross, beside the cable that is left, in the counts and in the legend", () => {
    const ports = createPortAllocator();
    const network = graph(devices, ports.cable("a", "b"));
    const cables = [...cablesOf(network, new Set(["a", "b"]))].flatMap((cable) => cable ?? []);
    const drawing = { ...network, devices, cables, hostCounts: new Map() };
    const lost = [
      { from: { device: "a", port: "9" }, to: { device: "b", port: "9" }, isLost: true },
    ] as const;
    const svg = [...drawNetwork({ ...drawing, lost })].join("");
    const [, group = ""] =
      /<g fill="none" stroke="#b3261e" stroke-width="1.6" stroke-dasharray="8 5">\n(.*)\n<\/g>/.exec(svg) ??
      [];
    expect(group).toContain("a port 9 – b port 9&#10;lost");
    // The cross is in the middle, from its upper left corner.
    const [, x, y] = /<path d="M(-?[\d.]+) (-?[\d.]+)l9 9m0 -9l-9 9"/.exec(group) ?? [];
    const [, line = ""] = /<path d="(M[^"]*)"><title>/.exec(group) ?? [];
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = (line.match(/-?[\d.]+/g) ?? []).map(Number);
    expect([Number(x), Number(y)]).toEqual([(x1 + x2) / 2 - 4.5, (y1 + y2) / 2 - 4.5]);
    expect(svg.match(/<path d="(M[^"]*)"><title>/g)).toHaveLength(2);
    expect(svg).toContain("1 cable · 1 lost cable");
    expect(svg).toContain(">lost</text>");
    expect([...drawNetwork(drawing)].join("")).not.toContain("lost");
  });

  test("a device that is cut off is dashed with a minus, unless it is down", () => {
    const drawn = [device("a"), device("b", { available: false }), device("c")];
    const drawing = { ...graph(drawn, []), devices: drawn, cables: [], hostCounts: new Map() };
    const svg = [...drawNetwork({ ...drawing, cutOff: new Set(["a", "b"]) })].join("");
    const boxOf = (id: string) => svg.split(`<g><title>${id}&#10;`)[1]?.split("</g>")[0] ?? "";
    expect(boxOf("a")).toContain("cut off");
    expect(boxOf("a")).toMatch(/stroke="#8a5200" stroke-width="1.5" stroke-dasharray.*h8"/);
    expect(boxOf("b")).toContain("down");
    expect(boxOf("c")).toContain("up");
    expect(svg).toContain("3 devices (1 down, 1 cut off)");
    expect(svg).toContain(">cut off</text>");
    expect([...drawNetwork(drawing)].join("")).not.toContain("cut off");
  });

  test("hosts are counted in the box of their device", () => {
    const svg = renderWithoutLegend(graph(devices, [], [host(mac(1), a), host(mac(2), a), host(mac(3), b)]));
    expect(svg).toContain(">2 hosts</text>");
    expect(svg).toContain(">1 host</text>");
  });

  test("a site has a box with its name, and its devices leave out the prefix of their names", () => {
    const site = (city: string, name: string) => device(name, { annotations: { city, site: city, name } });
    const svg = renderWithoutLegend(
      graph([site("Bern", "ber-a1"), site("Bern", "ber-a2"), site("Lyon", "lyo-b1")], []),
    );
    expect(svg).toContain(">Bern · Bern</text>");
    expect(svg).toContain(">a1</text>");
    expect(svg).toContain(">lyo-b1</text>");
  });

  test("a long name has two lines", () => {
    const svg = renderWithoutLegend(graph([device("a", { annotations: { name: "access-switch-042" } })], []));
    expect(svg).toContain(">access-</text>");
    expect(svg).toContain(">switch-042</text>");
  });

  test("several cables between two devices are several lines; a cable to the same device is a circle", () => {
    const ports = createPortAllocator();
    const svg = renderWithoutLegend(
      graph(devices, [...ports.cable("a", "b"), ...ports.cable("b", "a"), ...ports.cable("a", "a")]),
    );
    const paths = [...svg.matchAll(/<path d="(M[^"]*)"><title>/g)].map(([, d]) => d);
    expect(new Set(paths).size).toBe(2);
    expect(svg).toContain('r="8"');
  });

  test("devices without another order are sorted by the numbers in their names", () => {
    const svg = renderWithoutLegend(leafSpine(2, 12));
    expect(svg.indexOf(">leaf:2</text>")).toBeLessThan(svg.indexOf(">leaf:10</text>"));
  });
});

test("whatever the texts, it contains no script, no resource and no reference", () => {
  const svg = render(hostileGraph());
  const tags = new Set([...svg.matchAll(/<(\w+)/g)].map(([, tag = ""]) => tag));
  expect([...tags].sort()).toEqual(["circle", "desc", "g", "path", "rect", "svg", "text", "title"]);
  const attributes = new Set([...svg.matchAll(/ ([\w:-]+)="/g)].map(([, name = ""]) => name));
  for (const name of attributes) expect(name).not.toMatch(/^on|href|style|class|^id$|xlink/);
  expect(svg).not.toMatch(/url\(|@import|<!|<\?/);
  const markup = svg.replace(/>[^<]*</g, "><");
  expect(markup.match(/\w+:\/\//g)).toEqual(["http://"]); // the namespace
});

test("a drawing of the page has devices and boxes where they are on the map, all larger by one factor", () => {
  const [left, right] = [device("a"), device("b")];
  const topology = { time: 0, devices: 2, links: 0, clusters: 2, hosts: 0 };
  const positions = new Map([
    ["a", { x: 0, y: 0, cluster: 0 }],
    ["b", { x: 84, y: 300, cluster: 0 }],
  ]);
  const svg = [
    ...drawNetwork({
      topology,
      revision: 1,
      devices: [left, right],
      cables: [],
      hostCounts: new Map(),
      places: {
        positions,
        groups: [{ title: "Rack <1>", left: 50, top: 260, right: 118, bottom: 336 }],
      },
    }),
  ].join("");
  const [a, b] = deviceBoxes(svg);
  if (!a || !b) throw new Error("two boxes");
  const factor = (b.x - a.x) / 84;
  expect(factor).toBeGreaterThan(1);
  expect(b.y - a.y).toBeCloseTo(300 * factor, 0);
  const [, group] = svg.split(/<rect (?=[^>]*fill-opacity)/);
  const [x = 0, y = 0, width = 0, height = 0] = (group?.match(/"(-?[\d.]+)"/g) ?? []).map((text) =>
    Number(text.slice(1, -1)),
  );
  expect(contains({ x, y, width, height }, [b.x, b.y])).toBe(true);
  expect(contains({ x, y, width, height }, [b.x + b.width, b.y + b.height])).toBe(true);
  expect(svg).toContain(">Rack &lt;1&gt;</text>");
});
