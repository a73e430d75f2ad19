/** Links that are gone, on the map: drawn where they were, explained, and away when they are acknowledged or back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "../../web/browser.ts";
import { download } from "../../web/download.ts";
import { measureDrawnPixels } from "../../web/map-pixels.ts";
import { createNetworkFile, deviceId } from "../../web/network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
/** The cable between spine1 and leaf1. */
const CUT = { lostLinks: ["spine1-leaf1"] };
const PROBLEM = `link-lost:${deviceId(1)}/1-${deviceId(11)}/1`;
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

const itemsAre = (count: number) =>
  eventually(`${count} devices and lines`, async () =>
    expect(await tab.page.locator(".map").getAttribute("data-items")).toBe(String(count)),
  );
async function revisionNow(): Promise<string> {
  const response = await service.fetch("/controller/v1/topology");
  await response.text();
  return response.headers.get("gazetteer-revision") ?? "";
}
/** Waits for a frame with, or without, something red: counts in the page's attributes change before the next frame. */
const redIs = (expected: boolean) =>
  eventually(expected ? "something red" : "nothing red", async () =>
    expect((await measureDrawnPixels(tab)).redShare > 0.0001).toBe(expected),
  );

/** What the hover card says of the point in the middle of the map. */
async function factsAtCentre(): Promise<{ readonly text: string; readonly x: number; readonly y: number }> {
  const box = await tab.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await tab.page.mouse.move(x + 40, y + 40);
  await tab.page.mouse.move(x, y);
  const text = await tab.page.locator('.hover-card[data-kind="links"]').textContent();
  return { text: text ?? "", x, y };
}

const lostFactsAtCentre = () =>
  until(
    async () => {
      const facts = await factsAtCentre();
      return facts.text.includes("Statelost") ? facts : undefined;
    },
    { what: "the card of the lost link" },
  );

test.skipIf(!hasChromium)("a lost link is drawn where it was until it is acknowledged or back", async () => {
  const { page } = tab;
  // A path brings its two devices into view, with nothing but their line between them.
  await tab.goto(`/?path=devices:${deviceId(1)}&path=devices:${deviceId(11)}`);
  await waitForUrlPart(tab, "camera=");
  const camera = new URL(page.url()).searchParams.get("camera") ?? "";
  await tab.goto(`/?camera=${encodeURIComponent(camera)}`);
  await itemsAre(6 + 8);
  await eventually("the card of the link", async () =>
    expect((await factsAtCentre()).text).toContain("Stateup"),
  );
  await redIs(false);

  file.write(CUT);
  await page.getByText("6 devices, 7 cables").waitFor();
  await itemsAre(6 + 7 + 1);
  // Nothing has moved: the line is at the same point.
  const { text, x, y } = await lostFactsAtCentre();
  expect(text).toContain("spine1/1 – leaf1/1");
  expect(text).toContain("Cuts offnothing");
  expect(text).toContain("Sourcesracks");
  expect(await page.locator(".hover-card dt").count()).toBe(5);
  await redIs(true);
  const lost = await revisionNow();
  await page.mouse.click(x, y);
  await waitForUrlPart(tab, `problem=${PROBLEM}`);
  await page.getByRole("button", { name: "Undo: Cable lost: spine1/1 – leaf1/1" }).click();

  // What the reader knows of is not drawn, except while it is the chosen problem.
  await page.getByRole("button", { name: /^Problems/ }).click();
  await page.getByRole("button", { name: /^Acknowledge: Cable lost/ }).click();
  await itemsAre(6 + 7);
  await redIs(false);
  await page.getByRole("button", { name: /^With acknowledged/ }).click();
  await page.locator(".problem-link").click();
  await itemsAre(6 + 7 + 1);
  await page.getByRole("button", { name: /^Acknowledged: Cable lost/ }).click();
  await page.getByRole("button", { name: "Close problems" }).click();
  await itemsAre(6 + 7 + 1);

  file.write();
  await page.getByText("6 devices, 8 cables").waitFor();
  await itemsAre(6 + 8);
  await redIs(false);

  // At a past moment the times of the card are as of that moment.
  await tab.goto(`/?at=${lost}&camera=${encodeURIComponent(camera)}`);
  await itemsAre(6 + 7 + 1);
  const { text: pastText } = await lostFactsAtCentre();
  expect(pastText).toContain("Statelost 0 s ago");
  expect(pastText).toContain("Listedfor another 24 h");
  expect(tab.errors).toEqual([]);
});

/** A device in the middle between spine1 and leaf1, and all others out of the way; y downwards. */
const IN_A_ROW = [
  { device: deviceId(1), x: -200, y: 0 },
  { device: deviceId(12), x: 0, y: 0 },
  { device: deviceId(11), x: 200, y: 0 },
  ...[2, 13, 14].map((n, i) => ({ device: deviceId(n), x: i * 200, y: 900 })),
];

/** What the hover card says of each point that is so many pixels below the middle between spine1 and leaf2. */
async function cardsBelow(offsets: readonly number[], pixelsPerUnit: number): Promise<boolean[]> {
  const box = await tab.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  const x = box.x + box.width / 2 - 100 * pixelsPerUnit;
  const isLost: boolean[] = [];
  for (const offset of offsets) {
    await tab.page.mouse.move(x, box.y + box.height / 2 + offset);
    await tab.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    isLost.push(
      (await tab.page.locator(".hover-card").allTextContents()).some((t) => t.includes("Statelost")),
    );
  }
  return isLost;
}

test.skipIf(!hasChromium)(
  "a lost link is led around other devices, and is in the SVG and the PNG",
  async () => {
    const { page } = tab;
    file.write();
    await tab.goto("/");
    await page.evaluate(
      (text) => localStorage.setItem("gazetteer.arrangement", text),
      JSON.stringify({ pins: IN_A_ROW }),
    );
    const span = 400;
    await tab.goto(`/?camera=0,0,${span},${deviceId(12)}`);
    await itemsAre(6 + 8);
    // The legend has red signs.
    const redInPng = async () =>
      (await measureDrawnPixels(tab, await download(tab, "Download PNG"))).redShare;
    const redWithoutLost = await redInPng();
    file.write(CUT);
    await itemsAre(6 + 7 + 1);
    const { width = 0, height = 0 } = (await page.locator(".map").boundingBox()) ?? {};
    const pixelsPerUnit = Math.min(width, height) / span;
    // Leaf2 is 30 units high: half way to it, the line around it is 5 units or more beside the straight one.
    const straight = [-2, 0, 2];
    const beside = [6, 9, 12, 15].flatMap((units) => [-units * pixelsPerUnit, units * pixelsPerUnit]);
    await eventually("the line around leaf2", async () => {
      expect(await cardsBelow(straight, pixelsPerUnit)).not.toContain(true);
      expect(await cardsBelow(beside, pixelsPerUnit)).toContain(true);
    });

    expect(await redInPng()).toBeGreaterThan(redWithoutLost + 0.0001);
    expect(String(await download(tab, "Download SVG"))).toContain("lost</title>");
    // Without an arrangement too.
    await page.evaluate(() => localStorage.removeItem("gazetteer.arrangement"));
    await tab.goto("/");
    await itemsAre(6 + 7 + 1);
    const svg = String(await download(tab, "Download SVG"));
    expect(svg).toContain("1 lost cable");
    expect(svg).toContain(`${deviceId(1)} port 1 – ${deviceId(11)} port 1&#10;lost</title>`);
    expect(tab.errors).toEqual([]);
  },
);

test.skipIf(!hasChromium)(
  "one of two cables that is lost is drawn beside the other, and in the past",
  async () => {
    const { page } = tab;
    await tab.goto("/");
    file.write({ doubleLinks: CUT.lostLinks });
    await page.getByText("6 devices, 9 cables").waitFor();
    await itemsAre(6 + 8);
    const before = await revisionNow();
    file.write({ doubleLinks: CUT.lostLinks, ...CUT });
    await page.getByText("6 devices, 8 cables").waitFor();
    await itemsAre(6 + 8 + 1);
    const lost = await revisionNow();
    file.write({ doubleLinks: CUT.lostLinks });
    await page.getByText("6 devices, 9 cables").waitFor();
    await itemsAre(6 + 8);

    await tab.goto(`/?at=${lost}`);
    await page.getByText("6 devices, 8 cables").waitFor();
    await itemsAre(6 + 8 + 1);
    // A comparison draws the removed cable itself.
    await tab.goto(`/?at=${lost}&compare=${before}`);
    await page.locator("aside.panel").getByText("1 cable removed").waitFor();
    await itemsAre(6 + 8);
    expect(tab.errors).toEqual([]);
  },
);
