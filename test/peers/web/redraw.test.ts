/** What a live change costs the map: only what changed is encoded again, and a frame is drawn only if something is seen. */
import { expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type BrowserTab, openTab } from "../../web/browser.ts";
import { counters } from "../../web/map-counters.ts";
import { createNetworkFile, deviceId } from "../../web/network-file.ts";

const hasChromium = needs("chromium");

/** Waits until the counters do not change for some frames: the ports are loaded then, and the widths are set. */
async function settledCounters(tab: BrowserTab): Promise<Awaited<ReturnType<typeof counters>>> {
  let last = "";
  return until(
    async () => {
      const before = last;
      await tab.page.evaluate(async () => {
        for (let frame = 0; frame < 30; frame++) await new Promise((next) => requestAnimationFrame(next));
      });
      const now = await counters(tab);
      last = JSON.stringify(now);
      return last === before ? now : undefined;
    },
    { what: "no more updates", deadlineMs: 120_000 },
  );
}

test.skipIf(!hasChromium)("a link that goes down encodes one line, and a selection one device", async () => {
  const file = createNetworkFile();
  const service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  const tab = await openTab(service);
  try {
    await tab.goto("/");
    await tab.page.locator('.status[data-level="live"]').waitFor();
    const start = await settledCounters(tab);
    expect(start.items).toBe(14);
    file.write({ inactiveLinks: ["spine1-leaf2"] });
    await tab.page.getByText("(1 down)").waitFor();
    await until(async () => (await counters(tab)).encoded > start.encoded, {
      what: "the line to be encoded",
    });
    const changed = await settledCounters(tab);
    // The line, again as the cause of a problem, and the card of its cluster, which counts it.
    expect(changed.encoded - start.encoded).toBeLessThanOrEqual(3);
    await tab.page.keyboard.press("/");
    await tab.page.keyboard.type("leaf1");
    await tab.page.locator(".search-hit").first().waitFor();
    await tab.page.keyboard.press("Enter");
    await until(async () => (await counters(tab)).encoded > changed.encoded, { what: "the selection" });
    const selected = await settledCounters(tab);
    // The device, and the card of its cluster, which is drawn at a low zoom.
    expect(selected.encoded - changed.encoded).toBeLessThanOrEqual(2);
    file.write({ inactiveLinks: ["spine1-leaf2"], removedDevices: [deviceId(14)] });
    await tab.page.getByText("5 devices").waitFor();
    await until(async () => (await counters(tab)).items === 11, {
      what: "the device and its lines to be removed",
    });
    expect(tab.errors).toEqual([]);
  } finally {
    await tab.close();
    await service.stop();
    file.remove();
  }
});

test.skipIf(!hasChromium)("a host that moves is drawn only where the numbers of hosts are seen", async () => {
  const file = createNetworkFile();
  const addedLeaves = Array.from({ length: 60 }, (_, i) => 15 + i);
  file.write({ addedLeaves });
  const service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  const tab = await openTab(service);
  try {
    await tab.goto("/");
    await tab.page.locator('.status[data-level="live"]').waitFor();
    const small = await settledCounters(tab);
    const counted = tab.page.waitForResponse(/hosts.*count=device/);
    file.write({ addedLeaves, movedHosts: { "02:00:00:00:00:03": 12 } });
    await counted;
    expect(await settledCounters(tab)).toEqual(small);
    await tab.goto(`/?camera=0,0,300,${deviceId(12)}`);
    await tab.page.locator('.status[data-level="live"]').waitFor();
    const large = await settledCounters(tab);
    file.write({ addedLeaves });
    await until(async () => (await counters(tab)).frames > large.frames, { what: "the number of hosts" });
    expect(tab.errors).toEqual([]);
  } finally {
    await tab.close();
    await service.stop();
    file.remove();
  }
});
