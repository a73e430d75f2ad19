/** What the page loads of the hosts: their counts, and hosts when something is opened; and which searches it aborts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { createNetworkFile, deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
const MOVING = "02:00:00:00:00:03";
let service: Service;
let tab: BrowserTab;
/** The queries of all requests for hosts, without the revision that they need at least. */
const requests: string[] = [];

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service);
  tab.page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.startsWith("/controller/v1/hosts")) return;
    searchParams.delete("min-revision");
    requests.push(decodeURIComponent(`${pathname.slice("/controller/v1/hosts".length)}?${searchParams}`));
  });
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

const panel = () => tab.page.locator("aside.panel");
const hostsButton = (count: string) => panel().getByRole("button", { name: count, exact: true });

test.skipIf(!hasChromium)("the page loads counts, and the hosts of what is opened, once", async () => {
  await tab.goto("/");
  await tab.page.locator('.status[data-level="live"]').waitFor();
  expect(requests).toEqual(["?count=device"]);
  await tab.goto(`/?selected=devices:${deviceId(11)}`);
  await panel().getByText("pc-11-3").waitFor();
  await hostsButton("2 hosts").click();
  await until(() => tab.page.url().includes(`hosts=${deviceId(11)}`), { what: "the expanded device" });
  await panel().getByRole("link", { name: "pc-11-3" }).click();
  await panel().getByText("On leaf1 port 3").waitFor();
  expect(requests.slice(1)).toEqual([
    "?count=device",
    `?device=${deviceId(11)}&limit=1000`,
    `?id=${MOVING}/None`,
  ]);
});

test.skipIf(!hasChromium)("a host that moves is counted at its new device, loaded or not", async () => {
  await tab.goto(`/?selected=devices:${deviceId(12)}`);
  await hostsButton("2 hosts").waitFor();
  // Its old place is not known here: the page counts again.
  file.write({ movedHosts: { [MOVING]: 12 } });
  await hostsButton("3 hosts").waitFor();
  await panel().getByText("pc-11-3").waitFor();
  // Here it is loaded: the change itself says where it was.
  const before = requests.filter((query) => query === "?count=device").length;
  file.write();
  await hostsButton("2 hosts").waitFor();
  await until(async () => (await panel().getByText("pc-11-3").count()) === 0, { what: "the host to leave" });
  expect(requests.filter((query) => query === "?count=device").length).toBe(before);
});

test.skipIf(!hasChromium)("hosts of the past and the ends of a path are loaded by their ids", async () => {
  const [from, to] = ["02:00:00:00:00:03/None", "02:00:00:00:02:03/None"];
  await tab.goto(`/?path=hosts:${from}&path=hosts:${to}&at=1`);
  await panel().getByText("of 4 hops").waitFor();
  // The path may be there before the network of that moment.
  await eventually("the requests of that moment", async () => {
    const queries = requests.filter((query) => query.includes("at=1"));
    expect(queries.toSorted()).toEqual(["?at=1&count=device", `?id=${from}&at=1`, `?id=${to}&at=1`]);
  });
});

test.skipIf(!hasChromium)("a search that is overtaken is aborted, and only the last one shows", async () => {
  await tab.goto("/");
  await tab.page.locator('.status[data-level="live"]').waitFor();
  const sent: string[] = [];
  const aborted: string[] = [];
  const textOf = (url: string) => new URL(url).searchParams.get("q") ?? "";
  // A request that is aborted at once is not routed any more, so they are counted here.
  tab.page.on("request", (request) => {
    if (request.url().includes("/topology/search")) sent.push(textOf(request.url()));
  });
  tab.page.on("requestfailed", (request) => {
    if (request.url().includes("/topology/search")) aborted.push(textOf(request.url()));
  });
  const released = Promise.withResolvers<void>();
  await tab.page.route(/\/topology\/search/, async (route) => {
    if (textOf(route.request().url()) !== "pc-13") await released.promise;
    await route.continue().catch(() => {});
  });
  try {
    await tab.page.keyboard.press("/");
    // The focus lets the service index.
    await until(() => sent.length === 1, { what: "the request of the focus" });
    await tab.page.keyboard.type("pc-13");
    await until(async () => (await tab.page.locator(".search-hit").count()) === 2, { what: "two hits" });
    expect(aborted).toEqual(["p", "pc", "pc-", "pc-1"]);
    // Then only what was typed is searched for.
    expect(sent).toEqual(["-", ...aborted, "pc-13"]);
  } finally {
    released.resolve();
  }
  expect(await tab.page.locator(".hit-title").allTextContents()).toEqual(["pc-13-3", "pc-13-4"]);
  await tab.page.keyboard.press("Enter");
  await panel().getByText("On leaf3 port 3").waitFor();
  expect(tab.errors.filter((text) => !text.includes("ERR_ABORTED"))).toEqual([]);
});

test.skipIf(!hasChromium)(
  "a host that is found is drawn at its device, and all results are in the table with the same search",
  async () => {
    const { page } = tab;
    // Far away: at the last leaf, close.
    await tab.goto(`/?camera=900,0,200,${deviceId(14)}`);
    const drawn = () => page.locator(".map").evaluate((map) => Number((map as HTMLElement).dataset.items));
    const before = await drawn();
    const input = page.locator(".search-input");
    await input.fill("pc-13-3");
    await page.locator(".search-hit").first().waitFor();
    await input.press("Enter");
    await panel().getByText("On leaf3 port 3").waitFor();
    // The host and its line.
    await eventually("the host on the map", async () => expect(await drawn()).toBe(before + 2));
    await eventually("the camera at its device", async () =>
      expect(new URL(page.url()).searchParams.get("camera")).toMatch(new RegExp(`,${deviceId(13)}$`)),
    );
    await tab.goto(new URL(page.url()).pathname + new URL(page.url()).search);
    await eventually("the host after a reload", async () => expect(await drawn()).toBe(before + 2));
    // Words in any order, and a MAC address in another spelling.
    for (const text of ["13-3 PC", "0200.0000.0003"]) {
      await input.fill(text);
      await page.locator(".search-all", { hasText: "All results in the table of hosts" }).waitFor();
      expect(await page.locator(".search-hit").count()).toBe(1);
      await input.press("ArrowUp");
      await input.press("Enter");
      await page.getByText("1 row", { exact: true }).waitFor();
      expect(await page.locator(".filter-input").inputValue()).toBe(text);
    }
  },
);

test.skipIf(!hasChromium)("a search starts anew with the focus, and at another moment", async () => {
  const { page } = tab;
  await tab.goto("/");
  await page.locator('.status[data-level="live"]').waitFor();
  const isSearch = (url: URL) => url.pathname.endsWith("/topology/search");
  const moments: (string | null)[] = [];
  let fails = true;
  await page.route(isSearch, async (route) => {
    moments.push(new URL(route.request().url()).searchParams.get("at"));
    await (fails ? route.fulfill({ status: 503 }) : route.continue());
  });
  const input = page.locator(".search-input");
  await input.fill("pc-13");
  await page.locator('.search [role="status"]').getByText("Service Unavailable").waitFor();
  await input.blur();
  fails = false;
  await input.focus();
  await page.locator('.search [role="status"]').getByText("2 matches").waitFor();
  expect(moments.at(-1)).toBe(null);
  await page.evaluate(() => {
    history.pushState(null, "", "/?at=1");
    dispatchEvent(new PopStateEvent("popstate"));
  });
  await eventually("a search at that moment", async () => expect(moments.at(-1)).toBe("1"));
  await page.locator('.search [role="status"]').getByText("2 matches").waitFor();
  await page.unroute(isSearch);
});
