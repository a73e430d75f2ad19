/**
 * The problems on the page: the list, the number in the title and in the bar, the way to a problem on the map, what is
 * acknowledged, and the past; the list where it is long, old, on a wall or on a phone.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { audit } from "./audit.ts";
import { eventually, openTab, waitForUrlPart } from "./browser.ts";
import { changedPixelShare, screenshotMap } from "./map-pixels.ts";
import { MARKUP_NAME } from "./network-file.ts";
import {
  E1_DOWN,
  EAST_DOWN,
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
      "Cable lost switch-core/1 – switch-east/1",
    ]);
    const lost = listOf(tab).locator(".problem", { hasText: "Cable lost" });
    const [, served] = await tree.servedProblems();
    expect(await lost.locator("time").getAttribute("datetime")).toBe(served?.since ?? "");
    expect(await lost.locator(".effects a").count()).toBe(0);
    await lost.getByText("Cuts off 3 devices, 1 host").click();
    await lost.locator(".effects a").first().waitFor();
    expect((await lost.locator(".effects a").allTextContents()).toSorted()).toEqual([
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

test.skipIf(!hasChromium)(
  "a cause is listed with what follows folded below it, and what it cuts off has a state in every view",
  async () => {
    await tree.cause({ down: ["east", "e1"] }, [EAST_DOWN, E1_DOWN]);
    const tab = await openTab(tree.service);
    const { page } = tab;
    await tab.goto("/?problems=1");
    await page.getByText("7 devices (2 down, 1 cut off)").waitFor();
    expect(await linksOf(tab).allTextContents()).toEqual(["Device down switch-east"]);
    const cause = listOf(tab).locator(".problem").first();
    expect(await cause.locator(".problem-body > *").count()).toBe(3);
    expect(await cause.innerText()).not.toContain("unavailable");
    await cause.getByText("Cuts off 3 devices, 1 host; 1 problem follows").click();
    await cause.locator(".effects .problem-link").first().waitFor();
    expect(await cause.locator(".effects .problem-link").allTextContents()).toEqual([
      "Device down switch-e1",
    ]);
    await linksOf(tab).first().click();
    await waitForUrlPart(tab, "selected=devices:east");
    // The cause and its two leaves, which are below it, are in the middle, so the camera is at none of them alone.
    await eventually("the camera between the cause and its leaves", async () => {
      const [dx, dy, , device = ""] = (new URL(page.url()).searchParams.get("camera") ?? "").split(",");
      expect(["east", "e1", "e2"]).toContain(device);
      expect(Math.abs(Number(dx)) + Math.abs(Number(dy))).toBeGreaterThan(10);
    });
    await listOf(tab).getByRole("link", { name: "switch-e2" }).click();
    await page.locator("aside.panel .state", { hasText: "Cut off" }).waitFor();
    await page.getByRole("link", { name: "by Device down: switch-east" }).click();
    await waitForUrlPart(tab, "selected=devices:east");
    await tab.goto("/?view=devices");
    const row = page.locator('.grid [role="row"]', { hasText: "switch-e2" });
    await row.locator(".cell.cut-off", { hasText: /^cut off$/ }).waitFor();
    await tab.goto("/?wall=1");
    await linksOf(tab).first().waitFor();
    expect(await listOf(tab).locator("button, summary, input").count()).toBe(0);
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
  await page.getByRole("button", { name: "Undo: Cable lost: switch-core/1 – switch-east/1" }).waitFor();
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
  await eventually("the moved camera in the address", async () =>
    expect(page.url()).toMatch(/camera=(?!0,0,)/),
  );
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
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Cable lost");
    await tab.goto("/?problems=1");
    await titleIs(tab, "(1) Gazetteer");
    expect(await linksOf(tab).allTextContents()).toEqual(["Cable lost switch-core/1 – switch-east/1"]);
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
  await tab.page.getByRole("button", { name: /^Undo: As of / }).click();
  await listOf(tab).getByText("No problems.").waitFor();
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)("many problems of one kind are bounded, and severities are filtered", async () => {
  // Beside a table, because the browser draws a map of 500 devices slowly without a graphics card.
  tree.write({ cut: ["east"], extra: 500, down: ["w2"] });
  await eventually("the problems", async () => expect(await tree.servedProblems()).toHaveLength(502));
  const tab = await openTab(tree.service);
  await tab.goto("/?view=devices&problems=1");
  await titleIs(tab, "(502) Gazetteer");
  const more = listOf(tab).getByRole("button", { name: "Device down: and 495 more" });
  await more.waitFor();
  expect(await linksOf(tab).count()).toBe(7);
  await more.click();
  await listOf(tab).getByRole("button", { name: "Device down: and 445 more" }).waitFor();
  expect(await linksOf(tab).count()).toBe(57);
  await listOf(tab)
    .getByRole("button", { name: /^Major/ })
    .click();
  await waitForUrlPart(tab, "severity=major");
  await listOf(tab).getByText("None of 502 problems is to be shown").waitFor();
  tree.write({ invalid: true });
  await listOf(tab).getByText("Source failed").waitFor();
  expect(await linksOf(tab).count()).toBe(1);
  await linksOf(tab).first().click();
  await waitForUrlPart(tab, "source=racks");
  await tab.goto("/?view=devices&problems=1");
  await listOf(tab).getByRole("button", { name: "Acknowledge all 502" }).click();
  await titleIs(tab, "(1) Gazetteer");
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)("without the service the list is marked as old; a hidden page polls", async () => {
  await tree.cause({ cut: ["east"] }, [EAST_LOST]);
  await using proxy = await startTcpProxy(Number(new URL(tree.service.url).port));
  const tab = await openTab({ url: `http://127.0.0.1:${proxy.port}`, credentials: tree.service.credentials });
  const { page } = tab;
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("topology/problems")) requests.push(request.headers().accept ?? "");
  });
  await tab.goto("/?view=devices&problems=1");
  await linksOf(tab).first().waitFor();
  expect(requests).toEqual(["text/event-stream"]);
  proxy.cut();
  await listOf(tab).getByText("This list is old").waitFor();
  expect(await linksOf(tab).count()).toBe(1);
  await titleIs(tab, "(1) Gazetteer – not current");
  const status = page.getByRole("button", { name: "State of the connection" });
  await status.click();
  await page.getByText(/^No connection since \d\d:\d\d:\d\d \(.+\)\.$/).waitFor();
  proxy.open();
  await titleIs(tab, "(1) Gazetteer");
  await page.getByText("Stream connected.").waitFor();
  expect(await page.getByText("No connection since").count()).toBe(0);
  await page.keyboard.press("Escape");
  expect(await listOf(tab).locator(".old-list").count()).toBe(0);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await eventually("a poll", async () => expect(requests.at(-1)).toBe("*/*"));
  await tree.cause({}, []);
  await listOf(tab).getByText("No problems.").waitFor();
  await tab.close();
});

test.skipIf(!hasChromium)("wall mode: map, problems, clock and state, in full screen", async () => {
  await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
  const tab = await openTab(tree.service);
  const { page } = tab;
  await tab.goto("/?problems=1");
  const isFull = () => page.evaluate(() => document.fullscreenElement !== null);
  await listOf(tab).getByRole("button", { name: "Wall mode" }).click();
  await waitForUrlPart(tab, "wall=1");
  await eventually("full screen", async () => expect(await isFull()).toBe(true));
  await page.locator(".wall-bar").getByText("Live").waitFor();
  await linksOf(tab).nth(1).waitFor();
  expect(await page.locator("header.bar, .timeline, aside.panel").count()).toBe(0);
  expect(await page.locator(".wall-counts li").first().textContent()).toBe("Critical 2");
  const clock = page.locator(".wall-clock");
  const shown = await clock.getAttribute("datetime");
  await eventually("the clock to go on", async () =>
    expect(await clock.getAttribute("datetime")).not.toBe(shown),
  );
  const size = await linksOf(tab)
    .first()
    .evaluate((link) => Number.parseFloat(getComputedStyle(link).fontSize));
  expect(size).toBeGreaterThanOrEqual(18);
  expect(await audit(tab)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.locator("header.bar").waitFor();
  expect(page.url()).not.toContain("wall=1");
  await eventually("no full screen", async () => expect(await isFull()).toBe(false));
  // The address alone opens it, without full screen, for which a click is needed.
  await tab.goto("/?wall=1");
  await page.getByRole("button", { name: "Full screen" }).click();
  await eventually("full screen", async () => expect(await isFull()).toBe(true));
  await page.evaluate(() => document.exitFullscreen());
  await page.locator("header.bar").waitFor();
  expect(tab.errors).toEqual([]);
  await tab.close();
});

test.skipIf(!hasChromium)("the list on a phone and in the light theme", async () => {
  await tree.cause({ down: ["w2"], cut: ["east"] }, [W2_DOWN, EAST_LOST]);
  const tab = await openTab(tree.service, { viewport: { width: 380, height: 780 }, colorScheme: "light" });
  await tab.goto("/?problems=1&acknowledged=1");
  await listOf(tab)
    .getByRole("button", { name: /^Acknowledge: Cable lost/ })
    .click();
  await linksOf(tab).first().click();
  await tab.page.locator("aside.panel").getByText(MARKUP_NAME).first().waitFor();
  const map = await tab.page.locator("main").boundingBox();
  expect(map?.height).toBeGreaterThan(80);
  expect(await tab.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  expect(await audit(tab)).toEqual([]);
  await tab.goto("/?wall=1");
  await linksOf(tab).first().waitFor();
  expect(await audit(tab)).toEqual([]);
  expect(tab.errors).toEqual([]);
  await tab.close();
});
