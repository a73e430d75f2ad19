/** Paths on the page: by keyboard and by a click, all shortest ones with their ports, in the past, and why there is none. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { audit } from "../../web/audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "../../web/browser.ts";
import { createNetworkFile, deviceId } from "../../web/network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

const panel = () => tab.page.locator("aside.panel");
const chip = (text: string | RegExp) => tab.page.locator(".chip").getByText(text);
const revision = async (): Promise<number> =>
  Number((await service.fetch("/controller/v1/links")).headers.get("gazetteer-revision"));
/** Waits until the service has read the file. */
async function changed(write: () => void, path: string, holds: (body: string) => boolean): Promise<void> {
  write();
  await eventually(`the change in ${path}`, async () =>
    expect(holds(await (await service.fetch(`/controller/v1/${path}`)).text())).toBe(true),
  );
}

test.skipIf(!hasChromium)(
  "two names, typed: all shortest paths with their ports, and their union",
  async () => {
    await tab.goto("/");
    await tab.page.getByRole("button", { name: "Path", exact: true }).press("Enter");
    const from = tab.page.getByRole("combobox", { name: "From" });
    await eventually("the focus in From", async () =>
      expect(await from.evaluate((element) => element === document.activeElement)).toBe(true),
    );
    await tab.page.keyboard.type("pc-11-3");
    await tab.page.locator(".picker-hits .search-hit").first().waitFor();
    await tab.page.keyboard.press("Enter");
    await chip("Path from pc-11-3: now pick the other end").waitFor();
    await tab.page.keyboard.type("leaf2");
    await tab.page.keyboard.press("Enter");
    await chip("Path pc-11-3 → leaf2: 2 shortest paths of 3 hops").waitFor();
    await waitForUrlPart(tab, `path=devices:${deviceId(12)}`);
    const paths = panel().locator("details.path");
    await eventually("both paths", async () =>
      expect(await paths.locator("summary").allTextContents()).toEqual([
        "1: via leaf1, spine1",
        "2: via leaf1, spine2",
      ]),
    );
    expect(await paths.first().locator("li").allTextContents()).toEqual([
      "pc-11-3into eth3",
      "leaf1out of eth1, into eth1",
      "spine1out of eth2, into eth1",
      "leaf2",
    ]);
    expect(await audit(tab)).toEqual([]);
  },
);

test.skipIf(!hasChromium)(
  "the second end can be clicked, and a host that is not loaded has its name",
  async () => {
    await tab.goto("/?view=devices&sort=id");
    await tab.page.getByRole("button", { name: "Path", exact: true }).click();
    await tab.page.getByRole("combobox", { name: "From" }).fill("192.0.2.123");
    await tab.page.locator(".picker-hits .search-hit").first().click();
    await tab.page.getByRole("row").getByText("spine2", { exact: true }).click();
    await chip("Path pc-12-3 → spine2: 1 shortest path of 2 hops").waitFor();
  },
);

test.skipIf(!hasChromium)("why there is no path, and the paths of an earlier revision", async () => {
  const before = await revision();
  const ends = `path=devices:${deviceId(11)}&path=devices:${deviceId(12)}`;
  await tab.goto(`/?${ends}`);
  await chip(/2 shortest paths/).waitFor();
  await changed(
    () => file.write({ inactiveLinks: ["spine1-leaf2"], unavailable: [deviceId(2)] }),
    "devices?available=false",
    (body) => body.includes(deviceId(2)),
  );
  // The page follows the network.
  await chip("Path leaf1 → leaf2: no path").waitFor();
  await panel().getByText("leaf1 reaches 4 devices").waitFor();
  await panel().getByText("leaf2 is reached from 1 device").waitFor();
  await panel().getByText("One of these must come back:").waitFor();
  const obstacles = panel().locator(".obstacles li");
  expect(await obstacles.locator(".state").allTextContents()).toEqual(["down", "down"]);
  expect(await obstacles.locator("a").allTextContents()).toEqual(["spine2", "spine1/eth2 → leaf2/eth1"]);
  expect(await audit(tab)).toEqual([]);
  await tab.goto(`/?${ends}&at=${before}`);
  await chip(/2 shortest paths of 2 hops/).waitFor();
  expect(
    await tab.page.getByRole("slider", { name: "Moment shown" }).getAttribute("aria-valuetext"),
  ).not.toContain("now");
  file.write();
});

test.skipIf(!hasChromium)("a path stays while the past is played, and the play waits for it", async () => {
  const ends = `path=devices:${deviceId(11)}&path=devices:${deviceId(12)}`;
  await tab.goto(`/?${ends}`);
  await chip(/2 shortest paths/).waitFor();
  const startedAt = new Date().toISOString();
  const other = await openTab(service);
  const { page } = other;
  const found = page.locator(".chip").getByText(/2 shortest paths/);
  const at = () => new URL(page.url()).searchParams.get("at");
  await page.clock.install();
  await other.goto(`/?${ends}&at=${startedAt}&speed=1`);
  await found.waitFor();
  await page.clock.pauseAt(new Date((await page.evaluate(() => Date.now())) + 1000));
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/paths\//, async (route) => {
    held.resolve();
    await released.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.clock.runFor(500);
  await held.promise;
  const stepAt = at();
  expect(stepAt).not.toBe(startedAt);
  await page.clock.runFor(5000);
  expect(at()).toBe(stepAt);
  expect(await found.isVisible()).toBe(true);
  released.resolve();
  await eventually("the next step", async () => {
    await page.clock.runFor(500);
    expect(at()).not.toBe(stepAt);
  });
  await other.close();
});
