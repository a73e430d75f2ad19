/** The page with 50, 1,000 and 10,000 devices, a table of 100,000 rows, and the size and headers of the page itself. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { eventually, openTab } from "./browser.ts";
import { measureDrawnPixels } from "./map-pixels.ts";

const hasChromium = needs("chromium");

const startDemo = (devices: number, hosts: number): Promise<Service> =>
  startService({ args: ["--data", ":memory:", `--demo=devices=${devices},hosts=${hosts},churn=0`] });

for (const [devices, hosts, detail] of [
  [50, 300, "devices"],
  [1000, 5000, "clusters"],
  [10_000, 100_000, "clusters"],
] as const) {
  test.skipIf(!hasChromium)(
    `${devices.toLocaleString("en")} devices are drawn and can be searched`,
    async () => {
      const service = await startDemo(devices, hosts);
      const tab = await openTab(service);
      const { page } = tab;
      await tab.goto("/");
      await page.locator(`.map[data-detail="${detail}"]`).waitFor();
      await eventually("the network to be drawn", async () => {
        const drawn = await measureDrawnPixels(tab);
        expect(drawn.share).toBeGreaterThan(0.005);
        expect(drawn.cells).toBeGreaterThan(14);
      });
      const deviceCount = `${devices.toLocaleString("en")} devices`;
      await page.locator(".map-summary", { hasText: deviceCount }).waitFor();
      await page.locator(".map-summary", { hasText: `${hosts.toLocaleString("en")} hosts` }).waitFor();
      // The selection of a device zooms in until devices instead of clusters are drawn.
      await page.keyboard.press("/");
      await page.keyboard.type("lon1-leaf1");
      await page.locator(".search-hit").first().waitFor();
      await page.keyboard.press("Enter");
      await page.locator("aside.panel").getByRole("heading", { name: "lon1-leaf1" }).waitFor();
      await page.locator('.map[data-detail="devices"]').waitFor();
      if (hosts === 100_000) await scrollToLastHost(service);
      expect(tab.externalRequests).toEqual([]);
      expect(tab.errors).toEqual([]);
      await tab.close();
      await service.stop();
    },
  );
}

/** Goes to the last of 100,000 rows, which are loaded then. The table contains only the rows that fit on the screen. */
async function scrollToLastHost(service: Service): Promise<void> {
  const tab = await openTab(service);
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
  await tab.close();
}

test.skipIf(!hasChromium)(
  "the page has less than 500 kB compressed, and all its assets come from the service",
  async () => {
    const service = await startDemo(10, 10);
    const html = await (await service.fetch("/")).text();
    const assets = [...html.matchAll(/(?:href|src|content)="(\/assets\/[^"]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    expect(assets).toHaveLength(5);
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
    await service.stop();
  },
);

test.skipIf(!hasChromium)(
  "the page has a strict content security policy, is revalidated, and requires credentials",
  async () => {
    const service = await startDemo(10, 10);
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
  },
);
