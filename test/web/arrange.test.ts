/** The user's own arrangement of the map: pins, saved views, links to them, group boxes, a picture, and the exports. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { createNetworkFile, deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
afterAll(() => file.remove());

/** A path from a device to itself: the map has that device at its centre. */
const centred = (device: string): string => `/?path=devices:${device}&path=devices:${device}`;

interface Pin {
  readonly device: string;
  readonly x: number;
  readonly y: number;
}

async function keptPins({ page }: BrowserTab): Promise<readonly Pin[]> {
  const text = await page.evaluate(() => localStorage.getItem("gazetteer.arrangement"));
  return JSON.parse(text ?? "{}").pins ?? [];
}

async function centreOf({ page }: BrowserTab): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const arrange = ({ page }: BrowserTab) => page.getByRole("button", { name: "Arrange", exact: true }).click();
const box = ({ page }: BrowserTab) => page.getByRole("region", { name: "Arrange" });

async function drag(tab: BrowserTab, dx: number, dy: number): Promise<void> {
  const { x, y } = await centreOf(tab);
  await tab.page.mouse.move(x, y);
  await tab.page.mouse.down();
  await tab.page.mouse.move(x + dx / 2, y + dy / 2);
  await tab.page.mouse.move(x + dx, y + dy);
  await tab.page.mouse.up();
}

/** Clicks beside the centre until the device is selected: the layout runs in a worker. */
async function selectAt(tab: BrowserTab, dx: number, dy: number, device: string): Promise<void> {
  const { x, y } = await centreOf(tab);
  await eventually("the device at its new place", async () => {
    await tab.page.mouse.click(x + dx, y + dy);
    expect(tab.page.url()).toContain(`selected=devices:${device}`);
  });
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
    await drag(tab, 30, -90);
    await box(tab).getByText("1 device pinned").waitFor();
    await selectAt(tab, 30, -90, leaf);
    await eventually("the pin in the browser", async () =>
      expect((await keptPins(tab)).map(({ device }) => device)).toEqual([leaf]),
    );
    const pins = await keptPins(tab);

    await tab.page.reload();
    await tab.page.locator('[data-drawn="true"]').waitFor();
    await tab.page.keyboard.press("Escape");
    await arrange(tab);
    await box(tab).getByText("1 device pinned").waitFor();
    expect(await keptPins(tab)).toEqual(pins);
    expect(tab.errors).toEqual([]);

    await box(tab).getByRole("button", { name: "Unpin all" }).click();
    await selectAt(tab, 0, 0, leaf);
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
