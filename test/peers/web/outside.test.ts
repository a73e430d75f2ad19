/** Links out of the map in panels, with values that a hostile device reports, and the metric on links with its failure. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PALETTES } from "../../../src/web/map/palette.ts";
import { startPrometheusPeer } from "../../map/prometheus-peer.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { audit } from "../../web/audit.ts";
import { type BrowserTab, eventually, openTab } from "../../web/browser.ts";
import { countPixelsOf } from "../../web/map-pixels.ts";
import { deviceId } from "../../web/network-file.ts";

const HOSTILE_NAME = 'javascript:alert(1)//"><img src=x>\u202E/../@evil.example';
const DEVICES = [
  { id: deviceId(1), annotations: { name: "leaf1", managementAddress: "10.9.0.1", rack: "A 7/2" } },
  { id: deviceId(2), annotations: { name: HOSTILE_NAME, managementAddress: "x@evil.example" } },
  { id: deviceId(3), annotations: { name: "..", managementAddress: "//evil.example" } },
];
const ends = (from: number, to: number) => ({
  src: { device: deviceId(from), port: "1" },
  dst: { device: deviceId(to), port: "2" },
});
/** At a port of its own: two links at one port are a conflict. */
const ONE_WAY = { ...ends(1, 3), src: { device: deviceId(1), port: "3" } };
const NETWORK = {
  devices: DEVICES.map((device) => ({ type: "SWITCH", available: true, ...device })),
  ports: [],
  links: [ends(1, 2), { src: ends(1, 2).dst, dst: ends(1, 2).src }, ONE_WAY],
  hosts: [
    {
      mac: "02:00:00:00:00:01",
      ipAddresses: ["192.0.2.7"],
      locations: [{ elementId: deviceId(1), port: "9" }],
    },
  ],
};
const LINKS = [
  { name: "Shell", kind: "device", url: "ssh://admin@{managementAddress}" },
  { name: "Dashboard", kind: "device", url: "https://grafana.example/d/{name}/ports?var-rack={rack}" },
  { name: "Search", kind: "device", url: "https://wiki.example/?q={name}" },
  { name: "Graph", kind: "link", url: "https://grafana.example/l?a={src.name}&p={src.port}&b={dst.device}" },
  { name: "Lease", kind: "host", url: "http://dhcp.example/{ip}?switch={device.name}" },
];

const prometheus = startPrometheusPeer();
let service: Service;
let tab: BrowserTab;
beforeAll(async () => {
  const folder = temporaryFolder();
  const path = join(folder, "network.json");
  writeFileSync(path, JSON.stringify(NETWORK));
  const config = join(folder, "gazetteer.yaml");
  const queries = [
    { name: "Utilisation", query: "utilisation" },
    { name: "Errors", unit: "/s", query: "errors" },
  ];
  const metrics = [{ url: prometheus.url, intervalSeconds: 2, queries }];
  writeFileSync(config, JSON.stringify({ sources: [{ type: "file", path }], links: LINKS, metrics }));
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab.close();
  prometheus[Symbol.dispose]();
  await service.stop();
});

/** The names and addresses in the panel of an entity. */
async function outsideLinks(selected: string): Promise<Record<string, string>> {
  await tab.goto(`/?selected=${encodeURIComponent(selected)}`);
  await tab.page.locator(".panel .badges").first().waitFor();
  const links = tab.page.locator('[aria-label="Links out of the map"] a');
  return Object.fromEntries(
    await links.evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute("href") ?? ""])),
  );
}

test("the panel of a device has its links, without those that lack a value", async () => {
  await eventually("the links of leaf1", async () =>
    expect(await outsideLinks(`devices:${deviceId(1)}`)).toEqual({
      Shell: "ssh://admin@10.9.0.1",
      Dashboard: "https://grafana.example/d/leaf1/ports?var-rack=A%207%2F2",
      Search: "https://wiki.example/?q=leaf1",
    }),
  );
  const dashboard = tab.page.getByRole("link", { name: "Dashboard" });
  expect(await dashboard.getAttribute("rel")).toBe("noopener noreferrer");
  expect(await dashboard.getAttribute("target")).toBe("_blank");
  expect(await tab.page.getByRole("link", { name: "Shell" }).getAttribute("target")).toBeNull();
});

test("what a device reports cannot lead to another scheme, host or path", async () => {
  await eventually("the links of the second device", async () =>
    expect(await outsideLinks(`devices:${deviceId(2)}`)).toEqual({
      Search: `https://wiki.example/?q=${encodeURIComponent(HOSTILE_NAME).replaceAll("(", "%28").replaceAll(")", "%29")}`,
    }),
  );
  await eventually("the links of the third device", async () =>
    expect(await outsideLinks(`devices:${deviceId(3)}`)).toEqual({ Search: "https://wiki.example/?q=.." }),
  );
  expect(tab.externalRequests).toEqual([]);
  expect(tab.errors).toEqual([]);
});

test("links and hosts have values of the devices at their ends", async () => {
  await eventually("the links of the link", async () =>
    expect(await outsideLinks(`links:${deviceId(1)}/3-${deviceId(3)}/2`)).toEqual({
      Graph: `https://grafana.example/l?a=leaf1&p=3&b=${encodeURIComponent(deviceId(3))}`,
    }),
  );
  await eventually("the links of the host", async () =>
    expect(await outsideLinks("hosts:02:00:00:00:00:01/None")).toEqual({
      Lease: "http://dhcp.example/192.0.2.7?switch=leaf1",
    }),
  );
});

test("a metric is chosen in the bar, and its values and its failure are shown", async () => {
  const { page } = tab;
  const link = `${deviceId(1)}/1-${deviceId(2)}/2`;
  prometheus.series.set("utilisation", [
    { metric: { instance: "10.9.0.1:9116", ifName: "1" }, value: 42.54 },
  ]);
  await tab.goto(`/?selected=${encodeURIComponent(`links:${link}`)}`);
  await page.getByRole("button", { name: "Metric on links" }).click();
  await page.getByRole("radio", { name: "Utilisation" }).check();
  await page.locator(".panel").getByText("42.5 %, leaf1").waitFor();
  // The other direction has no value. That is not zero.
  await page
    .locator(".panel")
    .getByText(/^no value, /)
    .waitFor();
  expect(page.url()).toContain("metric=Utilisation");
  expect(await page.locator(".metric-note").count()).toBe(0);

  prometheus.respond = () => new Response("", { status: 503 });
  const note = page.getByRole("alert").filter({ hasText: "Utilisation is not shown" });
  await note.waitFor();
  expect(await note.textContent()).toContain("/api/v1/query: responds with status 503.");
  await eventually("no value in the panel", async () =>
    expect(await page.locator(".panel").getByText("42.5 %").count()).toBe(0),
  );
  expect(await page.locator(".panel").getByText("no value").count()).toBe(0);

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(".popover").getByText("responds with status 503.").waitFor();
    expect([colorScheme, await audit(tab)]).toEqual([colorScheme, []]);
  }

  prometheus.respond = undefined;
  await page.locator(".panel").getByText("42.5 %, leaf1").waitFor();
  expect(await page.locator(".metric-note").count()).toBe(0);

  await page.getByRole("button", { name: "Undo: Utilisation on links" }).click();
  await eventually("no metric in the address", async () => expect(page.url()).not.toContain("metric="));
});

test("values are drawn on links and explained by a scale on the map; a failure draws nothing, not zero", async () => {
  const { page } = tab;
  const lineTextsAre = (count: number) =>
    eventually(`${count} texts on lines`, async () =>
      expect(await page.locator(".map").getAttribute("data-line-texts")).toBe(String(count)),
    );
  // The steps of a scale to 100 %: zero is the first, 42 the third.
  // The scale has a swatch of each colour too.
  const SWATCH_PIXELS = 16 * 6;
  const [zero, middle] = [PALETTES.dark.value1, PALETTES.dark.value3];
  const isDrawn = (colour: string, drawn: boolean) =>
    eventually(`${colour} to be ${drawn ? "drawn" : "gone"}`, async () =>
      expect((await countPixelsOf(tab, colour)) > SWATCH_PIXELS + 20).toBe(drawn),
    );
  const report = (value: number) =>
    prometheus.series.set("utilisation", [{ metric: { instance: deviceId(2), ifName: "2" }, value }]);
  await tab.goto("/");
  // The ports at both ends of both lines.
  await lineTextsAre(4);
  report(42.54);
  await tab.goto("/?metric=Utilisation");
  await isDrawn(middle, true);
  // One line has a value: the other one has no text and no colour.
  await lineTextsAre(5);
  expect(await countPixelsOf(tab, zero)).toBe(SWATCH_PIXELS);
  // The scale is on the map.
  const steps = page.getByRole("list", { name: "Colours of Utilisation" }).getByRole("listitem");
  await steps.first().waitFor();
  expect(await steps.allTextContents()).toEqual(["from 0%", "from 20%", "from 40%", "from 60%", "from 80%"]);

  prometheus.respond = () => new Response("", { status: 503 });
  await page.getByRole("alert").filter({ hasText: "Utilisation is not shown" }).waitFor();
  await steps.first().waitFor({ state: "detached" });
  await isDrawn(middle, false);
  expect(await countPixelsOf(tab, zero)).toBe(0);
  await lineTextsAre(4);

  prometheus.respond = undefined;
  report(0);
  await page
    .getByRole("alert")
    .filter({ hasText: "Utilisation is not shown" })
    .waitFor({ state: "detached" });
  await steps.first().waitFor();
  await isDrawn(zero, true);
  await lineTextsAre(5);
  expect(tab.errors).toEqual([]);
});

test("a metric without a link, and one that does not exist, are said to be so", async () => {
  const { page } = tab;
  prometheus.series.set("errors", [{ metric: { instance: "elsewhere", ifName: "1" }, value: 1 }]);
  await tab.goto("/?metric=Errors");
  await page.getByText(/Errors is not shown\. 0 links with a value.*such as elsewhere\./).waitFor();
  await tab.goto("/?metric=Nothing");
  await page.getByText("Nothing is not shown. Nothing is no metric of this service.").waitFor();
  expect(tab.errors).toEqual([]);
});
