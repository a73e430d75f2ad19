/** The documentation in a browser: the sidebar, the search, diagrams, lists, and what axe finds. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, openTab } from "./browser.ts";

const hasChromium = needs("chromium");
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:"] });
  tab = await openTab(service);
});
afterAll(() => tab?.close());

test.skipIf(!hasChromium)("a page is found by the sidebar and by the search, and shown whole", async () => {
  const { page } = tab;
  await page.goto(`${service.url}/docs`);
  expect(await page.locator("main h1").textContent()).toBe("Gazetteer");
  const search = page.getByRole("searchbox", { name: "Search the documentation" });
  await search.fill("disjoint paths");
  await page.getByRole("search").getByRole("link", { name: "Paths: Disjoint paths" }).waitFor();
  expect(await audit(tab)).toEqual([]);
  await search.press("Enter");
  await page.waitForURL("**/docs/paths#disjoint-paths");

  const sidebar = page.getByRole("navigation", { name: "Pages of the documentation" });
  await sidebar.getByRole("link", { name: "The interface", exact: true }).click();
  expect(await sidebar.locator("[aria-current=page]").textContent()).toBe("The interface");
  const contents = page.locator("main ol").first().locator("> li");
  expect([await contents.count(), await contents.nth(9).textContent()]).toEqual([12, "Errors"]);
  const diagram = page.getByRole("img", { name: /^A device is discovered/ });
  await diagram.scrollIntoViewIfNeeded();
  await page.waitForFunction(
    (image) => image instanceof HTMLImageElement && image.complete && image.naturalWidth > 100,
    await diagram.elementHandle(),
  );
  expect([tab.errors, tab.externalRequests]).toEqual([[], []]);
});

test.skipIf(!hasChromium)(
  "on a phone nothing is wider than the screen, and the list of pages is below the text",
  async () => {
    const phone = await openTab(service, { viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
    await phone.page.goto(`${service.url}/docs/configuration`);
    await phone.page.getByRole("link", { name: "All pages" }).click();
    expect(await phone.page.getByRole("link", { name: "Clusters", exact: true }).isVisible()).toBe(true);
    expect(await phone.page.getByRole("searchbox").count()).toBe(0);
    const width = await phone.page.locator("html").boundingBox();
    expect(width?.width).toBe(390);
    await phone.close();
  },
);
