/**
 * The problems on the page: the list, the number in the title and in the bar, the way to a problem on the map, what is
 * acknowledged, and the past.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { audit } from "./audit.ts";
import { eventually, openTab, waitForUrlPart } from "./browser.ts";
import { changedPixelShare, screenshotMap } from "./map-pixels.ts";
import { MARKUP_NAME } from "./network-file.ts";
import {
  EAST_LOST,
  linksOf,
  listOf,
  openProblemTree,
  type ProblemTree,
  titleIs,
  W2_DOWN,
} from "./problem-tree.ts";

const hasChromium = needs("chromium");
let tree: ProblemTree;

beforeAll(async () => {
  if (hasChromium) tree = await openProblemTree();
});
afterAll(() => tree?.remove());

test.skipIf(!hasChromium)(
  "problems are counted in the title and the bar, listed worst first, and announced",
  async () => {
    const tab = await openTab(tree.service);
    const { page } = tab;
    await tab.goto("/");
    await page.getByRole("button", { name: "Problems 0 not acknowledged" }).click();
    await waitForUrlPart(tab, "problems=1");
    await listOf(tab).getByText("No problems.").waitFor();
    const plainTitle = await page.title();
    // The device has no devices behind it, and cuts off itself with its host.
    await tree.cause({ down: ["w2"] }, [W2_DOWN]);
    await titleIs(tab, "(1) Gazetteer");
    await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
    await titleIs(tab, "(2) Gazetteer");
    await page.getByRole("button", { name: "Problems, the worst: Critical 2 not acknowledged" }).waitFor();
    expect(await linksOf(tab).allTextContents()).toEqual([
      `Device down ${MARKUP_NAME}`,
      "Link lost switch-core/1 – switch-east/1",
    ]);
    const lost = listOf(tab).locator(".problem", { hasText: "Link lost" });
    const [, served] = await tree.servedProblems();
    expect(await lost.locator("time").getAttribute("datetime")).toBe(served?.since ?? "");
    expect(await lost.locator(".cut-off a").count()).toBe(0);
    await lost.getByText("Cuts off 3 devices, 1 host").click();
    await lost.locator(".cut-off a").first().waitFor();
    expect((await lost.locator(".cut-off a").allTextContents()).toSorted()).toEqual([
      "switch-e1",
      "switch-e2",
      "switch-east",
    ]);
    await eventually("an announcement", async () =>
      expect(await page.locator('[data-announces="problems"]').textContent()).toContain("new problem"),
    );
    expect(await audit(tab)).toEqual([]);
    await tab.goto("/?problems=1");
    await tree.cause({}, []);
    await titleIs(tab, plainTitle);
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)("a click or Enter leads to a problem on the map", async () => {
  await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
  const tab = await openTab(tree.service);
  const { page } = tab;
  await tab.goto("/?problems=1");
  await linksOf(tab).nth(1).waitFor();
  const before = await screenshotMap(tab);
  await linksOf(tab).first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await waitForUrlPart(tab, `problem=${EAST_LOST}`);
  expect(page.url()).not.toContain("selected=");
  await page.getByRole("button", { name: "Undo: Link lost: switch-core/1 – switch-east/1" }).waitFor();
  expect(await linksOf(tab).nth(1).getAttribute("aria-current")).toBe("true");
  await eventually("its two devices and what it cuts off to be marked", async () =>
    expect(await changedPixelShare(tab, before, await screenshotMap(tab))).toBeGreaterThan(0.001),
  );
  await linksOf(tab).first().click();
  await waitForUrlPart(tab, `problem=${W2_DOWN}`);
  await waitForUrlPart(tab, "selected=devices:w2");
  await page.locator("aside.panel").getByText(MARKUP_NAME).first().waitFor();
  // The list is still there, and the problem is brought into view again after the map was moved.
  await page.locator(".map-focus").focus();
  for (let n = 0; n < 12; n++) await page.keyboard.press("ArrowLeft");
  await eventually("the camera in the address", async () => expect(page.url()).toContain("camera="));
  const away = page.url();
  await linksOf(tab).first().click();
  await eventually("another camera", async () => expect(page.url()).not.toBe(away));
  await page.locator(".map-focus").press("Escape");
  await eventually("no problem chosen", async () => expect(page.url()).not.toContain("problem="));
  expect(await page.title()).not.toContain("harmed");
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)("a device that the opening panel would cover is brought into view", async () => {
  await tree.cause({ down: ["w2"] }, [W2_DOWN]);
  const tab = await openTab(tree.service);
  // At the right of the map, as wide as it is without the panel.
  await tab.goto("/?problems=1&camera=-350,0,700,w2");
  await linksOf(tab).first().click();
  await waitForUrlPart(tab, "selected=devices:w2");
  await eventually("the device in the centre", async () =>
    expect(new URL(tab.page.url()).searchParams.get("camera")).toMatch(/^0,0,[^,]+,w2$/),
  );
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)(
  "what is acknowledged stays so after a reload, and not when the problem comes back",
  async () => {
    await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
    const tab = await openTab(tree.service);
    const { page } = tab;
    await tab.goto("/?problems=1");
    const acknowledge = listOf(tab).getByRole("button", { name: /^Acknowledged?: Device down/ });
    await acknowledge.focus();
    await page.keyboard.press("Enter");
    await titleIs(tab, "(1) Gazetteer");
    expect(await linksOf(tab).count()).toBe(1);
    // The focus goes to the problem that has taken its place.
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Link lost");
    await tab.goto("/?problems=1");
    await titleIs(tab, "(1) Gazetteer");
    expect(await linksOf(tab).allTextContents()).toEqual(["Link lost switch-core/1 – switch-east/1"]);
    await listOf(tab)
      .getByRole("button", { name: /^With acknowledged/ })
      .click();
    await waitForUrlPart(tab, "acknowledged=1");
    await linksOf(tab).nth(1).waitFor();
    expect(await acknowledge.getAttribute("aria-pressed")).toBe("true");
    await acknowledge.click();
    await titleIs(tab, "(2) Gazetteer");
    await acknowledge.click();
    await titleIs(tab, "(1) Gazetteer");
    await tree.cause({ cut: ["east"] }, [EAST_LOST]);
    await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
    await titleIs(tab, "(2) Gazetteer");
    expect(tab.errors).toEqual([]);
    await tab.close();
  },
);

test.skipIf(!hasChromium)("the list of a past time, while the title counts the problems of now", async () => {
  await tree.cause({ down: ["w2"] }, [W2_DOWN]);
  const response = await tree.service.fetch("/controller/v1/topology");
  await response.text();
  const revision = response.headers.get("gazetteer-revision");
  await tree.cause({}, []);
  const tab = await openTab(tree.service);
  await tab.goto(`/?problems=1&at=${revision}`);
  await listOf(tab).getByText("These were the problems at the time that is shown.").waitFor();
  expect(await linksOf(tab).allTextContents()).toEqual([`Device down ${MARKUP_NAME}`]);
  await tab.page.getByRole("button", { name: "Problems 0 not acknowledged" }).waitFor();
  await linksOf(tab).first().press("Enter");
  await waitForUrlPart(tab, "selected=devices:w2");
  expect(tab.page.url()).toContain(`at=${revision}`);
  await tab.page.getByRole("button", { name: `Undo: As of revision ${revision}` }).click();
  await listOf(tab).getByText("No problems.").waitFor();
  expect(tab.errors).toEqual([]);
  await tab.close();
});
