/** A map that cannot be drawn says so, and why, instead of a blank or frozen map; it is drawn again when it can be. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { type BrowserTab, openTab } from "../../web/browser.ts";
import { createNetworkFile } from "../../web/network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
beforeEach(async () => {
  if (hasChromium) tab = await openTab(service);
});
afterEach(() => tab?.close());
afterAll(() => file.remove());

const fault = () => tab.page.getByRole("status").filter({ hasText: "The map cannot be drawn" });

test.skipIf(!hasChromium)("without WebGL the page says so, and the tables work", async () => {
  await tab.page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype;
    Object.assign(HTMLCanvasElement.prototype, {
      getContext(this: HTMLCanvasElement, kind: string, options?: unknown) {
        return kind === "webgl2" ? null : Reflect.apply(getContext, this, [kind, options]);
      },
    });
  });
  await tab.goto("/");
  await fault().getByText("this browser has no WebGL 2. The tables have the same content.").waitFor();
  await tab.page.locator('.tabs [data-view="devices"]').click();
  await tab.page.locator(".grid").getByText("spine1", { exact: true }).waitFor();
  expect(await fault().count()).toBe(0);
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasChromium)("a lost WebGL context is reported until the browser restores it", async () => {
  await tab.page.clock.install();
  await tab.goto("/");
  await tab.page.locator('[data-drawn="true"]').waitFor();
  const context = await tab.page.evaluateHandle(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("canvas.map-stage");
    return canvas?.getContext("webgl2")?.getExtension("WEBGL_lose_context");
  });
  const lost = tab.page.evaluate(
    () =>
      new Promise((resolve) => {
        document.querySelector(".map-stage")?.addEventListener("webglcontextlost", resolve);
      }),
  );
  await context.evaluate((extension) => extension?.loseContext());
  await lost;
  expect(await fault().count()).toBe(0);
  await tab.page.clock.runFor(5000);
  await fault().waitFor();
  await context.evaluate((extension) => extension?.restoreContext());
  await tab.page.clock.runFor(1000);
  await fault().waitFor({ state: "detached" });
});

test.skipIf(!hasChromium)("a layout worker that cannot start is reported, and started again", async () => {
  await tab.page.route(/\/assets\/worker-/, (route) => route.abort());
  await tab.goto("/");
  await fault().getByText("the layout failed").waitFor();
  await tab.page.unroute(/\/assets\/worker-/);
  await tab.page.locator('[data-drawn="true"]').waitFor();
  await fault().waitFor({ state: "detached" });
});
