/** The page with 2,000 devices, a table of 100,000 rows, and the size and headers of the page itself. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { measureDrawnPixels } from "./map-pixels.ts";

const hasChromium = needs("chromium");

const startDemo = (devices: number, hosts: number): Promise<Service> =>
  startService({ args: ["--data", ":memory:", `--demo=devices=${devices},hosts=${hosts},churn=0`] });

const DEVICES = 2000;
const HOSTS = 100_000;

// Larger maps are measured by `npm run bench -- map`; from 200 devices on the page works the same way.
test.skipIf(!hasChromium)("2,000 devices with 100,000 hosts are drawn and can be searched", async () => {
  const service = await startDemo(DEVICES, HOSTS);
  const tab = await openTab(service);
  const { page } = tab;
  await tab.goto("/");
  await page.locator('.map[data-detail="clusters"]').waitFor();
  await eventually("the network to be drawn", async () => {
    const drawn = await measureDrawnPixels(tab);
    expect(drawn.share).toBeGreaterThan(0.005);
    expect(drawn.cells).toBeGreaterThan(14);
  });
  await page.locator(".map-summary", { hasText: "2,000 devices" }).waitFor();
  await page.locator(".map-summary", { hasText: "100,000 hosts" }).waitFor();
  // The selection of a device zooms in until devices instead of clusters are drawn.
  await page.keyboard.press("/");
  await page.keyboard.type("lon1-leaf1");
  await page.locator(".search-hit").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator("aside.panel").getByRole("heading", { name: "lon1-leaf1" }).waitFor();
  await page.locator('.map[data-detail="devices"]').waitFor();
  await scrollToLastHost(tab);
  expect(tab.externalRequests).toEqual([]);
  expect(tab.errors).toEqual([]);
  await tab.close();
  await service.stop();
});

/** Goes to the last of 100,000 rows, which are loaded then. The table contains only the rows that fit on the screen. */
async function scrollToLastHost(tab: BrowserTab): Promise<void> {
  const { page } = tab;
  await tab.goto("/?view=hosts");
  await page.getByText("200 of 100,000 rows", { exact: false }).waitFor();
  const rows = page.locator('.grid [role="row"][aria-selected]');
  await rows.first().focus();
  await page.keyboard.press("End");
  await page.locator('[aria-rowindex="100001"]').waitFor();
  await page.getByText("100,000 rows", { exact: true }).waitFor();
  expect(await rows.count()).toBeLessThan(60);
  await page.getByRole("button", { name: "MAC" }).click();
  await until(() => page.url().includes("sort=mac"), { what: "the order in the address" });
}

test("the page is small, its assets come from the service, and it has a strict policy", async () => {
  const service = await startDemo(10, 10);
  const html = await (await service.fetch("/")).text();
  const assets = [...html.matchAll(/(?:href|src|content)="(\/assets\/[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  expect(assets).toHaveLength(4);
  for (const encoding of ["gzip", "br", "zstd"]) {
    let total = 0;
    for (const path of ["/", ...assets]) {
      const response = await service.fetch(path, {
        method: "HEAD",
        headers: { "accept-encoding": encoding },
      });
      expect(response.status).toBe(200);
      total += Number(response.headers.get("content-length"));
    }
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(500_000);
  }
  const response = await service.fetch("/", { headers: { "accept-encoding": "gzip" } });
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(response.headers.get("cache-control")).toBe("private, no-cache");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const etag = response.headers.get("etag") ?? "";
  const revalidated = await service.fetch("/", {
    headers: { "accept-encoding": "gzip", "if-none-match": etag },
  });
  expect(revalidated.status).toBe(304);
  expect((await fetch(`${service.url}/`)).status).toBe(401);
  expect((await service.fetch("/assets/none.js")).status).toBe(404);
  await service.stop();
});
