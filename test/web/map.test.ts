/** The map in a browser: search, selection, live changes, the past, comparison, paths, filters and a lost connection. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { changedPixelShare, measureDrawnPixels, screenshotMap } from "./map-pixels.ts";
import { createNetworkFile, deviceId, MARKUP_NAME } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
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

const panel = () => tab.page.locator("aside.panel");
const summary = () => tab.page.locator(".map-summary");

async function search(text: string): Promise<void> {
  await tab.page.keyboard.press("/");
  await tab.page.keyboard.type(text);
  await tab.page.locator(".search-hit").first().waitFor();
  await tab.page.keyboard.press("Enter");
}

test.skipIf(!hasChromium)("the start page shows the map with the whole network", async () => {
  await tab.goto("/");
  await summary().getByText("6 devices, 8 cables, 8 hosts", { exact: true }).waitFor();
  await eventually("the network to be drawn", async () => {
    const drawn = await measureDrawnPixels(tab);
    expect(drawn.share).toBeGreaterThan(0.002);
    // Two rows of devices, as wide as the map.
    expect(drawn.cells).toBeGreaterThan(7);
    expect(drawn.redShare).toBeLessThan(0.0001);
  });
  await tab.page.locator('.status[data-level="live"]').waitFor();
});

test.skipIf(!hasChromium)(
  "data that is not loaded yet is shown as loading, not as 0, and is found after it is loaded",
  async () => {
    const otherTab = await openTab(service);
    const { page } = otherTab;
    let unblocked = Promise.withResolvers<void>();
    // All but the counts of hosts, which come with the map.
    await page.route(/\/controller\/v1\/(hosts\?(?!count)|topology\/search)|\/readyz$/, async (route) => {
      await unblocked.promise;
      await route.continue();
    });
    await otherTab.goto("/");
    await page.locator(".map-summary", { hasText: /^6 devices, 8 cables, 8 hosts$/ }).waitFor();
    await page.locator('.tabs a[data-view="hosts"]', { hasText: "Hosts8" }).waitFor();
    await page.locator(".status button").click();
    await page.locator(".status").getByText("Loading sources…").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("192.0.2.123");
    await page.locator(".search-hits").getByText("Searching…").waitFor();
    unblocked.resolve();
    await page.locator(".search-hit").first().waitFor();
    await page.keyboard.press("Escape");
    unblocked = Promise.withResolvers<void>();
    await page.goto(`${service.url}/?view=hosts`);
    await page.locator(".table-bar").getByText("Loading…", { exact: true }).waitFor();
    unblocked.resolve();
    await page.locator(".table-bar").getByText("8 rows", { exact: true }).waitFor();
    expect(otherTab.errors).toEqual([]);
    await otherTab.close();
  },
);

test.skipIf(!hasChromium)("a search for an IP address selects the host and shows its port", async () => {
  await search("192.0.2.123");
  await panel().getByText("On leaf2 port 3").waitFor();
  await panel().getByText("3 · eth3").waitFor();
  await waitForUrlPart(tab, "selected=hosts:02:00:00:00:01:03/None");
});

test.skipIf(!hasChromium)("a search for an address prefix finds all hosts in it", async () => {
  await tab.page.keyboard.press("/");
  await tab.page.keyboard.type("192.0.2.112/29");
  await until(async () => (await tab.page.locator(".search-hit").count()) === 2, { what: "two hits" });
  await tab.page.keyboard.press("Escape");
  await tab.page.keyboard.press("Escape");
});

test.skipIf(!hasChromium)("a device shows its ports, links, hosts and history", async () => {
  await search("leaf1");
  await panel().getByRole("heading", { name: "leaf1" }).waitFor();
  const row = panel().locator("table.ports tr", { hasText: "spine1/1" });
  await row.locator("th", { hasText: /^1$/ }).waitFor();
  await panel().locator("table.ports tr", { hasText: "pc-11-3" }).waitFor();
  await panel().locator(".history li, .lazy .muted").first().waitFor();
});

test.skipIf(!hasChromium)(
  "a click on the map selects the device under the pointer, and its hosts are drawn on demand",
  async () => {
    const isSelected = () => tab.page.url().includes(`selected=devices:${deviceId(13)}`);
    await until(
      async () => {
        // A path from a device to itself: the map centres on that one device.
        await tab.goto(`/?path=devices:${deviceId(13)}&path=devices:${deviceId(13)}`);
        await until(() => tab.page.url().includes("camera="), { what: "the camera in the address" });
        const box = await tab.page.locator(".map").boundingBox();
        if (!box) throw new Error("no map");
        await tab.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        // A second click before the first one is handled would be a double click, which zooms.
        await until(isSelected, { what: "the selection in the address", deadlineMs: 10_000 });
        return true;
      },
      { what: "the click to select leaf3", deadlineMs: 120_000 },
    );
    await panel().getByRole("heading", { name: "leaf3" }).waitFor();
    const before = await measureDrawnPixels(tab);
    await panel().getByRole("button", { name: "2 hosts" }).click();
    await until(() => tab.page.url().includes(`hosts=${deviceId(13)}`), {
      what: "the expanded device in the address",
    });
    await until(async () => (await measureDrawnPixels(tab)).share !== before.share, {
      what: "the hosts to be drawn",
    });
    await tab.page.locator(".map-focus").press("Escape");
    await until(() => !tab.page.url().includes("selected="), { what: "an empty selection" });
  },
);

test.skipIf(!hasChromium)(
  "a link that goes down is shown at once on the map and in the list of changes",
  async () => {
    await tab.goto("/?changes=1");
    file.write({ inactiveLinks: ["spine1-leaf2"] });
    await tab.page.getByText("6 devices, 8 cables (1 down), 8 hosts").waitFor();
    const entry = panel().locator(".changes li", { hasText: "cable went down" });
    await entry.first().waitFor();
    expect(await entry.count()).toBe(1);
    await until(async () => (await measureDrawnPixels(tab)).redShare > 0.0001, { what: "a red dashed line" });
    await entry.getByRole("link").click();
    await panel().getByText("Down", { exact: true }).waitFor();
  },
);

test.skipIf(!hasChromium)("a device that is removed and added again moves no other device", async () => {
  file.write({ inactiveLinks: ["spine1-leaf2"] });
  await tab.goto("/");
  const whole = "6 devices, 8 cables (1 down), 8 hosts";
  await tab.page.getByText(whole).waitFor();
  file.write({ inactiveLinks: ["spine1-leaf2"], removedDevices: [deviceId(14)] });
  await tab.page.getByText("5 devices, 6 cables (1 down), 6 hosts").waitFor();
  file.write({ inactiveLinks: ["spine1-leaf2"] });
  await tab.page.getByText(whole).waitFor();
  // A new browser computes the positions from the network alone, as they were before. In both, the names of ports, which
  // are loaded later, appear in time.
  const otherTab = await openTab(service);
  await otherTab.goto("/");
  await otherTab.page.getByText(whole).waitFor();
  const changedShare = async () =>
    changedPixelShare(tab, await screenshotMap(otherTab), await screenshotMap(tab));
  await until(async () => (await changedShare()) < 0.0005, { what: "the same image" });
  await otherTab.close();
});

test.skipIf(!hasChromium)(
  "a click on the timeline shows the past, and Now returns to the present",
  async () => {
    await tab.goto("/");
    const track = tab.page.locator(".track");
    const box = await track.boundingBox();
    if (!box) throw new Error("no timeline");
    await choose15Minutes();
    // Finds a time between the first device and the first inactive link by bisection, because the timeline moves on during
    // the test. The state that the service returns for a time decides on which side it is.
    let [early, late] = [0, 1];
    for (;;) {
      expect(late - early).toBeGreaterThan(0.0001);
      const share = (early + late) / 2;
      await tab.page.mouse.click(box.x + box.width * share, box.y + 20);
      const found = await networkAt(await timeInAddress());
      if (found.devices === 6 && found.inactive === 0) break;
      if (found.inactive > 0) late = share;
      else early = share;
      await returnToNow();
    }
    await tab.page.getByText("6 devices, 8 cables, 8 hosts").waitFor();
    await tab.page.locator('.status[data-level="past"]').waitFor();
    await tab.page.getByRole("button", { name: "Now", exact: true }).click();
    await tab.page.getByText("6 devices, 8 cables (1 down), 8 hosts").waitFor();
  },
);

async function choose15Minutes(): Promise<void> {
  const [response] = await Promise.all([
    tab.page.waitForResponse((received) => received.url().includes("timeline=")),
    tab.page.getByLabel("How much of the past to show").selectOption("15min"),
  ]);
  const { from, to } = await response.json();
  expect(to - from).toBeGreaterThan(0);
}

async function timeInAddress(): Promise<string> {
  const time = () => new URL(tab.page.url()).searchParams.get("at");
  return until(time, { what: "the time in the address" });
}

async function networkAt(at: string): Promise<{ devices: number; inactive: number }> {
  const list = async (name: string): Promise<{ state?: string }[]> => {
    const response = await service.fetch(`/controller/v1/${name}?at=${encodeURIComponent(at)}`);
    // An error: the time, in whole seconds, is before the first revision.
    return response.ok ? (await response.json())[name] : [];
  };
  const [devices, links] = [await list("devices"), await list("links")];
  return {
    devices: devices.length,
    inactive: links.filter((link) => link.state === "INACTIVE").length,
  };
}

async function returnToNow(): Promise<void> {
  await tab.page.getByRole("button", { name: "Now", exact: true }).click();
  await until(() => !/[?&]at=/.test(tab.page.url()), { what: "no time in the address" });
}

test.skipIf(!hasChromium)(
  "a comparison of two times marks the differences on the map, and its address shows the same in another tab",
  async () => {
    const at = new Date(Date.now() + 1000).toISOString().slice(0, 19);
    await until(() => Date.now() > Date.parse(`${at}Z`) + 1000, { what: "the second to pass" });
    file.write({ inactiveLinks: ["spine1-leaf2"], removedDevices: [deviceId(14)] });
    await tab.goto(`/?compare=${at}Z`);
    await panel().getByText("went away").or(panel().getByText("is gone")).first().waitFor();
    await tab.page.getByText(/0 added, \d+ removed, \d+ changed/).waitFor();
    // A removed device is still drawn at its position.
    await summary()
      .getByText(/^6 devices/)
      .waitFor();
    const address = tab.page.url();
    const otherTab = await openTab(service);
    await otherTab.goto(address.slice(service.url.length));
    await otherTab.page.getByText(/0 added, \d+ removed, \d+ changed/).waitFor();
    await otherTab.close();
    file.write();
  },
);

test.skipIf(!hasChromium)("a path between two hosts", async () => {
  await tab.goto("/");
  await search("192.0.2.113");
  await panel().getByRole("button", { name: "Path from here" }).click();
  await search("192.0.2.133");
  await panel().getByText("2 shortest paths of 4 hops").waitFor();
  expect(await panel().locator("details[open] .way li").allTextContents()).toHaveLength(5);
  await waitForUrlPart(tab, "path=hosts:");
});

test.skipIf(!hasChromium)("a neighbourhood of N hops", async () => {
  await tab.goto(`/?around=${deviceId(11)}`);
  const chip = tab.page.locator(".chip", { hasText: "Within 1 hop of leaf1" });
  await chip.waitFor();
  await chip.getByRole("button", { name: "One hop more" }).click();
  await tab.page.locator(".chip", { hasText: "Within 2 hops of leaf1" }).waitFor();
  await waitForUrlPart(tab, "hops=2");
});

test.skipIf(!hasChromium)(
  "a filter is counted in its menu, and shown as a chip and in the address",
  async () => {
    file.write({ inactiveLinks: ["spine2-leaf3"] });
    await tab.goto("/");
    await tab.page.getByText("(1 down)").waitFor();
    await tab.page.getByRole("button", { name: "Filter" }).click();
    const checkbox = tab.page.locator("label.check", { hasText: "Cable down" });
    await checkbox.locator(".count", { hasText: /^1$/ }).waitFor();
    await checkbox.locator("input").check();
    await until(() => tab.page.url().includes("state=inactive"), { what: "the filter in the address" });
    await tab.page.locator(".chip", { hasText: "Cable down" }).waitFor();
  },
);

test.skipIf(!hasChromium)(
  "names that contain markup are shown as text, and all requests go to the service",
  async () => {
    await tab.goto(`/?selected=devices:${deviceId(14)}&hosts=${deviceId(14)}`);
    await panel().getByRole("heading", { name: MARKUP_NAME }).waitFor();
    await tab.goto("/?view=devices");
    await tab.page.getByRole("gridcell", { name: MARKUP_NAME }).first().waitFor();
    expect(await tab.page.title()).not.toContain("harmed");
    expect(await tab.page.locator("img").count()).toBe(0);
    expect(tab.externalRequests).toEqual([]);
    expect(tab.errors).toEqual([]);
  },
);

test.skipIf(!hasChromium)(
  "a stale source is named, and a lost connection is restored without a reload",
  async () => {
    await using proxy = await startTcpProxy(Number(new URL(service.url).port));
    const otherTab = await openTab({ ...service, url: `http://127.0.0.1:${proxy.port}` });
    const { page } = otherTab;
    try {
      await otherTab.goto("/");
      file.writeInvalid();
      await page.locator('.status[data-level="stale"]').waitFor();
      await page.locator(".status button").click();
      await page.locator(".sources .bad", { hasText: "racks" }).waitFor();
      await page.keyboard.press("Escape");
      proxy.cut();
      await page.locator('.status[data-level="lost"]').waitFor();
      // The map is faded, and a note says since when, also on a phone, whose bar has no words for the state.
      const note = page.getByText(/^No connection since .*\d\d:\d\d:\d\d: this is the network of that time$/);
      await note.waitFor();
      const opacity = () =>
        page.locator(".map-stage").evaluate((canvas) => Number(getComputedStyle(canvas).opacity));
      expect(await opacity()).toBeLessThan(0.6);
      const size = page.viewportSize() ?? { width: 1280, height: 800 };
      await page.setViewportSize({ width: 390, height: 844 });
      const box = await note.boundingBox();
      expect([box?.x ?? -1, 390 - (box?.x ?? 0) - (box?.width ?? 999)].every((space) => space >= 0)).toBe(
        true,
      );
      await page.setViewportSize(size);
      file.write({ inactiveLinks: ["spine1-leaf1", "spine2-leaf1"] });
      proxy.open();
      await page.locator('.status[data-level="live"]').waitFor();
      await page.getByText("(2 down)").waitFor();
      await note.waitFor({ state: "detached" });
      expect(await opacity()).toBe(1);
    } finally {
      await otherTab.close();
    }
  },
);
