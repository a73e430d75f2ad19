/** The accessibility of each view in both colour schemes, small screens, and a page without a network. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, openTab } from "./browser.ts";

const hasChromium = needs("chromium");
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--demo=devices=50,hosts=300,churn=0"] });
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
