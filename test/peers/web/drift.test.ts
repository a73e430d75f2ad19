/**
 * Drift, conflicts, aliases and the claims of the sources on the page, with two sources whose claims differ and a plan that
 * differs from both.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { audit } from "../../web/audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "../../web/browser.ts";
import { changedPixelShare, screenshotMap } from "../../web/map-pixels.ts";
import { createNetworkFile, deviceId, MARKUP_NAME } from "../../web/network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
const folder = mkdtempSync(join(tmpdir(), "gazetteer-web-"));
let service: Service;
let tab: BrowserTab;

/** An id has no spaces. */
const MARKUP_ALIAS = "<img/src=x/onerror=document.title=1>";

/** Another view of the same network: a host elsewhere, which is a conflict, and another id of leaf1. */
const CAMPUS = {
  devices: [
    { id: deviceId(11), type: "ROUTER", sw: `campus ${MARKUP_NAME}`, aliases: ["openflow:11", MARKUP_ALIAS] },
  ],
  hosts: [{ mac: "02:00:00:00:00:03", locations: [{ elementId: deviceId(12), port: "4" }] }],
};

const MISSING_NAME = `${MARKUP_NAME} planned`;
type Ends = { readonly src: object; readonly dst: object };

/** The network without leaf3, leaf1 as a router with a port 48; and, unless it has arrived, another leaf at spine1. */
function writePlan({ arrived }: { readonly arrived: boolean }): void {
  const network = JSON.parse(readFileSync(join(file.folder, "network.json"), "utf8"));
  const ids = [1, 2, 11, 12, 14].map(deviceId);
  const devices = ids.map((id) =>
    id === deviceId(11) ? { id, type: "ROUTER", annotations: { rack: MARKUP_NAME } } : { id },
  );
  const links = network.links.map(({ src, dst }: Ends) => ({ src, dst }));
  const missing = { id: "plan:leaf9", annotations: { name: MISSING_NAME } };
  const missingLink = { src: { device: deviceId(1), port: "9" }, dst: { device: missing.id, port: "1" } };
  const plan = {
    devices: arrived ? devices : [...devices, missing],
    links: arrived ? links : [...links, missingLink],
    ports: ["1", "2", "3", "4", "48"].map((port) => ({ element: deviceId(11), port })),
  };
  writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
}

beforeAll(async () => {
  if (!hasChromium) return;
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(join(folder, "campus.json"), JSON.stringify(CAMPUS));
  writePlan({ arrived: false });
  const source = (name: string, path: string) => ({ type: "file", name, path });
  const sources = [
    source("racks", join(file.folder, "network.json")),
    source("campus", join(folder, "campus.json")),
    { ...source("plan", join(folder, "plan.json")), role: "intended" },
  ];
  writeFileSync(config, JSON.stringify({ sources }));
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
  await eventually("the comparison with the plan", async () => {
    const { drift } = await (await service.fetch("/controller/v1/topology?drift=any")).json();
    expect(drift.devices).toEqual({ missing: 1, unplanned: 1, differs: 1 });
  });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
  rmSync(folder, { recursive: true, force: true });
});

const panelOf = ({ page }: BrowserTab) => page.locator("aside.panel");

test.skipIf(!hasChromium)("the panel of a device lists its aliases as text", async () => {
  await tab.goto(`/?selected=devices:${deviceId(11)}`);
  await panelOf(tab).getByText("Also known as").waitFor();
  await panelOf(tab).getByText(`${MARKUP_ALIAS}, openflow:11`, { exact: true }).waitFor();
  expect(await tab.page.title()).not.toBe("harmed");
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasChromium)("an address with an alias of a device leads to the device", async () => {
  await tab.goto("/?selected=devices:OpenFlow:11");
  await panelOf(tab).getByText("This is another id of").waitFor();
  await panelOf(tab).getByRole("link", { name: "leaf1" }).click();
  await panelOf(tab).getByText("Also known as").waitFor();
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasChromium)(
  "one click shows the conflicts in a table, and one on the map with a list",
  async () => {
    await tab.goto("/?view=hosts");
    await tab.page.getByText("8 rows").waitFor();
    await tab.page.getByRole("button", { name: "Contradictory reports" }).click();
    await tab.page.getByText("1 row", { exact: true }).waitFor();
    await waitForUrlPart(tab, "filter=conflict%3Dtrue");
    await tab.page.getByRole("button", { name: "Contradictory reports", pressed: true }).click();
    await tab.page.getByText("8 rows").waitFor();
    await tab.goto("/");
    const before = await screenshotMap(tab);
    await tab.page.getByRole("button", { name: "Contradictory reports", exact: true }).click();
    await waitForUrlPart(tab, "layer=conflicts");
    await panelOf(tab).getByText("1 with contradictory reports").waitFor();
    await panelOf(tab).locator(".layer-list").getByRole("link", { name: "pc-11-3" }).waitFor();
    await eventually("the marks to be drawn", async () =>
      expect(await changedPixelShare(tab, before, await screenshotMap(tab))).toBeGreaterThan(0.001),
    );
  },
);

test.skipIf(!hasChromium)(
  "one click shows what is not as planned and since when; a change of the stream is shown at once",
  async () => {
    const otherTab = await openTab(service);
    const { page } = otherTab;
    const panel = panelOf(otherTab);
    const streams: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("drift=any")) streams.push(request.url());
    });
    await otherTab.goto("/");
    expect(streams).toEqual([]);
    await page.locator(".map-tools").getByRole("button", { name: "Not as planned" }).focus();
    await page.keyboard.press("Enter");
    await waitForUrlPart(otherTab, "layer=drift");
    await panel.getByText("3 missing, 1 not planned, 1 differs").waitFor();
    const items = panel.locator(".layer-list li");
    expect(await items.count()).toBe(5);
    expect(await items.locator("time").count()).toBe(5);
    expect(streams).toHaveLength(1);
    // The plan is in no count.
    await page.locator(".map-summary", { hasText: /^6 devices, 8 cables, 8 hosts$/ }).waitFor();
    await page.getByRole("button", { name: "Legend" }).click();
    await page.getByText("Cable missing", { exact: true }).waitFor();
    expect(await audit(otherTab)).toEqual([]);
    await page.keyboard.press("Escape");
    await panel.getByRole("link", { name: MISSING_NAME, exact: true }).click();
    await panel.getByText("The plan has it, and no source reports it.").waitFor();
    expect(await audit(otherTab)).toEqual([]);
    const withGhost = await screenshotMap(otherTab);
    await page.locator(".map-focus").press("Escape");
    writePlan({ arrived: true });
    await panel.getByText("1 missing, 1 not planned, 1 differs").waitFor();
    await eventually("the ghost to disappear", async () =>
      expect(await changedPixelShare(otherTab, withGhost, await screenshotMap(otherTab))).toBeGreaterThan(
        0.0005,
      ),
    );
    writePlan({ arrived: false });
    await panel.getByText("3 missing, 1 not planned, 1 differs").waitFor();
    await page.getByRole("button", { name: "Undo: Not as planned" }).click();
    await eventually("no list", async () => expect(await items.count()).toBe(0));
    expect(await page.title()).not.toBe("harmed");
    expect(otherTab.errors).toEqual([]);
    await otherTab.close();
  },
);

test.skipIf(!hasChromium)(
  "the panel shows the drift of a device, field by field, and of its ports",
  async () => {
    const otherTab = await openTab(service);
    const panel = panelOf(otherTab);
    await otherTab.goto(`/?layer=drift&selected=devices:${deviceId(11)}`);
    const row = panel.locator(".note.drift tr", { hasText: "type" });
    await row.waitFor();
    expect(await row.locator("td").allTextContents()).toEqual(["ROUTER", "SWITCH"]);
    const rack = panel.locator(".note.drift tr", { hasText: "annotations.rack" });
    expect(await rack.locator("td").allTextContents()).toEqual([MARKUP_NAME, "none"]);
    const ports = panel.locator("table.ports tr", { hasText: "48" });
    await ports.locator(".state.missing").first().waitFor({ state: "attached" });
    expect(otherTab.errors).toEqual([]);
    await otherTab.close();
  },
);

test.skipIf(!hasChromium)("the layer shows what was not as planned at a past time", async () => {
  const revision = async () => {
    const response = await service.fetch("/controller/v1/topology");
    await response.text();
    return Number(response.headers.get("gazetteer-revision"));
  };
  const before = await revision();
  writePlan({ arrived: true });
  await eventually("the new plan", async () => {
    const { drift } = await (await service.fetch("/controller/v1/topology?drift=any")).json();
    expect(drift.devices.missing).toBe(0);
  });
  const otherTab = await openTab(service);
  const { page } = otherTab;
  const panel = panelOf(otherTab);
  await otherTab.goto("/?layer=drift");
  await panel.getByText("1 missing, 1 not planned, 1 differs").waitFor();
  const now = await screenshotMap(otherTab);
  await otherTab.goto(`/?layer=drift&at=${before}`);
  await panel.getByText("3 missing, 1 not planned, 1 differs").waitFor();
  await eventually("the missing device on the map", async () =>
    expect(await changedPixelShare(otherTab, now, await screenshotMap(otherTab))).toBeGreaterThan(0.0005),
  );
  await panel.getByRole("link", { name: MISSING_NAME, exact: true }).click();
  await panel.getByText("The plan has it, and no source reports it.").waitFor();
  await page.getByRole("button", { name: "Undo: As of" }).click();
  await panel.getByText("1 missing, 1 not planned, 1 differs").waitFor();
  expect(otherTab.errors).toEqual([]);
  await otherTab.close();
  writePlan({ arrived: false });
  await eventually("the plan of before", async () => {
    const { drift } = await (await service.fetch("/controller/v1/topology?drift=any")).json();
    expect(drift.devices.missing).toBe(1);
  });
});

test.skipIf(!hasChromium)("where nothing is observed, a button leads to what is missing", async () => {
  const plan = { devices: [{ id: "plan:1" }, { id: "plan:2" }] };
  writeFileSync(join(folder, "nothing.json"), "{}");
  writeFileSync(join(folder, "all.json"), JSON.stringify(plan));
  const sources = [
    { type: "file", name: "seen", path: join(folder, "nothing.json") },
    { type: "file", name: "drawn", path: join(folder, "all.json"), role: "intended" },
  ];
  writeFileSync(join(folder, "empty.yaml"), JSON.stringify({ sources }));
  await using empty = await startService({
    args: ["--data", ":memory:", "--config", join(folder, "empty.yaml")],
  });
  const otherTab = await openTab(empty);
  const { page } = otherTab;
  await otherTab.goto("/");
  await page.getByText("No devices yet").waitFor();
  await page.getByRole("button", { name: "Not as planned" }).click();
  await waitForUrlPart(otherTab, "layer=drift");
  await panelOf(otherTab).getByText("2 missing").waitFor();
  await page.locator('[data-drawn="true"]').waitFor();
  expect(await page.locator(".empty").isVisible()).toBe(false);
  expect(await audit(otherTab)).toEqual([]);
  expect(otherTab.errors).toEqual([]);
  await otherTab.close();
});

test.skipIf(!hasChromium)("drift is a filter of the table, and a missing row opens its panel", async () => {
  const otherTab = await openTab(service);
  const { page } = otherTab;
  await otherTab.goto("/?view=devices");
  await page.getByText("6 rows").waitFor();
  await page.getByRole("button", { name: "Not as planned" }).click();
  await page.getByText("3 rows").waitFor();
  await waitForUrlPart(otherTab, "filter=drift%3Dany");
  await page.locator(".grid").getByText(MISSING_NAME).click();
  await panelOf(otherTab).getByText("The plan has it, and no source reports it.").waitFor();
  expect(await audit(otherTab)).toEqual([]);
  expect(otherTab.errors).toEqual([]);
  await otherTab.close();
});

test.skipIf(!hasChromium)(
  "the panel shows what each source says and which claim is shown, loaded when it is opened",
  async () => {
    const otherTab = await openTab(service);
    const { page } = otherTab;
    const panel = panelOf(otherTab);
    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("explain=true")) requests.push(new URL(request.url()).pathname);
    });
    await otherTab.goto(`/?selected=devices:${deviceId(11)}`);
    await panel.getByText("What each source says").waitFor();
    expect(requests).toEqual([]);
    await panel.getByText("What each source says").focus();
    await page.keyboard.press("Enter");
    const type = panel.locator(".claim-fields tbody", { hasText: "type" });
    await type.waitFor();
    expect(requests).toEqual([`/controller/v1/devices/${encodeURIComponent(deviceId(11))}`]);
    expect(await type.locator("tr.wins td").first().textContent()).toBe("racks");
    expect(await type.locator("tr").count()).toBe(3);
    await panel.locator(".claim-sources").getByText("plan", { exact: true }).waitFor();
    await panel.locator(".claim-fields td", { hasText: `campus ${MARKUP_NAME}` }).waitFor();
    expect(await audit(otherTab)).toEqual([]);
    expect(otherTab.errors).toEqual([]);
    await otherTab.close();
  },
);
