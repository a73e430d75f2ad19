/** Cables on the map: bundles, port names and speeds, the hover card, and what is loaded for them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type BrowserTab, openTab, waitForUrlPart } from "../../web/browser.ts";
import { createNetworkFile, deviceId } from "../../web/network-file.ts";

const hasChromium = needs("chromium");
const file = createNetworkFile();
let service: Service;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasChromium) return;
  file.write({ doubleLinks: ["spine1-leaf1"] });
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  tab = await openTab(service);
});
afterAll(async () => {
  await tab?.close();
  file.remove();
});

async function centreOfMap(): Promise<{ x: number; y: number }> {
  const box = await tab.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const card = (kind: string) => tab.page.locator(`.hover-card[data-kind="${kind}"]`);

async function hoverCentre(kind: string): Promise<string> {
  const { x, y } = await centreOfMap();
  await tab.page.mouse.move(x + 30, y + 30);
  await tab.page.mouse.move(x, y);
  await card(kind).waitFor();
  expect(await card(kind).locator("dt").count()).toBe(5);
  return (await card(kind).textContent()) ?? "";
}

test.skipIf(!hasChromium)(
  "a device under the pointer shows five facts, and ports are loaded once for each device in view",
  async () => {
    const requested: string[] = [];
    tab.page.on("request", (request) => {
      if (request.url().endsWith("/ports")) requested.push(request.url());
    });
    await tab.goto(`/?path=devices:${deviceId(12)}&path=devices:${deviceId(12)}`);
    await waitForUrlPart(tab, "camera=");
    const text = await hoverCentre("devices");
    expect(text).toContain("leaf2");
    expect(text).toContain("Management10.9.0.12");
    expect(text).toContain("Cables2");
    expect(text).toContain("Hosts2");
    const lineTexts = async () => Number(await tab.page.locator(".map").getAttribute("data-line-texts"));
    await until(async () => (await lineTexts()) > 0, { what: "the names of ports" });
    await until(() => requested.length > 0, { what: "the ports to be loaded" });
    expect(new Set(requested).size).toBe(requested.length);
    expect(requested.length).toBeLessThanOrEqual(6);
  },
);

test.skipIf(!hasChromium)(
  "two cables between two devices are one line, and clicks select one after the other",
  async () => {
    // Between the two devices of the path is nothing but their line.
    await tab.goto(`/?path=devices:${deviceId(1)}&path=devices:${deviceId(11)}`);
    await waitForUrlPart(tab, "camera=");
    await until(async () => (await hoverCentre("links")).includes("Speed10G"), {
      what: "the speed of the ports",
      deadlineMs: 60_000,
    });
    const text = await hoverCentre("links");
    expect(text).toContain("spine1 – leaf1");
    expect(text).toContain("2 cables");
    expect(text).toContain("Portseth1 – eth1");
    // 6 devices and 8 lines for 9 cables.
    expect(await tab.page.locator(".map").getAttribute("data-items")).toBe("14");
    await tab.page.getByText("6 devices, 9 cables").waitFor();
    const { x, y } = await centreOfMap();
    const selected = () => new URL(tab.page.url()).searchParams.get("selected");
    await tab.page.mouse.click(x, y);
    const first = await until(selected, { what: "the first cable" });
    expect(first).toStartWith("links:");
    await until(
      async () => {
        // The panel is open now, and has not moved the network.
        await tab.page.mouse.click(x, y);
        return until(() => selected() !== first, { what: "another cable", deadlineMs: 5000 }).catch(
          () => false,
        );
      },
      { what: "the second cable", deadlineMs: 60_000 },
    );
    expect(selected()).toStartWith("links:");
    expect(tab.errors).toEqual([]);
  },
);
