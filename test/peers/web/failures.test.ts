/** What the page shows while the service fails, is slow, or no longer has the moment that is shown. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { audit } from "../../web/audit.ts";
import { type BrowserTab, eventually, openTab } from "../../web/browser.ts";
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

/** Changes the address without a reload. */
const show = (address: string) =>
  tab.page.evaluate((next) => {
    history.pushState(null, "", next);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);

test.skipIf(!hasChromium)("a table keeps its rows while they cannot be loaded again", async () => {
  const { page } = tab;
  await tab.goto("/?view=devices");
  await page.getByText("6 rows").waitFor();
  const isRows = (url: URL) => url.pathname.endsWith("/devices") && url.searchParams.has("limit");
  await page.route(isRows, (route) => route.fulfill({ status: 503 }));
  file.write({ removedDevices: [deviceId(13)] });
  await page.locator(".fault").getByText("These rows may be out of date").waitFor();
  await page.getByText("6 rows").waitFor();
  await page.unroute(isRows);
  // The network does not change any more: the table tries again by itself.
  await page.getByText("5 rows").waitFor();
  await eventually("no fault", async () => expect(await page.locator(".fault").isVisible()).toBe(false));
  file.write();
});

test.skipIf(!hasChromium)("a moment that is being loaded is not called the one that is shown", async () => {
  const { page } = tab;
  await tab.goto("/");
  await page.locator('.status[data-level="live"]').waitFor();
  const released = Promise.withResolvers<void>();
  const isMoment = (url: URL) => url.searchParams.has("diff") || url.searchParams.has("at");
  await page.route(isMoment, async (route) => {
    await released.promise;
    await route.continue();
  });
  await show("/?at=1");
  await page.locator(".chip").getByText("Loading revision 1…").waitFor();
  await page.locator(".status").getByText("Loading revision 1…").waitFor();
  expect(await page.locator("main").getAttribute("aria-busy")).toBe("true");
  released.resolve();
  await page
    .locator(".chip")
    .getByText(/^As of .*\d\d:\d\d:\d\d$/)
    .waitFor();
  await page.locator('.status[data-level="past"]').getByText("The past").waitFor();
  expect(await page.locator("main").getAttribute("aria-busy")).toBe("false");
  await page.unroute(isMoment);
});

/** The response of the service for a moment that its history no longer has. */
const EXPIRED = {
  status: 410,
  contentType: "application/problem+json",
  json: { type: "/errors#revision-expired", title: "Revision expired", status: 410, detail: "too old" },
};

test.skipIf(!hasChromium)("a past that has expired is left for a later moment", async () => {
  const { page } = tab;
  const panel = page.locator("aside.panel");
  const hostsThen = (url: URL) => url.pathname.endsWith("/hosts") && url.searchParams.get("at") === "1";
  await tab.goto("/?at=1");
  await page
    .locator(".chip")
    .getByText(/^As of .*\d\d:\d\d:\d\d$/)
    .waitFor();
  const isMove = (url: URL) => url.pathname.endsWith("/topology") && url.searchParams.has("diff");
  await page.route(isMove, (route) => route.fulfill(EXPIRED));
  await page.route(hostsThen, (route) => route.fulfill(EXPIRED));
  await show(`/?at=1&selected=devices:${deviceId(11)}`);
  await panel.getByText("Hosts are not shown: too old").waitFor();
  await show("/?at=1&selected=hosts:02:00:00:00:00:03/None");
  await panel.getByText("Hosts are not shown: too old").waitFor();
  await show(`/?at=2&selected=devices:${deviceId(11)}`);
  await page.locator('main[aria-busy="false"]').waitFor();
  await panel.getByRole("link", { name: "pc-11-3" }).waitFor();
  await panel.getByText("Hosts are not shown").waitFor({ state: "detached" });
  await page.unroute(isMove);
  await page.unroute(hostsThen);
});

test.skipIf(!hasChromium)("hosts that were refused are loaded at the next moment of a play", async () => {
  const { page } = tab;
  const panel = page.locator("aside.panel");
  const hostsThen = (url: URL) => url.pathname.endsWith("/hosts") && url.searchParams.get("at") === "1";
  await page.route(hostsThen, (route) =>
    new URL(route.request().url()).searchParams.has("count") ? route.continue() : route.fulfill(EXPIRED),
  );
  await tab.goto(`/?at=1&selected=devices:${deviceId(11)}`);
  await panel.getByText("Hosts are not shown: too old").waitFor();
  await show(`/?at=2&selected=devices:${deviceId(11)}`);
  await panel.getByRole("link", { name: "pc-11-3" }).waitFor();
  await page.unroute(hostsThen);
});

test.skipIf(!hasChromium)(
  "when the password has changed the page shows a form, and then goes on with its own credentials",
  async () => {
    const { page } = tab;
    await tab.goto("/");
    await page.locator('.status[data-level="live"]').waitFor();
    await page.evaluate(() => document.body.setAttribute("data-opened", "once"));
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 401) refused.push(response.url());
    });
    await service.stop();
    const port = Number(new URL(service.url).port);
    const args = ["--data", ":memory:", "--config", file.config];
    service = await startService({ port, args, credentials: "reader:new password" });
    const form = page.getByRole("form", { name: "Log in" });
    await form.waitFor();
    await page.locator(".main.out-of-date").waitFor();
    expect(await audit(tab)).toEqual([]);
    const logIn = async (password: string) => {
      await form.getByLabel("User name").fill("reader");
      await form.getByLabel("Password").fill(password);
      await page.keyboard.press("Enter");
    };
    const before = refused.length;
    await logIn("guess");
    await form.getByText("The user name or the password is wrong.").waitFor();
    // While the form is shown nothing else is requested, so that the service does not count more failed logins.
    expect(refused.length).toBe(before + 1);
    await logIn("new password");
    await form.waitFor({ state: "detached" });
    await page.locator('.status[data-level="live"]').waitFor();
    expect(await page.locator("body").getAttribute("data-opened")).toBe("once");
    // What the browser would load by a link has the page's own credentials too.
    await page.getByRole("button", { name: "Export and share" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download GraphML" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toContain("<graphml");
  },
);
