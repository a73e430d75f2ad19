/** The page on a phone: fingers move and zoom the map, nothing is outside the screen, the panel is a sheet. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, openTab, waitForUrlPart } from "./browser.ts";
import { countHiddenPixels } from "./map-pixels.ts";
import { createNetworkFile, deviceId } from "./network-file.ts";
import { createTouch, PHONE, type Touch } from "./touch.ts";

const hasChromium = needs("chromium");
const { width: WIDTH, height: HEIGHT } = PHONE.viewport;
const file = createNetworkFile();
let service: Service;
let tab: BrowserTab;
let touch: Touch;

beforeAll(async () => {
  if (!hasChromium) return;
  file.write();
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service, PHONE);
  touch = await createTouch(tab);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

const camera = () => {
  const [dx, dy, span, device] = (new URL(tab.page.url()).searchParams.get("camera") ?? "").split(",");
  return { dx: Number(dx), dy: Number(dy), span: Number(span), device };
};

/** Parts of the page that reach beyond the screen. */
const outside = () =>
  tab.page.evaluate(() =>
    [...document.querySelectorAll(".bar *, .popover, .map-tools, .map-summary, .chips, .panel, .timeline *")]
      .filter((element) => element.checkVisibility() && !element.closest("svg"))
      .filter((element) => {
        const { left, right, bottom, width } = element.getBoundingClientRect();
        return width > 1 && (left < -1 || right > innerWidth + 1 || bottom > innerHeight + 1);
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );

test.skipIf(!hasChromium)("one finger moves the map, two fingers zoom it, a tap selects", async () => {
  const start = `/?camera=0,0,400,${deviceId(12)}`;
  await tab.goto(start);
  const box = await tab.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await touch([[x, y + 60]], [[x + 50, y + 60]]);
  await until(() => camera().dx !== 0 || camera().device !== deviceId(12), { what: "the map to be moved" });
  expect(camera().span).toBeCloseTo(400, 0);
  await touch(
    [
      [x - 40, y],
      [x + 40, y],
    ],
    [
      [x - 120, y],
      [x + 120, y],
    ],
  );
  await until(() => camera().span < 200, { what: "the map to be zoomed in" });
  expect(new URL(tab.page.url()).searchParams.get("selected")).toBeNull();
  await tab.goto(start);
  await tab.page.touchscreen.tap(x, y);
  await waitForUrlPart(tab, `selected=devices:${deviceId(12)}`);
  expect(await tab.page.locator(".hover-card").count()).toBe(0);
});

/** More devices than have room beside each other. */
const MANY_LEAVES = { addedLeaves: [15, 16, 17, 18, 19, 20, 21, 22] };

test.skipIf(!hasChromium)(
  "show all hides no device below the tools, notes and boxes over the map",
  async () => {
    const covers = "[data-covers-map]";
    file.write(MANY_LEAVES);
    await tab.goto("/?type=SWITCH");
    await tab.page.getByText("14 devices").waitFor();
    await tab.page.locator('.map[data-items="38"]').waitFor();
    const showAll = tab.page.getByRole("button", { name: "Show all" });
    await showAll.click();
    expect(await countHiddenPixels(tab, covers)).toBe(0);
    await tab.page.getByRole("button", { name: "Arrange", exact: true }).click();
    for (let i = 0; i < 4; i++) await tab.page.locator(".map-focus").press("ArrowUp");
    expect(await countHiddenPixels(tab, covers)).toBeGreaterThan(0);
    await showAll.click();
    expect(await countHiddenPixels(tab, covers)).toBe(0);
    await tab.page.getByRole("button", { name: "Stop arranging" }).click();
    file.write();
  },
);

test.skipIf(!hasChromium)("no part of any view, box or menu is outside the screen", async () => {
  for (const path of [
    "/",
    `/?selected=devices:${deviceId(1)}&changes=1`,
    "/?view=devices",
    "/?layer=drift",
    `/?at=${new Date().toISOString()}`,
  ]) {
    await tab.goto(path);
    expect(await outside()).toEqual([]);
    expect(await tab.page.evaluate(() => document.documentElement.scrollWidth)).toBe(WIDTH);
  }
  await tab.goto("/");
  for (const name of ["Path", "Filter", "Views", "Export and share", "Legend"]) {
    const button = tab.page.getByRole("button", { name, exact: true });
    await button.click();
    await tab.page.getByRole("group", { name }).waitFor();
    expect(await outside()).toEqual([]);
    await button.click();
  }
});

test.skipIf(!hasChromium)(
  "tools and the summary do not overlap, and fingers can hit every button",
  async () => {
    await tab.goto(`/?selected=devices:${deviceId(1)}`);
    const boxOf = async (selector: string) => {
      const box = await tab.page.locator(selector).boundingBox();
      if (!box) throw new Error(`${selector} is not shown`);
      return box;
    };
    const [tools, summary, map] = [
      await boxOf(".map-tools"),
      await boxOf(".map-summary"),
      await boxOf(".map"),
    ];
    expect(summary.x + summary.width).toBeLessThanOrEqual(tools.x);
    expect(tools.y).toBeGreaterThanOrEqual(map.y);
    const sizes = await tab.page.evaluate(() =>
      [...document.querySelectorAll(".bar button, .map-tools button, .panel-head button")]
        .filter((element) => element.checkVisibility())
        .map((element) => element.getBoundingClientRect().height),
    );
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(32);
  },
);

test.skipIf(!hasChromium)("the panel is a sheet below the map that can be made larger", async () => {
  await tab.goto(`/?selected=devices:${deviceId(1)}`);
  const panel = tab.page.locator("aside.panel");
  await panel.locator("table.ports").first().waitFor();
  const height = async () => (await panel.boundingBox())?.height ?? 0;
  const before = await height();
  expect((await panel.boundingBox())?.width).toBe(WIDTH);
  expect(before).toBeLessThan(HEIGHT / 2);
  const grip = tab.page.getByRole("button", { name: "Larger details" });
  await grip.tap();
  await until(async () => (await height()) > before + 50, { what: "a larger sheet" });
  expect(await grip.getAttribute("aria-expanded")).toBe("true");
  await tab.page.getByRole("button", { name: "Close details" }).tap();
  await panel.waitFor({ state: "hidden" });
});

test.skipIf(!hasChromium)("axe-core finds nothing on a phone, dark or light", async () => {
  for (const colorScheme of ["dark", "light"] as const) {
    await tab.page.emulateMedia({ colorScheme });
    await tab.goto(`/?selected=devices:${deviceId(1)}`);
    expect(await audit(tab)).toEqual([]);
  }
  expect(tab.errors).toEqual([]);
});
