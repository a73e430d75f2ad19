/** What a user puts behind devices: group boxes around them, and their exports. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { box, createArrangedNetwork, openViews, pin, viewsBox } from "./arranging.ts";
import { audit } from "./audit.ts";
import { openTab } from "./browser.ts";
import { download } from "./download.ts";
import { deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createArrangedNetwork();
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
afterAll(() => file.remove());

test.skipIf(!hasChromium)("group boxes are drawn below the devices, and axe finds nothing", async () => {
  const tab = await openTab(service);
  const groups = (count: number) => tab.page.locator(`.map[data-groups="${count}"]`).waitFor();
  await pin(tab, deviceId(12));
  await box(tab).getByRole("heading", { name: "Group boxes" }).click();
  await box(tab).getByLabel("Box around").selectOption({ label: "each value of rack" });
  await box(tab).getByRole("button", { name: "Add the box" }).click();
  await groups(2);
  await box(tab).getByLabel("Box around").selectOption({ label: "the 1 pinned device" });
  await box(tab).getByLabel("Title").fill("By hand");
  await box(tab).getByRole("button", { name: "Add the box" }).click();
  await groups(3);
  await box(tab).getByRole("button", { name: "Delete the box rack" }).click();
  await groups(1);
  await box(tab).getByText("By hand 1 device").waitFor();

  expect(await audit(tab)).toEqual([]);
  const svg = String(await download(tab, "Download SVG"));
  expect(svg).toContain(">By hand</text>");
  expect(svg).toContain("6 devices");
  await openViews(tab);
  await viewsBox(tab).getByRole("button", { name: "Show for the configuration" }).click();
  expect(await viewsBox(tab).getByLabel("Section for").inputValue()).toContain('name: "By hand"');
  expect(await audit(tab)).toEqual([]);
  expect(tab.errors).toEqual([]);
  expect(tab.externalRequests).toEqual([]);
  await tab.close();
});
