/** Group boxes that a user draws on the map: with the mouse, a finger or the keyboard, edited, undone, shared and exported. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import {
  arrange,
  box,
  centreOf,
  chip,
  clipboard,
  createArrangedNetwork,
  keptArrangement,
  openViews,
  viewsBox,
} from "./arranging.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { download } from "./download.ts";
import { deviceId } from "./network-file.ts";
import { createTouch, PHONE } from "./touch.ts";

const hasChromium = needs("chromium");
const file = createArrangedNetwork();
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
afterAll(() => file.remove());

const drawButton = (tab: BrowserTab) => box(tab).getByRole("button", { name: "Draw a box", exact: true });
const groupsAre = ({ page }: BrowserTab, count: number) =>
  page.locator(`.map[data-groups="${count}"]`).waitFor();
const keptGroups = async (tab: BrowserTab) => (await keptArrangement(tab)).groups ?? [];

async function openGroupBoxes(tab: BrowserTab, path: string): Promise<void> {
  await tab.goto(path);
  await arrange(tab);
  await box(tab).getByRole("heading", { name: "Group boxes" }).click();
}

/** The picture of the layer of texts, above devices and lines. It also has the box that is being drawn. */
const drawnTexts = ({ page }: BrowserTab): Promise<string> =>
  page
    .locator(".map-names")
    .evaluate((canvas) => (canvas instanceof HTMLCanvasElement ? canvas.toDataURL() : ""));

/** Starts at the centre, also where that is a device. The button stays pressed until `release`. */
async function press({ page }: BrowserTab, { x, y }: { x: number; y: number }, dx: number, dy: number) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2);
  await page.mouse.move(x + dx, y + dy);
  return { release: () => page.mouse.up() };
}

test.skipIf(!hasChromium)(
  "a drag draws a box, once; a click, Escape and a stop draw nothing and keep the selection",
  async () => {
    const tab = await openTab(service);
    const selected = `selected=devices:${deviceId(12)}`;
    await openGroupBoxes(tab, `/?${selected}&camera=0,0,400,${deviceId(12)}`);
    const centre = await centreOf(tab);
    const camera = new URL(tab.page.url()).searchParams.get("camera");

    await drawButton(tab).click();
    const cursor = () =>
      tab.page.locator(".map-stage").evaluate((element) => getComputedStyle(element).cursor);
    expect(await cursor()).toBe("crosshair");
    const before = await drawnTexts(tab);
    const escaped = await press(tab, centre, 120, 80);
    await eventually("the preview", async () => expect(await drawnTexts(tab)).not.toBe(before));
    await tab.page.keyboard.press("Escape");
    expect(await drawButton(tab).getAttribute("aria-pressed")).toBe("false");
    await eventually("no preview", async () => expect(await drawnTexts(tab)).toBe(before));
    await escaped.release();
    expect(tab.page.url()).toContain(selected);
    expect(await cursor()).not.toBe("crosshair");

    await drawButton(tab).click();
    await (await press(tab, centre, 6, 80)).release();
    await tab.page.mouse.click(centre.x, centre.y);
    expect(await drawButton(tab).getAttribute("aria-pressed")).toBe("true");
    await groupsAre(tab, 0);
    expect(await keptGroups(tab)).toEqual([]);

    await box(tab).getByLabel("Title").fill("By hand");
    // Upwards and to the left: the corners may come in any order.
    await (await press(tab, centre, -120, -80)).release();
    await groupsAre(tab, 1);
    expect(await drawButton(tab).getAttribute("aria-pressed")).toBe("false");
    await eventually("the box in the browser", async () => expect(await keptGroups(tab)).toHaveLength(1));
    const [drawn] = await keptGroups(tab);
    const { height: mapHeight = 0 } = (await tab.page.locator(".map").boundingBox()) ?? {};
    expect(drawn).toMatchObject({ name: "By hand" });
    expect(drawn?.width).toBeCloseTo((120 * 400) / mapHeight, 0);
    expect(drawn?.height).toBeCloseTo((80 * 400) / mapHeight, 0);
    // Neither the map nor the device at the centre was moved.
    expect(new URL(tab.page.url()).searchParams.get("camera")).toBe(camera);
    await box(tab).getByText("0 devices pinned").waitFor();
    await box(tab).getByRole("button", { name: "Undo" }).click();
    await groupsAre(tab, 0);
    expect(await box(tab).getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);

    await drawButton(tab).click();
    await box(tab).getByRole("button", { name: "Stop arranging" }).click();
    expect(await cursor()).not.toBe("crosshair");
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)(
  "keys add a box and fields move it; it is in links, in the configuration and in exports",
  async () => {
    const tab = await openTab(service);
    await openGroupBoxes(tab, "/");
    await box(tab).getByRole("button", { name: "Add a box in the middle" }).press("Enter");
    await groupsAre(tab, 1);
    // The name has the focus and is selected, so that typing replaces it.
    await eventually("the focus in the name", async () =>
      expect(
        await box(tab)
          .getByLabel("Name", { exact: true })
          .evaluate((e) => e === document.activeElement),
      ).toBe(true),
    );
    await tab.page.keyboard.type("Cage 7");
    await tab.page.keyboard.press("Enter");
    await box(tab).getByText("Cage 7 by place").waitFor();
    const place = { x: -300, y: 40, width: 200, height: 90 };
    for (const [label, value] of [
      ["Left", place.x],
      ["Top", place.y],
      ["Width", place.width],
      ["Height", place.height],
    ] as const) {
      await box(tab).getByLabel(label, { exact: true }).fill(String(value));
      await box(tab).getByLabel(label, { exact: true }).press("Enter");
    }
    const group = { name: "Cage 7", ...place };
    await eventually("the place", async () => expect(await keptGroups(tab)).toEqual([group]));
    await box(tab).getByLabel("Name", { exact: true }).fill(" ");
    await box(tab).getByLabel("Name", { exact: true }).press("Enter");
    await box(tab).getByRole("alert").waitFor();
    expect(await keptGroups(tab)).toEqual([group]);
    expect(await audit(tab)).toEqual([]);

    expect(String(await download(tab, "Download SVG"))).toContain(">Cage 7</text>");
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Show for the configuration" }).click();
    const section = await viewsBox(tab).getByLabel("Section for").inputValue();
    expect(Bun.YAML.parse(section)).toMatchObject({ views: [{ arrangement: { groups: [group] } }] });
    await viewsBox(tab).getByRole("button", { name: "Copy link with arrangement" }).click();
    await tab.page.getByText("Copied the link").waitFor();
    const link = await clipboard(tab);
    await tab.page.keyboard.press("Escape");
    await box(tab).getByRole("button", { name: "Delete the box Cage 7" }).click();
    await groupsAre(tab, 0);
    expect(await box(tab).getByLabel("Left").count()).toBe(0);
    await tab.goto(link.slice(service.url.length));
    await chip(tab, "View: My view, from a link").waitFor();
    await groupsAre(tab, 1);
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)("a finger draws a box on a phone, and a second finger zooms instead", async () => {
  const tab = await openTab(service, PHONE);
  const touch = await createTouch(tab);
  await openGroupBoxes(tab, "/");
  await drawButton(tab).tap();
  const { x, y } = (await tab.page.locator(".map").boundingBox()) ?? { x: 0, y: 0 };
  const span = () => new URL(tab.page.url()).searchParams.get("camera")?.split(",")[2];
  await touch(
    [
      [x + 100, y + 60],
      [x + 180, y + 60],
    ],
    [
      [x + 60, y + 60],
      [x + 220, y + 60],
    ],
  );
  await eventually("another zoom", async () => expect(span()).toBeDefined());
  await groupsAre(tab, 0);
  await touch([[x + 60, y + 40]], [[x + 200, y + 100]]);
  await groupsAre(tab, 1);
  expect(tab.errors).toEqual([]);
  await tab.close();
});
