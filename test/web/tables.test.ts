/** Tables sorted by name and by end, counts beside filters, alarms that are not faded, changes in groups, curl and CSV. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "./browser.ts";
import { createNetworkFile, deviceId } from "./network-file.ts";

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

const column = async (index: number): Promise<string[]> =>
  tab.page.locator(`.grid [role="row"][aria-selected] > :nth-child(${index + 1})`).allTextContents();

test.skipIf(!hasChromium).each([
  ["devices", "Name", 0],
  ["links", "From", 0],
  ["links", "To", 2],
  ["hosts", "Name", 0],
  ["hosts", "Device", 4],
] as const)("%s sorted by %s", async (view, title, index) => {
  await tab.goto(`/?view=${view}`);
  const heading = tab.page.getByRole("button", { name: title, exact: true });
  await heading.click();
  const sorted = async (descending: boolean) => {
    const texts = await column(index);
    const expected = texts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    expect(texts.length).toBeGreaterThan(4);
    expect(texts).toEqual(descending ? expected.toReversed() : expected);
    expect(await tab.page.locator(".fault:not([hidden])").count()).toBe(0);
  };
  await waitForUrlPart(tab, "sort=");
  await eventually("ascending order", () => sorted(false));
  await tab.page.getByRole("button", { name: new RegExp(`^${title} ↑$`) }).click();
  await waitForUrlPart(tab, "sort=-");
  await eventually("descending order", () => sorted(true));
});

test.skipIf(!hasChromium)("a cable is one row with both of its directions", async () => {
  file.write({ inactiveLinks: ["spine1-leaf2"] });
  await tab.goto("/?view=links&sort=src");
  await tab.page.getByRole("link", { name: /^Cables\s*8$/ }).waitFor();
  await tab.page.getByText("8 rows", { exact: true }).waitFor();
  expect(new Set(await column(6))).toEqual(new Set(["both"]));
  await tab.page.getByLabel("Filter, with the parameters of the interface").fill("state=INACTIVE");
  await tab.page.keyboard.press("Enter");
  await tab.page.getByText("1 row", { exact: true }).waitFor();
  expect([await column(0), await column(2), await column(5)]).toEqual([["leaf2"], ["spine1"], ["down"]]);
  // The row of the cable is the selected one, whichever of its links is selected.
  await tab.page.goto(`${tab.page.url()}&selected=links:${deviceId(1)}/2-${deviceId(12)}/1`);
  await tab.page.locator('.grid [aria-selected="true"]').waitFor();
  file.write();
});

test.skipIf(!hasChromium)("counts beside filters are of what is shown, and follow it", async () => {
  await tab.goto(`/?around=${deviceId(11)}`);
  await tab.page.getByRole("button", { name: "Filter" }).click();
  const count = (label: string) =>
    tab.page.locator(".check", { hasText: label }).locator(".count").textContent();
  // leaf1 and its two spines, and the two cables between them.
  await eventually("the counts of the neighbourhood", async () => {
    expect([await count("Switch"), await count("racks"), await count("Cable down")]).toEqual(["3", "5", "0"]);
  });
  file.write({ inactiveLinks: ["spine1-leaf1", "spine1-leaf2"] });
  await eventually("the new count", async () => expect(await count("Cable down")).toBe("1"));
  await tab.page.getByRole("button", { name: "One hop more" }).click();
  await tab.page.getByRole("button", { name: "Filter" }).click();
  await eventually("the count of more hops", async () => expect(await count("Cable down")).toBe("2"));
  file.write();
});

test.skipIf(!hasChromium)(
  "ports of a device that go down together are one line of recent changes",
  async () => {
    await tab.goto("/?changes=1");
    await tab.page.getByRole("heading", { name: "Recent changes" }).waitFor();
    file.write({ portsDown: deviceId(13) });
    const line = tab.page.locator(".changes summary", { hasText: "4 ports of leaf3 went down" });
    await line.waitFor();
    await line.press("Enter");
    await tab.page.locator(".changes details[open] li").getByText("leaf3 port 2").waitFor();
    // A page that is opened afterwards shows them too.
    const other = await openTab(service);
    await other.goto("/?changes=1");
    await other.page.locator(".changes summary", { hasText: "4 ports of leaf3 went down" }).waitFor();
    await other.close();
    file.write();
  },
);

test.skipIf(!hasChromium)("the curl line of the map has its filters", async () => {
  await tab.goto(`/?type=SWITCH&state=down,inactive&around=${deviceId(11)}&hops=2`);
  await tab.page.getByRole("button", { name: "Export and share" }).click();
  await tab.page.getByRole("button", { name: "Copy as curl" }).click();
  const base = `${service.url}/controller/v1`;
  const rest = `around=${deviceId(11)}&hops=2`;
  await eventually("both requests in the clipboard", async () =>
    expect(await tab.page.evaluate(() => navigator.clipboard.readText())).toBe(
      `curl --user USERNAME '${base}/devices?available=false&type=SWITCH&${rest}' '${base}/links?state=INACTIVE&${rest}'`,
    ),
  );
});

test.skipIf(!hasChromium)("a state in a table has a sign of its own besides its colour", async () => {
  file.write({ unavailable: [deviceId(2)], inactiveLinks: ["spine1-leaf1"] });
  await tab.goto("/?view=devices&sort=id");
  const signs = (tone: string) =>
    tab.page
      .locator(`.sheet .cell.${tone}`)
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, "::before").content.slice(1, 2)));
  await eventually("one device down", async () => expect(await signs("bad")).toEqual(["✕"]));
  expect(new Set(await signs("good"))).toEqual(new Set(["●"]));
  file.write();
});

test.skipIf(!hasChromium)("the CSV of a table has the filter and the order of the page", async () => {
  await tab.goto("/?view=devices&filter=available%3Dtrue&sort=-id");
  await tab.page.getByRole("button", { name: "Export and share" }).click();
  const [download] = await Promise.all([
    tab.page.waitForEvent("download"),
    tab.page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(new URL(download.url()).search).toBe("?format=csv&available=true&sort=-id");
  const rows = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  expect(rows.slice(1).map((row) => row.split(",")[0])).toEqual(
    [14, 13, 12, 11, 2, 1].map((n) => deviceId(n)),
  );
});
