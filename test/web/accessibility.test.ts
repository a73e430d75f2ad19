/** The accessibility of each view in both colour schemes, small screens, and a page without a network. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { openTab } from "./browser.ts";

const hasChromium = needs("chromium");
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--demo=devices=50,hosts=300,churn=0"] });
});

const VIEWS = [
  ["the map", "/"],
  ["a device", "/?selected=devices:of:0000000000000005"],
  ["the conflict layer", "/?layer=conflicts"],
  ["changes and a filter", "/?changes=1&state=inactive"],
  ["devices", "/?view=devices"],
  ["links", "/?view=links&selected=hosts:x"],
  ["hosts with an invalid filter", "/?view=hosts&filter=vlon=1"],
] as const;

test.skipIf(!hasChromium)(
  "axe-core finds no serious violation on any view, dark or light, wide or narrow",
  async () => {
    const violations: string[] = [];
    for (const colorScheme of ["dark", "light"] as const) {
      const viewport = colorScheme === "dark" ? { width: 1280, height: 800 } : { width: 400, height: 800 };
      const otherTab = await openTab(service, { colorScheme, viewport });
      for (const [name, path] of VIEWS) {
        await otherTab.goto(path);
        const loading = otherTab.page.locator(".panel .muted", { hasText: "Loading" });
        await until(async () => (await loading.count()) === 0, { what: "the panel to be complete" });
        for (const violation of await audit(otherTab))
          violations.push(`${name}, ${colorScheme}: ${violation}`);
      }
      for (const button of ["Filter", "Legend", "Export and share"]) {
        await otherTab.goto("/");
        await otherTab.page.getByRole("button", { name: button }).click();
        for (const violation of await audit(otherTab))
          violations.push(`${button} open, ${colorScheme}: ${violation}`);
      }
      expect(otherTab.errors).toEqual([]);
      await otherTab.close();
    }
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
