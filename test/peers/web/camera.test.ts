/** A shared address: it restores the whole view, on another screen too, and what appears later moves nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "../../web/browser.ts";
import { leafId, startKnownHistory } from "../../web/known-history.ts";
import { changedPixelShare, screenshotMap } from "../../web/map-pixels.ts";
import { createNetworkFile, deviceId } from "../../web/network-file.ts";

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

const addressOf = ({ page }: BrowserTab): string => page.url().slice(service.url.length);

async function clickCentre({ page }: BrowserTab): Promise<void> {
  const box = await page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

test.skipIf(!hasChromium)(
  "an address restores camera, layer, filter, selection, panel and time range in another tab",
  async () => {
    await tab.goto(
      `/?selected=devices:${deviceId(11)}&type=SWITCH&layer=conflicts&hosts=${deviceId(12)}&span=6h`,
    );
    const map = tab.page.locator(".map-focus");
    await map.press("+");
    await map.press("ArrowLeft");
    // The outline of the focus is not part of the view.
    await map.evaluate((element) => element.blur());
    await waitForUrlPart(tab, "camera=");
    const otherTab = await openTab(service);
    // The address follows the camera after a pause, so the first one may be of the camera before the last key.
    await eventually("the same image in both tabs", async () => {
      if (addressOf(otherTab) !== addressOf(tab)) await otherTab.goto(addressOf(tab));
      await otherTab.page.locator("aside.panel").getByRole("heading", { name: "leaf1" }).waitFor();
      const [image, otherImage] = [await screenshotMap(tab), await screenshotMap(otherTab)];
      expect(await changedPixelShare(otherTab, image, otherImage)).toBeLessThan(0.002);
    });
    expect(addressOf(otherTab)).toBe(addressOf(tab));
    expect(await otherTab.page.getByLabel("How much of the past to show").inputValue()).toBe("6h");
    expect(
      await otherTab.page
        .getByRole("button", { name: "Contradictory reports", exact: true })
        .getAttribute("aria-pressed"),
    ).toBe("true");
    await otherTab.close();
  },
);

test.skipIf(!hasChromium)(
  "another screen shows the same device, and a device that appears moves nothing",
  async () => {
    // A path from a device to itself: the map centres on that one device.
    await tab.goto(`/?path=devices:${deviceId(13)}&path=devices:${deviceId(13)}`);
    await waitForUrlPart(tab, "camera=");
    const camera = new URL(tab.page.url()).searchParams.get("camera") ?? "";
    expect(camera).toEndWith(`,${deviceId(13)}`);
    const otherTab = await openTab(service, { viewport: { width: 900, height: 620 } });
    await otherTab.goto(`/?camera=${camera}`);
    await clickCentre(otherTab);
    await waitForUrlPart(otherTab, `selected=devices:${deviceId(13)}`);
    expect(new URL(otherTab.page.url()).searchParams.get("camera")).toBe(camera);
    await otherTab.page.keyboard.press("Escape");

    file.write({ addedLeaves: [15, 16] });
    await otherTab.page.getByText("8 devices, 12 cables").waitFor();
    const drawnItems = () => otherTab.page.locator(".map").getAttribute("data-items");
    await until(async () => (await drawnItems()) === "20", { what: "8 devices and 12 lines" });
    await otherTab.page.locator(".map-focus").press("Escape");
    await until(() => !otherTab.page.url().includes("selected="), { what: "an empty selection" });
    await clickCentre(otherTab);
    await waitForUrlPart(otherTab, `selected=devices:${deviceId(13)}`);
    expect(new URL(otherTab.page.url()).searchParams.get("camera")).toBe(camera);
    expect(otherTab.errors).toEqual([]);
    await otherTab.close();
  },
);

test.skipIf(!hasChromium)(
  "a problem that is loaded, ends or comes back does not move the camera",
  async () => {
    const down = { unavailable: [deviceId(11)] };
    file.write(down);
    const problem = await until(
      async () => {
        const response = await service.fetch("/controller/v1/topology/problems");
        const { problems }: { problems: { id: string; entity?: string }[] } = await response.json();
        return problems.find(({ entity }) => entity === deviceId(11))?.id;
      },
      { what: "the problem" },
    );
    const camera = `0,0,150,${deviceId(14)}`;
    await tab.goto(`/?problem=${encodeURIComponent(problem)}&camera=${camera}`);
    const chip = (text: string) => tab.page.locator(".chips").getByText(text);
    await chip("leaf1").waitFor();
    file.write();
    await chip("A problem that is over").waitFor();
    file.write(down);
    await chip("leaf1").waitFor();
    await clickCentre(tab);
    await waitForUrlPart(tab, `selected=devices:${deviceId(14)}`);
    expect(new URL(tab.page.url()).searchParams.get("camera")).toBe(camera);
  },
);

test.skipIf(!hasChromium)("a panel does not move the network, and gives its place back", async () => {
  const { page } = tab;
  file.write();
  await tab.goto("/");
  await page.locator('.map[data-items="14"]').waitFor();
  // No device is down any more, as it was in the test before.
  await page.locator(".map-summary", { hasText: "6 devices, 8 cables" }).waitFor();
  // Close enough that not the whole network is in view, with a device in the centre.
  await tab.goto(`/?camera=0,0,260,${deviceId(13)}`);
  const map = page.locator(".map-focus");
  /** Without the edge, where the map has the mark of the focus. */
  const leftPart = async (width = 380) => {
    await screenshotMap(tab);
    return page.screenshot({ clip: { x: 20, y: 120, width, height: 400 } });
  };
  const [before, wholeBefore] = [await leftPart(), await leftPart(1200)];
  const panel = page.locator("aside.panel");
  await clickCentre(tab);
  await panel.getByRole("heading", { name: "leaf3" }).waitFor();
  expect(await changedPixelShare(tab, before, await leftPart())).toBeLessThan(0.002);
  await map.press("Escape");
  await panel.waitFor({ state: "hidden" });
  // A device under the pointer would have its card.
  await page.mouse.move(5, 5);
  await eventually("the place before the panel", async () => {
    expect(await changedPixelShare(tab, wholeBefore, await leftPart(1200))).toBeLessThan(0.002);
  });
  // A move by the user is kept.
  await clickCentre(tab);
  await panel.getByRole("heading", { name: "leaf3" }).waitFor();
  await map.press("ArrowUp");
  const moved = await leftPart();
  await map.press("Escape");
  await panel.waitFor({ state: "hidden" });
  expect(await changedPixelShare(tab, moved, await leftPart())).toBeLessThan(0.002);
  expect(await changedPixelShare(tab, before, moved)).toBeGreaterThan(0.002);
});

test.skipIf(!hasChromium)("a past moment is shown where a device was that is gone since", async () => {
  const history = await startKnownHistory();
  const pastTab = await openTab(history.service);
  try {
    const camera = `0,0,150,${leafId(2)}`;
    await pastTab.goto(`/?at=${history.revisions.deviceDown}&camera=${camera}`);
    await pastTab.page.getByText("4 devices (1 down)").waitFor();
    await eventually("the device in the centre", async () => {
      await clickCentre(pastTab);
      expect(pastTab.page.url()).toContain(`selected=devices:${leafId(2)}`);
    });
    expect(new URL(pastTab.page.url()).searchParams.get("camera")).toBe(camera);
    expect(pastTab.errors).toEqual([]);
  } finally {
    await pastTab.close();
    history.remove();
  }
});
