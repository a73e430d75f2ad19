/** The coastline below the map: loaded when it is switched on, kept, in a link and in the exports. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { PALETTES } from "../../src/web/map/palette.ts";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { screenshotMap } from "./map-pixels.ts";

const hasChromium = needs("chromium");
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--demo=devices=50,hosts=100,churn=0"] });
});
afterAll(() => service?.stop());

const box = ({ page }: BrowserTab) => page.getByRole("region", { name: "Arrange" });

async function openBackground(tab: BrowserTab): Promise<void> {
  await tab.page.getByRole("button", { name: "Arrange", exact: true }).click();
  await box(tab).getByText("0 devices pinned").waitFor();
  if (!(await box(tab).getByLabel("Coastline").isVisible()))
    await box(tab).getByRole("heading", { name: "Background" }).click();
}

/** The requests for the land, from now on. */
function landRequests({ page }: BrowserTab): string[] {
  const urls: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/assets/land-")) urls.push(request.url());
  });
  return urls;
}

/** The share of the lowest layer of the map that has the colour of land. */
async function landShare(tab: BrowserTab): Promise<number> {
  await screenshotMap(tab);
  return tab.page
    .locator(".map > canvas")
    .first()
    .evaluate((canvas, colour) => {
      if (!(canvas instanceof HTMLCanvasElement)) return 0;
      const { width, height } = canvas;
      const data = canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      const wanted = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (wanted.every((part, j) => data[i + j] === part)) count++;
      return count / (width * height);
    }, PALETTES.dark.land);
}

async function waitForLand(tab: BrowserTab): Promise<void> {
  await eventually("the land", async () => {
    const share = await landShare(tab);
    // London, the Channel and the continent: neither all sea nor all land.
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.95);
  });
}

test.skipIf(!hasChromium)(
  "the coastline is loaded when it is switched on, stays after a reload, and is in the exports",
  async () => {
    const tab = await openTab(service);
    const requests = landRequests(tab);
    await tab.goto("/");
    await openBackground(tab);
    expect(await landShare(tab)).toBe(0);
    expect(requests).toEqual([]);
    await box(tab).getByLabel("Coastline").check();
    await waitForLand(tab);
    expect(requests).toHaveLength(1);
    expect(await audit(tab)).toEqual([]);

    await tab.page.getByRole("button", { name: "Export and share" }).click();
    const [download] = await Promise.all([
      tab.page.waitForEvent("download"),
      tab.page.getByRole("button", { name: "Download SVG" }).click(),
    ]);
    expect(readFileSync(await download.path(), "utf8")).toMatch(
      /<path [^>]*fill-rule="evenodd"[^>]* d="M-?\d/,
    );

    await eventually("the coastline in the browser", async () =>
      expect(await tab.page.evaluate(() => localStorage.getItem("gazetteer.arrangement"))).toBe(
        '{"background":{"coastline":true}}',
      ),
    );
    await tab.page.reload();
    await tab.page.locator('[data-drawn="true"]').waitFor();
    await waitForLand(tab);
    await openBackground(tab);
    await box(tab).getByLabel("Coastline").uncheck();
    await eventually("no land", async () => expect(await landShare(tab)).toBe(0));
    expect(tab.errors).toEqual([]);
    expect(tab.externalRequests).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)("a link carries the coastline to another browser", async () => {
  const tab = await openTab(service);
  await tab.goto("/");
  await openBackground(tab);
  await box(tab).getByLabel("Coastline").check();
  await tab.page.getByRole("button", { name: "Views", exact: true }).click();
  await tab.page.getByRole("button", { name: "Copy link with arrangement" }).click();
  await tab.page.getByText("Copied the link").waitFor();
  const link = await tab.page.evaluate(() => navigator.clipboard.readText());
  await tab.close();
  const other = await openTab(service);
  await other.goto(link.slice(service.url.length));
  await waitForLand(other);
  expect(other.errors).toEqual([]);
  await other.close();
});

test.skipIf(!hasChromium)("land that cannot be loaded is a note in the box, and is tried again", async () => {
  const tab = await openTab(service);
  await tab.page.route(/\/assets\/land-/, (route) => route.abort());
  await tab.goto("/");
  await openBackground(tab);
  await box(tab).getByLabel("Coastline").check();
  await box(tab).getByText("The coastline cannot be loaded").waitFor();
  await tab.page.unroute(/\/assets\/land-/);
  await waitForLand(tab);
  await box(tab).getByText("The coastline cannot be loaded").waitFor({ state: "detached" });
  await tab.close();
});
