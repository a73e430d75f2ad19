/** The service and the parts of the page that the tests of arrangements share: pins, views, group boxes, exports. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Arrangement } from "../../src/model/map-view.ts";
import type { BrowserTab } from "./browser.ts";
import { createNetworkFile, deviceId, type NetworkFile } from "./network-file.ts";

/** With the racks of devices, and a view in the configuration. */
export function createArrangedNetwork(): NetworkFile {
  const file = createNetworkFile();
  const path = join(file.folder, "network.json");
  const network = JSON.parse(readFileSync(path, "utf8"));
  for (const { id, annotations } of network.devices) annotations.rack = id === deviceId(14) ? "B" : "A";
  writeFileSync(path, JSON.stringify(network));
  const pin = { device: deviceId(11), x: 500, y: 400 };
  const views = [{ name: "Wall", state: "type=SWITCH", arrangement: { pins: [pin] } }];
  appendFileSync(file.config, `views: ${JSON.stringify(views)}\n`);
  return file;
}

/** The user's own arrangement, as the browser keeps it. */
export async function keptArrangement({ page }: BrowserTab): Promise<Arrangement> {
  const text = await page.evaluate(() => localStorage.getItem("gazetteer.arrangement"));
  return JSON.parse(text ?? "{}");
}

export const keptPins = async (tab: BrowserTab) => (await keptArrangement(tab)).pins ?? [];

export async function centreOf({ page }: BrowserTab): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

export const arrange = ({ page }: BrowserTab) =>
  page.getByRole("button", { name: "Arrange", exact: true }).click();
export const box = ({ page }: BrowserTab) => page.getByRole("region", { name: "Arrange" });

export const openViews = ({ page }: BrowserTab) =>
  page.getByRole("button", { name: "Views", exact: true }).click();
export const viewsBox = ({ page }: BrowserTab) => page.getByRole("group", { name: "Views" });
export const clipboard = ({ page }: BrowserTab) => page.evaluate(() => navigator.clipboard.readText());
export const chip = ({ page }: BrowserTab, text: string) => page.locator(".chip", { hasText: text });

/** Pins the device where it is. */
export async function pin(tab: BrowserTab, device: string): Promise<void> {
  await tab.goto(`/?selected=devices:${device}`);
  await arrange(tab);
  await box(tab).getByRole("button", { name: /^Pin / }).click();
  await box(tab).getByText("1 device pinned").waitFor();
}
