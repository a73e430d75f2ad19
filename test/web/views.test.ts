/** The tables and the exports, and the accessibility of each view in both colour schemes, on small screens and without a network. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";

const hasChromium = needs("chromium");
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--demo=devices=50,hosts=300,churn=0"] });
  tab = await openTab(service);
});
afterAll(() => tab?.close());

const rows = () => tab.page.locator('.grid [role="row"][aria-selected]');
const cell = (row: number, column: number) => rows().nth(row).getByRole("gridcell").nth(column);

test.skipIf(!hasChromium)(
  "a table filter has the syntax of the query parameters, and an invalid one shows the error of the service",
  async () => {
    await tab.goto("/?view=devices");
    await tab.page.getByText("50 rows").waitFor();
    const filter = tab.page.getByRole("searchbox", { name: "Filter" });
    await filter.fill("type=ROUTER");
    await filter.press("Enter");
    await tab.page.getByText("8 rows").waitFor();
    await waitForUrlPart(tab, "filter=type%3DROUTER");
    await filter.fill("typ=ROUTER");
    await filter.press("Enter");
    const error = tab.page.locator(".fault");
    await error.waitFor();
    const { detail } = await (await service.fetch("/controller/v1/devices?typ=ROUTER&limit=200")).json();
    expect(await error.textContent()).toBe(detail);
    await filter.fill("no-such-name");
    await filter.press("Enter");
    await tab.page.getByText("No rows match.").waitFor();
  },
);

test.skipIf(!hasChromium)(
  "a click on a column heading sorts the table, and the address contains the order",
  async () => {
    await tab.goto("/?view=devices");
    const heading = tab.page.getByRole("columnheader", { name: /^Id/ }).getByRole("button");
    await heading.click();
    await until(() => tab.page.url().includes("sort=id"), { what: "the sort order in the address" });
    const [first, last] = [await firstDevice("id"), await firstDevice("-id")];
    expect(first).not.toBe(last);
    await cell(0, 1).getByText(first, { exact: true }).waitFor();
    await heading.click();
    await cell(0, 1).getByText(last, { exact: true }).waitFor();
    await waitForUrlPart(tab, "sort=-id");
    await tab.goto(new URL(tab.page.url()).pathname + new URL(tab.page.url()).search);
    await cell(0, 1).getByText(last, { exact: true }).waitFor();
  },
);

async function firstDevice(sort: string): Promise<string> {
  const { devices } = await (await service.fetch(`/controller/v1/devices?sort=${sort}&limit=1`)).json();
  return devices[0].id;
}

test.skipIf(!hasChromium)("rows can be selected with the keyboard", async () => {
  await tab.goto("/?view=hosts");
  await rows().first().focus();
  await tab.page.keyboard.press("End");
  await tab.page.keyboard.press("Enter");
  await tab.page.locator("aside.panel").getByText("MAC", { exact: true }).waitFor();
  await waitForUrlPart(tab, "selected=hosts:");
});

test.skipIf(!hasChromium)("a search lists the 20 best, and the keys reach the last of them", async () => {
  await tab.goto("/");
  await tab.page.keyboard.press("/");
  await tab.page.keyboard.type("10.");
  const hits = tab.page.locator(".search-hits .search-hit");
  await eventually("20 hits", async () => expect(await hits.count()).toBe(20));
  const isInView = (index: number) =>
    hits.nth(index).evaluate((hit) => {
      const [box, list] = [hit.getBoundingClientRect(), hit.parentElement?.getBoundingClientRect()];
      return list !== undefined && box.top >= list.top && box.bottom <= list.bottom;
    });
  expect(await isInView(19)).toBe(false);
  // After the hits come the entries for the tables of all results.
  const tables = await tab.page.locator(".search-hits .search-all").count();
  expect(tables).toBeGreaterThan(0);
  for (let i = 0; i <= tables; i++) await tab.page.keyboard.press("ArrowUp");
  await eventually("the last hit in view", async () => expect(await isInView(19)).toBe(true));
  for (let i = 0; i <= tables; i++) await tab.page.keyboard.press("ArrowDown");
  await eventually("the first hit in view", async () => expect(await isInView(0)).toBe(true));
});

test.skipIf(!hasChromium)("a view can be exported as curl, CSV, PNG and SVG", async () => {
  const openMenu = () => tab.page.getByRole("button", { name: "Export and share" }).click();
  await tab.goto("/?view=hosts&filter=ip=10.0.0.0/8");
  await openMenu();
  await tab.page.getByRole("button", { name: "Copy as curl" }).click();
  const clipboard = () => tab.page.evaluate(() => navigator.clipboard.readText());
  await eventually("the request in the clipboard", async () =>
    expect(await clipboard()).toBe(`curl --user USERNAME '${service.url}/controller/v1/hosts?ip=10.0.0.0/8'`),
  );
  const download = async (name: string) => {
    await openMenu();
    const [file] = await Promise.all([
      tab.page.waitForEvent("download"),
      tab.page.getByRole("button", { name }).click(),
    ]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const csv = await download("Download CSV");
  expect(csv.name).toEndWith(".csv");
  expect(csv.bytes.toString()).toContain("mac");
  await tab.goto("/");
  const readPng = async (colours: string, size: string) => {
    await openMenu();
    await tab.page.getByLabel("Colours of the PNG").selectOption(colours);
    await tab.page.getByLabel("Size of the PNG").selectOption(size);
    const [file] = await Promise.all([
      tab.page.waitForEvent("download"),
      tab.page.getByRole("button", { name: "Download PNG" }).click(),
    ]);
    const bytes = readFileSync(await file.path());
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    return { bytes, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  };
  const map = await tab.page.locator(".map").boundingBox();
  const [light, dark] = [await readPng("light", "1"), await readPng("dark", "2")];
  // The head and the legend are above and below the map.
  expect(light.width).toBe(Math.round(map?.width ?? 0));
  expect(light.height).toBeGreaterThan((map?.height ?? 0) + 100);
  expect([dark.width, dark.height]).toEqual([light.width * 2, light.height * 2]);
  expect((await download("Download SVG")).bytes.toString()).toContain("<svg");
  await openMenu();
  await tab.page.getByRole("button", { name: "Copy as curl" }).click();
  await eventually("the other request in the clipboard", async () =>
    expect(await clipboard()).toContain("/controller/v1/topology"),
  );
});

test.skipIf(!hasChromium)(
  "the map is printed on one page with its head and legend, a table with all rows",
  async () => {
    const { page } = tab;
    await tab.goto("/");
    await eventually("the map", async () =>
      expect(await page.locator(".stage").getAttribute("data-drawn")).not.toBeNull(),
    );
    const pages = async () =>
      String(await page.pdf({ preferCSSPageSize: true })).match(/\/Type\s*\/Page\b/g)?.length;
    expect(await pages()).toBe(1);
    const onPaper = async <Value>(read: () => Promise<Value>) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const value = await read();
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await page.emulateMedia({ media: null });
      return value;
    };
    const text = await onPaper(() => page.locator("body").innerText());
    for (const part of ["Network of 127.0.0.1", "50 devices", "Cable down", String(new Date().getFullYear())])
      expect(text).toContain(part);
    expect(text).not.toContain("Export");
    await tab.goto("/?view=devices");
    const rows = page.locator('.sheet [role="row"]');
    await rows.first().waitFor();
    const onScreen = await rows.count();
    expect(onScreen).toBeLessThan(50);
    expect(await onPaper(() => rows.count())).toBe(50);
    await eventually("the rows in view", async () => expect(await rows.count()).toBe(onScreen));
    await tab.goto("/?at=1");
    await page.getByText(/^As of \d/).waitFor();
    expect(await onPaper(() => page.locator(".paper-head").innerText())).toMatch(/ 20\d\d, \d\d:/);
  },
);

test.skipIf(!hasChromium)("keys move the map, and the back button restores the previous view", async () => {
  await tab.goto("/");
  const map = tab.page.locator(".map-focus");
  await map.focus();
  await map.press("+");
  await map.press("ArrowRight");
  await until(() => tab.page.url().includes("camera="), { what: "the camera in the address" });
  await tab.page.getByRole("link", { name: "Cables" }).click();
  await rows().first().waitFor();
  await tab.page.goBack();
  await map.waitFor();
  await waitForUrlPart(tab, "camera=");
});

const FIRST_ROW = '.grid [role="row"][aria-rowindex="2"]';
/** Name, address, and what is there when the view is shown. */
const VIEWS = [
  ["the map", "/", ".stage:not([hidden])"],
  ["a device", "/?selected=devices:of:0000000000000005", ".panel table.ports"],
  ["the conflict layer", "/?layer=conflicts", ".panel .panel-head"],
  ["changes and a filter", "/?changes=1&state=inactive", ".panel .panel-head"],
  ["devices", "/?view=devices", FIRST_ROW],
  ["links", "/?view=links&selected=hosts:x", FIRST_ROW],
  ["hosts with an invalid filter", "/?view=hosts&filter=vlon=1", ".fault:not([hidden])"],
] as const;

/** Goes to another address of the page as Back and Forward do, without loading the page again. */
const showPath = ({ page }: BrowserTab, path: string): Promise<void> =>
  page.evaluate((address) => {
    history.pushState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);

test.skipIf(!hasChromium)(
  "axe-core finds no serious violation on any view, dark or light, wide or narrow",
  async () => {
    const violations: string[] = [];
    const tab = await openTab(service);
    const { page } = tab;
    await tab.goto("/");
    const collect = async (name: string) => {
      for (const violation of await audit(tab)) violations.push(`${name}: ${violation}`);
    };
    for (const [colorScheme, width] of [
      ["dark", 1280],
      ["light", 400],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const [name, path, content] of VIEWS) {
        await showPath(tab, path);
        await page.locator(content).first().waitFor();
        const loading = page.locator(".panel .muted", { hasText: "Loading" });
        await until(async () => (await loading.count()) === 0, { what: "the panel to be complete" });
        await collect(`${name}, ${colorScheme}`);
      }
      await showPath(tab, "/");
      for (const button of ["Filter", "Legend", "Export and share"]) {
        await page.getByRole("button", { name: button }).click();
        await collect(`${button} open, ${colorScheme}`);
        await page.keyboard.press("Escape");
      }
    }
    expect(tab.errors).toEqual([]);
    await tab.close();
    expect(violations).toEqual([]);
  },
);

test.skipIf(!hasChromium)("on a small screen all parts of the page are inside the viewport", async () => {
  const otherTab = await openTab(service, { viewport: { width: 390, height: 780 }, hasTouch: true });
  await otherTab.goto("/?selected=devices:of:0000000000000005");
  for (const part of [".search-input", ".tabs", ".map", "aside.panel", ".timeline"]) {
    const box = await otherTab.page.locator(part).first().boundingBox();
    expect(box?.width ?? 0).toBeGreaterThan(80);
    expect((box?.x ?? -1) + (box?.width ?? 0)).toBeLessThanOrEqual(391);
    expect((box?.y ?? -1) + (box?.height ?? 0)).toBeLessThanOrEqual(781);
  }
  await otherTab.close();
});

test.skipIf(!hasChromium)(
  "without a device the page names sources that fail, and explains how to add one",
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "empty.json"), "{}");
    const sources = ["empty", "missing"].map((name) => ({
      type: "file",
      name,
      path: join(folder, `${name}.json`),
    }));
    writeFileSync(join(folder, "g.json"), JSON.stringify({ sources }));
    const emptyService = await startService({
      args: ["--config", join(folder, "g.json"), "--data", ":memory:"],
    });
    const otherTab = await openTab(emptyService);
    await otherTab.goto("/");
    await otherTab.page.getByRole("heading", { name: "No devices yet" }).waitFor();
    await otherTab.page.getByText("type: openflow").waitFor();
    await otherTab.page.getByText("These sources fail:").waitFor();
    await otherTab.page.getByText("missing (file): missing.json: does not exist").waitFor();
    await otherTab.page.getByText("These sources work, and have reported no device:").waitFor();
    await otherTab.page.getByText("empty (file): synced").waitFor();
    expect(await audit(otherTab)).toEqual([]);
    await otherTab.close();
    await emptyService.stop();
  },
);
