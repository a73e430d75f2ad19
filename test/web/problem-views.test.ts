/** The list of problems where it is long, old, on a wall or on a phone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { audit } from "./audit.ts";
import { eventually, openTab, waitForUrlPart } from "./browser.ts";
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
    .getByRole("button", { name: /^Acknowledge: Link lost/ })
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
