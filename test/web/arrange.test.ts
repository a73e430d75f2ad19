/**
 * What a user arranges on the map: pins, with drags and with keys; group boxes around devices, and their exports; and views
 * with the arrangement, saved in the browser, in links and in the configuration.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { runCommand } from "../support/command.ts";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import {
  arrange,
  box,
  centreOf,
  chip,
  clipboard,
  createArrangedNetwork,
  keptPins,
  openViews,
  pin,
  viewsBox,
} from "./arranging.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { download } from "./download.ts";
import { deviceId, MARKUP_NAME } from "./network-file.ts";

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

/** Drags from a place relative to the centre of the map. */
async function drag(tab: BrowserTab, dx: number, dy: number, from = { x: 0, y: 0 }): Promise<void> {
  const centre = await centreOf(tab);
  const [x, y] = [centre.x + from.x, centre.y + from.y];
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

test.skipIf(!hasChromium)(
  "several devices are chosen with a rectangle, with Shift and a click, or with keys, and move together",
  async () => {
    const leaf = deviceId(12);
    const tab = await openTab(service);
    const { keyboard, mouse } = tab.page;
    await tab.goto(centred(leaf));
    await waitForUrlPart(tab, "camera=");
    await arrange(tab);
    const { x, y } = await centreOf(tab);
    // All devices are near the centre then.
    for (let i = 0; i < 3; i++) await tab.page.locator(".map-focus").press("-");
    await keyboard.down("Shift");
    await drag(tab, 400, 400, { x: -200, y: -200 });
    await box(tab).getByText("0 devices pinned. 6 chosen.").waitFor();
    // The rectangle moves neither the map nor a device; a device that is clicked with Shift is taken out.
    await mouse.click(x, y);
    await box(tab).getByText("5 chosen.").waitFor();
    await mouse.click(x, y);
    await box(tab).getByText("6 chosen.").waitFor();
    await keyboard.up("Shift");
    await drag(tab, 30, -90);
    await box(tab).getByText("6 devices pinned. 6 chosen.").waitFor();
    await eventually("the pins", async () => expect(await keptPins(tab)).toHaveLength(6));
    const pins = await keptPins(tab);
    await box(tab).getByRole("button", { name: "Choose none" }).click();

    // One drag is one step of undo, and the same is done with keys: the selected device, then all of its site.
    await box(tab).getByRole("button", { name: "Undo" }).click();
    await box(tab).getByText("0 devices pinned.").waitFor();
    await selectAt(tab, 0, 0, "leaf2");
    const map = tab.page.locator(".map-focus");
    await map.focus();
    await map.press(" ");
    await box(tab).getByText("0 devices pinned. 1 chosen.").waitFor();
    await map.press("s");
    await box(tab).getByText("6 chosen.").waitFor();
    await map.press("ArrowRight");
    await eventually("pins of all", async () => expect(await keptPins(tab)).toHaveLength(6));
    const byKeys = await keptPins(tab);
    const offsets = pins.map(({ device, x, y }) => {
      const other = byKeys.find((pin) => pin.device === device);
      return other && [Math.round(other.x - x), Math.round(other.y - y)];
    });
    // All have moved by the same distance, whichever way.
    expect(new Set(offsets.map(String)).size).toBe(1);
    await map.press("p");
    await box(tab).getByText("0 devices pinned. 6 chosen.").waitFor();
    await map.press("Escape");
    await box(tab).getByText("0 devices pinned.", { exact: true }).waitFor();
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)("group boxes are drawn below the devices, and axe finds nothing", async () => {
  const tab = await openTab(service);
  const groups = (count: number) => tab.page.locator(`.map[data-groups="${count}"]`).waitFor();
  await pin(tab, deviceId(12));
  await box(tab).getByRole("heading", { name: "Group boxes" }).click();
  await box(tab).getByLabel("New boxes").selectOption({ label: "one for each rack" });
  await box(tab).getByRole("button", { name: "Add boxes" }).click();
  await groups(2);
  await box(tab).getByLabel("New boxes").selectOption({ label: "one around the 1 pinned device" });
  await box(tab).getByLabel("Title").fill("By hand");
  await box(tab).getByRole("button", { name: "Add boxes" }).click();
  await groups(3);
  await box(tab).getByRole("button", { name: "Delete the box rack" }).click();
  await groups(1);
  await box(tab).getByText("By hand 1 device").waitFor();

  expect(await audit(tab)).toEqual([]);
  const svg = String(await download(tab, "Download SVG"));
  expect(svg).toContain(">By hand</text>");
  expect(svg).toContain("6 devices");
  await openViews(tab);
  await viewsBox(tab).getByRole("button", { name: "Show text for the configuration file" }).click();
  expect(await viewsBox(tab).getByLabel("Section for").inputValue()).toContain('name: "By hand"');
  expect(await audit(tab)).toEqual([]);
  expect(tab.errors).toEqual([]);
  expect(tab.externalRequests).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)(
  "views are saved, opened, renamed and deleted, and those of the configuration are read only",
  async () => {
    const tab = await openTab(service);
    await pin(tab, deviceId(12));
    await openViews(tab);
    await viewsBox(tab).getByLabel("Name of the view").fill("Night shift");
    await viewsBox(tab).getByRole("button", { name: "Save" }).click();
    await chip(tab, "View: Night shift").waitFor();
    await waitForUrlPart(tab, "saved=Night+shift");
    await chip(tab, "View: Night shift").getByRole("button", { name: "Close the view" }).click();

    // That of the configuration has another arrangement, and the user's own stays.
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Wall", exact: true }).click();
    await chip(tab, "View: Wall, from the configuration").waitFor();
    await waitForUrlPart(tab, "type=SWITCH");
    expect((await keptPins(tab)).map(({ device }) => device)).toEqual([deviceId(12)]);
    await box(tab).getByRole("button", { name: "Unpin all" }).click();
    await chip(tab, "View: Wall, from the configuration, changed").waitFor();
    expect((await keptPins(tab)).map(({ device }) => device)).toEqual([deviceId(12)]);
    await openViews(tab);
    expect(await viewsBox(tab).getByRole("button", { name: /Wall/ }).count()).toBe(1);

    await viewsBox(tab).getByRole("button", { name: "Rename Night shift" }).click();
    await viewsBox(tab).getByLabel("New name of Night shift").fill("Day");
    await viewsBox(tab).getByRole("button", { name: "Rename", exact: true }).click();
    await viewsBox(tab).getByRole("button", { name: "Day", exact: true }).click();
    await chip(tab, "View: Day").waitFor();
    // After a reload the view is open again.
    await tab.page.reload();
    await chip(tab, "View: Day").waitFor();
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Delete Day" }).click();
    await viewsBox(tab).getByText("None yet.").waitFor();
    expect(await chip(tab, "View: Day").count()).toBe(0);
    await tab.goto("/?saved=Day");
    await tab.page.getByText("There is no view Day in this browser or in the configuration.").waitFor();
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)(
  "a link shows a view in another browser, and keeps nothing there until it is saved",
  async () => {
    const tab = await openTab(service);
    await pin(tab, deviceId(12));
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Copy link with arrangement" }).click();
    await tab.page.getByText("Copied the link").waitFor();
    const link = await clipboard(tab);
    expect(link).toStartWith(`${service.url}/#view=`);
    await tab.close();

    const other = await openTab(service);
    await pin(other, deviceId(13));
    await eventually("the own pin", async () => expect(await keptPins(other)).toHaveLength(1));
    const own = await keptPins(other);
    await other.goto(link.slice(service.url.length));
    await chip(other, "View: My view, from a link").waitFor();
    await waitForUrlPart(other, `selected=devices:${deviceId(12)}`);
    await other.page.locator("aside.panel").getByRole("button", { name: "Pinned" }).waitFor();
    expect(await keptPins(other)).toEqual(own);
    await other.page.reload();
    await chip(other, "View: My view, from a link").waitFor();
    await openViews(other);
    await viewsBox(other).getByRole("button", { name: "Save" }).click();
    await waitForUrlPart(other, "saved=My+view");
    expect(other.page.url()).not.toContain("#");
    expect(await keptPins(other)).toEqual(own);
    expect(other.errors).toEqual([]);
    await other.close();
  },
);

const fragmentOf = (text: string): string => `#view=${deflateRawSync(text).toString("base64url")}`;
const fragmentOfView = (view: object): string =>
  fragmentOf(JSON.stringify({ name: "x", state: "", ...view }));

test.skipIf(!hasChromium)("a damaged or hostile link gives a notice and no view", async () => {
  const tab = await openTab(service);
  await tab.page.clock.install();
  await tab.goto("/?view=devices");
  for (const [fragment, reason] of [
    ["#view=%%%", "it is damaged"],
    ["#view=AAAA", "it is damaged"],
    [fragmentOf("not JSON"), "it is damaged"],
    [fragmentOf(`"${"x".repeat(4_000_000)}"`), "it is damaged"],
    [`#view=${"A".repeat(40_000)}`, "it has more than 32 kB"],
    [fragmentOfView({ name: "a\u202eb" }), "name must be a name of at most 100 characters in one line"],
    [fragmentOfView({ state: "javascript:<b>" }), "state must be the query string"],
    [
      fragmentOfView({ arrangement: { pins: [{ device: "a", x: 1e9, y: 0 }] } }),
      "arrangement.pins[0].x must be",
    ],
    [fragmentOfView({ script: "x" }), "script unknown key"],
  ] as const) {
    // The same document: a link that is pasted into the address.
    await tab.page.evaluate((hash) => {
      location.hash = hash;
    }, fragment);
    await tab.page.locator(".notice", { hasText: reason }).first().waitFor();
    expect(await tab.page.locator(".chip:not(.fault-note)").count()).toBe(0);
    expect(tab.page.url()).not.toContain("#");
    // Until the notice is gone.
    await tab.page.clock.fastForward(60_000);
    await tab.page.locator(".notice").first().waitFor({ state: "detached" });
  }
  // Also when the page is opened with it. A notice is there for some seconds only, and the map may need longer.
  await tab.page.goto(`${service.url}/?view=hosts${fragmentOfView({ script: "x" })}`, {
    waitUntil: "commit",
  });
  await tab.page.locator(".notice", { hasText: "script unknown key" }).waitFor();
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)(
  "more pins than fit into a link give a message, and the printed section is a configuration",
  async () => {
    const tab = await openTab(service);
    await tab.goto("/?view=devices");
    const pins = Array.from({ length: 6000 }, (_, i) => ({
      device: `device ${Math.sin(i)}`,
      x: Math.round(Math.cos(i) * 1e5) / 10,
      y: i,
    }));
    const groups = [{ name: `${MARKUP_NAME} # "${"$"}{HOME}`, devices: [deviceId(11)] }];
    await tab.page.evaluate(
      (text) => localStorage.setItem("gazetteer.arrangement", text),
      JSON.stringify({ pins, groups }),
    );
    await tab.goto("/?view=devices&filter=name%3D%22a+b%22&type=SWITCH");
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Copy link with arrangement" }).click();
    await tab.page.getByText(/The link would have \d+ kB, and at most 32 kB are possible/).waitFor();
    await viewsBox(tab).getByLabel("Name of the view").fill(`Racks: "A" & ${MARKUP_NAME}`.slice(0, 100));
    await viewsBox(tab).getByRole("button", { name: "Save" }).click();
    await chip(tab, "View: Racks").waitFor();
    await viewsBox(tab).getByRole("button", { name: "Show text for the configuration file" }).click();
    const section = await viewsBox(tab).getByLabel("Section for the configuration file").inputValue();
    const config = join(file.folder, "printed.yaml");
    writeFileSync(config, `data: ":memory:"\n${section}`);
    const { status, stderr } = await runCommand(["check", "--config", config]);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const kept = await tab.page.evaluate(() => localStorage.getItem("gazetteer.views"));
    expect(Bun.YAML.parse(section)).toEqual({ views: JSON.parse(kept ?? "[]") });
    expect(Bun.YAML.parse(section)).toMatchObject({ views: [{ arrangement: { pins, groups } }] });
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);
