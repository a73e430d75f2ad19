/** The layout in a browser: what is there does not move, a reload keeps positions, and every new browser computes the same. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { type BrowserTab, eventually, openTab } from "../../web/browser.ts";
import { changedPixelShare, screenshotMap } from "../../web/map-pixels.ts";

const hasChromium = needs("chromium");
const folder = mkdtempSync(join(tmpdir(), "gazetteer-layout-"));
const network = join(folder, "network.json");
const config = join(folder, "gazetteer.yaml");
let service: Service;

const id = (n: number) => `of:${n.toString(16).padStart(16, "0")}`;
const SPINES = [1, 2];

/** Two spines, and leaves with a link to both and a host. In an outage a spine and one of its links are lost, and all hosts. */
function writeNetwork(leaves: readonly number[], isOutage = false): void {
  const devices = [...SPINES, ...leaves].map((n) => ({
    id: id(n),
    type: "SWITCH",
    available: !isOutage || n !== 1,
  }));
  const pairs = leaves.flatMap((leaf) => SPINES.map((spine) => [spine, leaf] as const));
  const links = pairs.slice(isOutage ? 3 : 0).flatMap(([spine, leaf]) => {
    const [up, down] = [
      { device: id(spine), port: String(leaf) },
      { device: id(leaf), port: String(spine) },
    ];
    return [
      { src: up, dst: down },
      { src: down, dst: up },
    ];
  });
  const hosts = leaves.map((n) => ({
    mac: `02:00:00:00:00:${n}`,
    locations: [{ elementId: id(n), port: "99" }],
  }));
  writeFileSync(network, JSON.stringify({ devices, links, hosts: isOutage ? [] : hosts }));
}

beforeAll(async () => {
  if (!hasChromium) return;
  writeNetwork([11, 12, 13, 14, 15]);
  writeFileSync(config, `sources:\n  - name: net\n    type: file\n    path: ${network}\n`);
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Positions = Readonly<Record<string, readonly [x: number, y: number]>>;

/** What the page keeps in the browser: id, x, y and cluster, flat. */
async function savedPositions({ page }: BrowserTab, count: number): Promise<Positions> {
  let positions: Positions = {};
  await eventually(`${count} positions in the browser`, async () => {
    const text = await page.evaluate(() => localStorage.getItem("gazetteer.layout"));
    const flat: unknown[] = JSON.parse(text ?? "[]");
    expect(flat).toHaveLength(count * 4);
    const entries = Array.from({ length: count }, (_, i) => flat.slice(i * 4, i * 4 + 3));
    positions = Object.fromEntries(
      entries.map(([name, x, y]) => [String(name), [Number(x), Number(y)] as const]),
    );
  });
  return positions;
}

test.skipIf(!hasChromium)("a new leaf moves nothing, and a reload keeps all positions", async () => {
  const tab = await openTab(service);
  await tab.goto("/");
  const before = await savedPositions(tab, 7);
  const rowOf = (n: number, positions: Positions) => positions[id(n)]?.[1];
  expect(new Set([11, 12, 13, 14, 15].map((n) => rowOf(n, before))).size).toBe(1);
  expect(rowOf(1, before)).toBe(rowOf(2, before));

  writeNetwork([11, 12, 13, 14, 15, 16]);
  const after = await savedPositions(tab, 8);
  expect(after).toMatchObject(before);
  expect(rowOf(16, after)).toBe(rowOf(11, before));

  // After the reload the page saves again, what it uses. A new layout would have another place for the late leaf.
  await tab.page.addInitScript(() => {
    const saved = localStorage.getItem("gazetteer.layout");
    if (saved) localStorage.setItem("gazetteer.layout", `${saved} `);
  });
  await tab.goto("/");
  await eventually("the page to save again", async () => {
    const text = await tab.page.evaluate(() => localStorage.getItem("gazetteer.layout"));
    expect(text).toEndWith("]");
  });
  expect(await savedPositions(tab, 8)).toEqual(after);
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)(
  "a new browser shows the same map before an outage and during it, and the SVG is the same picture",
  async () => {
    const leaves = [11, 12, 13, 14, 15, 16];
    const read = async () => {
      const tab = await openTab(service);
      await tab.goto("/");
      const positions = await savedPositions(tab, 8);
      expect(tab.errors).toEqual([]);
      await tab.close();
      return { positions, drawing: drawnBoxes(await drawnText()) };
    };
    const before = await read();
    writeNetwork(leaves, true);
    // The first three cables: both of leaf 11, which is alone now, and one of leaf 12.
    await eventually("the outage", async () => expect(await drawnText()).toContain("3 lost cables"));
    expect(await read()).toEqual(before);
    writeNetwork(leaves);

    // All boxes are where the devices are on the map, enlarged by one factor.
    const distances = (points: Positions) => {
      const [first, last] = [points[id(1)] ?? [0, 0], points[id(16)] ?? [0, 0]];
      const unit = Math.hypot(last[0] - first[0], last[1] - first[1]);
      return Object.entries(points)
        .map(([device, [x, y]]) => [
          device,
          Math.round(((x - first[0]) / unit) * 100),
          Math.round(((y - first[1]) / unit) * 100),
        ])
        .sort();
    };
    expect(distances(before.drawing)).toEqual(distances(before.positions));
  },
);

const drawnText = async () => (await service.fetch("/controller/v1/topology?format=svg")).text();

/** The places of the boxes of a drawing by the id in their tooltip. */
const drawnBoxes = (svg: string): Positions =>
  Object.fromEntries(
    [...svg.matchAll(/<title>(of:[0-9a-f]{16})\W[^<]*<\/title><rect x="([-\d.]+)" y="([-\d.]+)"/g)].map(
      ([, device = "", x, y]) => [device, [Number(x), Number(y)] as const],
    ),
  );

test.skipIf(!hasChromium)(
  "a page that is opened before the sources have reported all shows the same as one that is opened later",
  async () => {
    writeNetwork([11, 12, 13, 14, 15, 16]);
    const early = await openTab(service);
    const first = [1, 11, 12, 13, 14].map(id).join(",");
    const starting = [{ name: "net", kind: "file", status: "starting", since: 0, restarts: 0 }];
    await early.page.route("**/readyz", (route) =>
      route.fulfill({ status: 503, json: { status: "starting", sources: starting } }),
    );
    // Some devices, and no links: all are active.
    for (const [list, filter] of [
      ["devices", `id=${first}`],
      ["links", "state=INACTIVE"],
    ])
      await early.page.route(
        ({ pathname }) => pathname.endsWith(`/${list}`),
        (route, request) => route.continue({ url: `${request.url()}&${filter}` }),
      );
    await early.goto("/");
    await early.page.locator(".map-summary", { hasText: "5 devices, 0 cables" }).waitFor();
    await early.page.unrouteAll({ behavior: "wait" });
    const positions = await savedPositions(early, 8);
    const late = await openTab(service);
    await late.goto("/");
    expect(await savedPositions(late, 8)).toEqual(positions);
    const [shown, expected] = [await screenshotMap(early), await screenshotMap(late)];
    expect(await changedPixelShare(late, expected, shown)).toBeLessThan(0.001);
    expect(early.errors).toEqual([]);
    await early.close();
    await late.close();
  },
);
