/** The devices that a user pins on the map: with drags and with keys, after a reload, and undone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { arrange, box, centreOf, createArrangedNetwork, keptPins } from "./arranging.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createArrangedNetwork();
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
afterAll(() => file.remove());

/** A path from a device to itself: the map has that device at its centre. */
const centred = (device: string): string => `/?path=devices:${device}&path=devices:${device}`;

async function drag(tab: BrowserTab, dx: number, dy: number): Promise<void> {
  const { x, y } = await centreOf(tab);
  await tab.page.mouse.move(x, y);
  await tab.page.mouse.down();
  await tab.page.mouse.move(x + dx / 2, y + dy / 2);
  await tab.page.mouse.move(x + dx, y + dy);
  await tab.page.mouse.up();
}

/**
 * Clicks the device beside the centre, once it is there: the layout runs in a worker. The pointer finds out, because two
 * clicks on the empty map zoom in.
 */
async function selectAt(tab: BrowserTab, dx: number, dy: number, name: string): Promise<void> {
  const { x, y } = await centreOf(tab);
  await eventually("the device at its new place", async () => {
    await tab.page.mouse.move(x + dx + 1, y + dy);
    await tab.page.mouse.move(x + dx, y + dy);
    expect(await tab.page.locator(".hover-card strong").allTextContents()).toEqual([name]);
  });
  await tab.page.mouse.click(x + dx, y + dy);
  await tab.page.locator("aside.panel").getByRole("heading", { name }).waitFor();
}

/**
 * How far the camera of the address is from what is shown, in pixels, after the device at the centre was dragged by 30 and
 * -90: a camera that is relative to that device is written again when the device has moved.
 */
async function staleness({ page }: BrowserTab, dragged: string): Promise<number> {
  const [dx, dy, span, device] = (new URL(page.url()).searchParams.get("camera") ?? "").split(",");
  const { width = 0, height = 0 } = (await page.locator(".map").boundingBox()) ?? {};
  const scale = Math.min(width, height) / Number(span);
  return device === dragged ? Math.hypot(Number(dx) * scale + 30, Number(dy) * scale + 90) : 0;
}

test.skipIf(!hasChromium)(
  "a dragged device stays where it was put, also after a reload, until it is unpinned",
  async () => {
    const leaf = deviceId(12);
    const tab = await openTab(service);
    await tab.goto(centred(leaf));
    await waitForUrlPart(tab, "camera=");
    // Without the mode a drag moves the map.
    await arrange(tab);
    const encoded = async () => Number(await tab.page.locator(".map").getAttribute("data-encoded"));
    const before = await encoded();
    await drag(tab, 30, -90);
    await box(tab).getByText("1 device pinned").waitFor();
    await selectAt(tab, 30, -90, "leaf2");
    // The device and its two lines.
    expect((await encoded()) - before).toBeGreaterThanOrEqual(3);
    const place = /leaf2 is pinned at (-?\d+), (-?\d+)\./.exec((await box(tab).textContent()) ?? "");
    const [, x = 0, y = 0] = place?.map(Number) ?? [];
    await eventually("the last place in the browser", async () => {
      const rounded = (await keptPins(tab)).map((pin) => [pin.device, Math.round(pin.x), Math.round(pin.y)]);
      expect(rounded).toEqual([[leaf, x, y]]);
    });
    const pins = await keptPins(tab);
    await eventually("the camera in the address", async () =>
      expect(await staleness(tab, leaf)).toBeLessThan(3),
    );

    await tab.page.reload();
    await tab.page.locator('[data-drawn="true"]').waitFor();
    await arrange(tab);
    await box(tab).getByText("1 device pinned").waitFor();
    expect(await keptPins(tab)).toEqual(pins);
    // The page shows the same as before.
    await tab.page.locator(".map-focus").press("Escape");
    await selectAt(tab, 30, -90, "leaf2");
    expect(tab.errors).toEqual([]);

    await box(tab).getByRole("button", { name: "Unpin all" }).click();
    await selectAt(tab, 0, 0, "leaf2");
    await eventually("no pin in the browser", async () => expect(await keptPins(tab)).toEqual([]));
    await box(tab).getByRole("button", { name: "Undo" }).click();
    await eventually("the pin again", async () => expect(await keptPins(tab)).toEqual(pins));
    await tab.close();
  },
);

test.skipIf(!hasChromium)("keys move and pin the selected device, and each step can be undone", async () => {
  const leaf = deviceId(13);
  const tab = await openTab(service);
  await tab.goto(`/?selected=devices:${leaf}`);
  const map = tab.page.locator(".map-focus");
  await map.focus();
  await arrange(tab);
  await map.focus();
  await map.press("p");
  await box(tab).getByText("1 device pinned. leaf3 is pinned at").waitFor();
  await eventually("the pin", async () => expect(await keptPins(tab)).toHaveLength(1));
  const [start] = await keptPins(tab);
  if (!start) throw new Error("no pin");
  await map.press("ArrowRight");
  await map.press("ArrowRight");
  await map.press("Shift+ArrowUp");
  await eventually("the moved pin", async () =>
    expect(await keptPins(tab)).toEqual([{ device: leaf, x: start.x + 84, y: start.y - 3 }]),
  );
  await map.press("u");
  await eventually("the first pin", async () => expect(await keptPins(tab)).toEqual([start]));
  await map.press("p");
  await box(tab).getByText("0 devices pinned").waitFor();
  await map.press("Control+z");
  await box(tab).getByText("1 device pinned").waitFor();
  // Without the mode the same keys move the map.
  await box(tab).getByRole("button", { name: "Stop arranging" }).click();
  await map.press("ArrowRight");
  await waitForUrlPart(tab, "camera=");
  expect(await keptPins(tab)).toEqual([start]);
  expect(tab.errors).toEqual([]);
  await tab.close();
});
