/** The page with a network of some size: it is drawn, searched, and its last host is in the table. */
import { expect } from "bun:test";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { measureDrawnPixels } from "./map-pixels.ts";

export const startDemo = (devices: number, hosts: number): Promise<Service> =>
  startService({ args: ["--data", ":memory:", `--demo=devices=${devices},hosts=${hosts},churn=0`] });

interface SizeChecks {
  beforeOpening(tab: BrowserTab): Promise<void>;
  /** Called when the whole network is drawn. */
  onDrawn(tab: BrowserTab): Promise<void>;
}

/** `detail` is what is drawn when the whole network is in view. */
export async function drawAndSearch(
  devices: number,
  hosts: number,
  detail: "devices" | "clusters",
  checks?: SizeChecks,
): Promise<void> {
  const service = await startDemo(devices, hosts);
  const tab = await openTab(service);
  const { page } = tab;
  await checks?.beforeOpening(tab);
  await tab.goto("/");
  await page.locator(`.map[data-detail="${detail}"]`).waitFor();
  await eventually("the network to be drawn", async () => {
    const drawn = await measureDrawnPixels(tab);
    expect(drawn.share).toBeGreaterThan(0.005);
    expect(drawn.cells).toBeGreaterThan(14);
  });
  await page.locator(".map-summary", { hasText: `${devices.toLocaleString("en")} devices` }).waitFor();
  await page.locator(".map-summary", { hasText: `${hosts.toLocaleString("en")} hosts` }).waitFor();
  await checks?.onDrawn(tab);
  // The selection of a device zooms in until devices instead of clusters are drawn.
  await page.keyboard.press("/");
  await page.keyboard.type("lon1-leaf1");
  await page.locator(".search-hit").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator("aside.panel").getByRole("heading", { name: "lon1-leaf1" }).waitFor();
  await page.locator('.map[data-detail="devices"]').waitFor();
  await scrollToLastHost(tab, hosts);
  expect(tab.externalRequests).toEqual([]);
  expect(tab.errors).toEqual([]);
  await tab.close();
  await service.stop();
}

/** Goes to the last row, which is loaded then. The table contains only the rows that fit on the screen. */
async function scrollToLastHost(tab: BrowserTab, hosts: number): Promise<void> {
  const { page } = tab;
  const count = `${hosts.toLocaleString("en")} rows`;
  await tab.goto("/?view=hosts");
  await page.getByText(`200 of ${count}`, { exact: false }).waitFor();
  const rows = page.locator('.grid [role="row"][aria-selected]');
  await rows.first().focus();
  await page.keyboard.press("End");
  await page.locator(`[aria-rowindex="${hosts + 1}"]`).waitFor();
  await page.getByText(count, { exact: true }).waitFor();
  expect(await rows.count()).toBeLessThan(60);
  await page.getByRole("button", { name: "MAC" }).click();
  await until(() => page.url().includes("sort=mac"), { what: "the order in the address" });
}
