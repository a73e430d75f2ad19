/** The page with networks of thousands of devices. */
import { expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { openTab } from "../../web/browser.ts";
import { counters } from "../../web/map-counters.ts";
import { drawAndSearch } from "../../web/network-of-size.ts";

const hasChromium = needs("chromium");

// From this size on, changes are drawn later than in the next frame.
test.skipIf(!hasChromium)("2,000 devices with 10,000 hosts are drawn and can be searched", () =>
  drawAndSearch(2000, 10_000, "clusters"),
);

test.skipIf(!hasChromium)("10,000 devices with 100,000 hosts are drawn and can be searched", () =>
  drawAndSearch(10_000, 100_000, "clusters"),
);

test.skipIf(!hasChromium)("updates of a large network encode a small part of it", async () => {
  const service = await startService({
    args: ["--data", ":memory:", "--demo=devices=1000,hosts=1000,churn=3"],
  });
  const tab = await openTab(service);
  await tab.goto("/");
  await tab.page.locator('.status[data-level="live"]').waitFor();
  let before = await counters(tab);
  const start = await until(
    async () => {
      const [now, last] = [await counters(tab), before];
      before = now;
      // The layout comes in parts: the first update after the last one encodes little.
      const isSmall = now.updates > last.updates && now.encoded - last.encoded < now.items / 20;
      return now.items > 2000 && isSmall ? now : undefined;
    },
    { what: "all devices and lines", deadlineMs: 120_000 },
  );
  const revision = async () =>
    Number((await service.fetch("/controller/v1/topology")).headers.get("Gazetteer-Revision"));
  const startRevision = await revision();
  const end = await until(
    async () => {
      const now = await counters(tab);
      return now.updates >= start.updates + 8 ? now : undefined;
    },
    { what: "eight updates", deadlineMs: 120_000 },
  );
  const revisions = (await revision()) - startRevision;
  expect(revisions).toBeGreaterThan(0);
  // Not by updates: how many changes are in one depends on the machine.
  expect((end.encoded - start.encoded) / revisions).toBeLessThan(60);
  await tab.close();
  await service.stop();
});
