/** The page without a pointer: every part is reached by Tab, and the map, the panel and the boxes work with keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { createNetworkFile, deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  file.write();
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

const press = (key: string) => tab.page.keyboard.press(key);
const selected = () => new URL(tab.page.url()).searchParams.get("selected");
const camera = () => new URL(tab.page.url()).searchParams.get("camera");
/** What has the focus, as a screen reader names it. */
const focused = () =>
  tab.page.evaluate(() => {
    const { activeElement: element } = document;
    return (
      element?.getAttribute("aria-label") ?? element?.getAttribute("title") ?? element?.textContent ?? ""
    );
  });

async function tabTo(name: string): Promise<string[]> {
  const passed: string[] = [];
  for (let i = 0; i < 60; i++) {
    await press("Tab");
    passed.push(await focused());
    if (passed.at(-1)?.startsWith(name)) return passed;
  }
  throw new Error(`${name} is not reached: ${passed.join(", ")}`);
}

test.skipIf(!hasChromium)("Tab reaches every part of the page, and each has a name", async () => {
  await tab.goto("/");
  await tab.page.getByLabel("Moment shown").waitFor();
  const passed = await tabTo("Moment shown");
  const parts = ["Find", "Map", "Devices", "Path", "Filter", "Recent changes", "Export", "Network map"];
  const missing = parts.filter((part) => !passed.some((name) => name.startsWith(part)));
  expect({ missing, passed: missing.length === 0 ? [] : passed }).toEqual({ missing: [], passed: [] });
  // With and without names beside the icons, the bar fits.
  for (const width of [1440, 1280]) {
    await tab.page.setViewportSize({ width, height: 800 });
    expect(await tab.page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const status = await tab.page.locator(".status").boundingBox();
    expect((status?.x ?? 0) + (status?.width ?? width)).toBeLessThanOrEqual(width);
  }
  for (const part of ["Docs", "Keys and theme"])
    expect(passed.some((name) => name.startsWith(part))).toBe(true);
  for (const part of ["Zoom in", "Zoom out", "Show all", "Legend"]) expect(passed).toContain(part);
  // The network has no plan and no contradictory reports.
  for (const part of ["Not as planned", "Contradictory reports"]) expect(passed).not.toContain(part);
  expect(passed).not.toContain("");
});

test.skipIf(!hasChromium)(
  "search and Enter lead to what was found on the map, and ? lists the keys",
  async () => {
    await tab.goto("/");
    await press("/");
    await tab.page.keyboard.type("leaf2");
    await press("Enter");
    await waitForUrlPart(tab, `selected=devices:${deviceId(12)}`);
    expect(await focused()).toStartWith("Network map");
    await press("?");
    const keys = tab.page.getByRole("dialog", { name: "Keys" });
    await keys.getByText("previous and next incident").waitFor();
    expect(await audit(tab)).toEqual([]);
    await press("Escape");
    await keys.waitFor({ state: "hidden" });
    expect(await focused()).toStartWith("Network map");
    await press("Enter");
    expect(await focused()).toBe("Details");
  },
);

test.skipIf(!hasChromium)("a theme is chosen with keys, is kept, and colours page and map", async () => {
  const ground = () => tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await tabTo("Keys and theme");
  await press("Enter");
  await tab.page.getByRole("radio", { name: "Light" }).focus();
  await press("Space");
  await until(async () => (await ground()) !== dark, { what: "the light theme" });
  await tab.goto("/");
  expect(await ground()).not.toBe(dark);
  await tab.page.evaluate(() => localStorage.removeItem("gazetteer.theme"));
});

test.skipIf(!hasChromium)("arrows move the map, plus and minus zoom", async () => {
  await tab.goto("/");
  await tabTo("Network map");
  const cameras = new Set<string | null>([camera()]);
  for (const key of ["+", "ArrowRight", "ArrowDown", "-"]) {
    await press(key);
    await until(() => !cameras.has(camera()), { what: `the camera after ${key}` });
    cameras.add(camera());
  }
});

test.skipIf(!hasChromium)(
  "Shift and arrows walk from device to device along cables; Enter opens, Escape closes and leads back",
  async () => {
    await tab.goto(`/?selected=devices:${deviceId(1)}`);
    await tabTo("Network map");
    const visited = [selected()];
    for (const key of ["Shift+ArrowDown", "Shift+ArrowUp"]) {
      await press(key);
      await until(() => selected() !== visited.at(-1), { what: `the selection after ${key}` });
      visited.push(selected());
    }
    const [, leaf, spine] = visited.map((ref) => ref?.slice("devices:".length));
    const { links } = await (await service.fetch(`/controller/v1/links?device=${leaf}`)).json();
    const neighbours = links.map(({ dst }: { readonly dst: { readonly device: string } }) => dst.device);
    expect(neighbours).toContain(deviceId(1));
    expect(neighbours).toContain(spine);
    await eventually("the selection to be read out", async () =>
      expect(await tab.page.locator(".stage [aria-live]").textContent()).toMatch(
        /^spine\d selected, up, \d cables/,
      ),
    );
    await press("Enter");
    expect(await focused()).toBe("Details");
    await press("Tab");
    await press("Escape");
    await until(() => selected() === null, { what: "the panel to be closed" });
    expect(await focused()).toStartWith("Network map");
  },
);

test.skipIf(!hasChromium)("without a selection, the first device is the one nearest the centre", async () => {
  await tab.goto("/");
  await tabTo("Network map");
  await press("Shift+ArrowLeft");
  await waitForUrlPart(tab, "selected=devices:");
  await press("Escape");
  await until(() => selected() === null, { what: "the selection to be cleared" });
});

test.skipIf(!hasChromium)("boxes of the bar open and close with keys, and a filter can be set", async () => {
  await tab.goto("/");
  for (const name of ["Path", "Filter", "Export and share"]) {
    await tabTo(name);
    await press("Enter");
    await tab.page.getByRole("group", { name }).waitFor();
    await press("Tab");
    await press("Escape");
    await tab.page.getByRole("group", { name }).waitFor({ state: "hidden" });
    expect(await focused()).toBe(name);
  }
  await tab.goto("/");
  await tabTo("Filter");
  await press("Enter");
  await press("Tab");
  await press("Space");
  await waitForUrlPart(tab, "type=");
});

test.skipIf(!hasChromium)("axe-core finds nothing on the map with a device that keys selected", async () => {
  for (const colorScheme of ["dark", "light"] as const) {
    await tab.page.emulateMedia({ colorScheme });
    await tab.goto(`/?selected=devices:${deviceId(1)}`);
    await tab.page.locator(".panel table.ports").first().waitFor();
    expect(await audit(tab)).toEqual([]);
  }
  expect(tab.errors).toEqual([]);
});
