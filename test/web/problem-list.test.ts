/** The list of problems beside a past moment and with acknowledged problems. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
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
  file.write({ unavailable: [deviceId(11), deviceId(12)] });
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
beforeEach(async () => {
  if (hasChromium) tab = await openTab(service);
});
afterEach(() => tab?.close());
afterAll(() => file.remove());

const list = () => tab.page.locator("aside.problems");
const filter = (name: RegExp) => list().locator(".problem-filters").getByRole("button", { name });

test.skipIf(!hasChromium)("wall mode that is opened at a past moment shows now", async () => {
  const response = await service.fetch("/controller/v1/topology");
  await response.text();
  const revision = response.headers.get("gazetteer-revision");
  await tab.goto(`/?problems=1&at=${revision}&compare=${revision}`);
  await list().getByRole("button", { name: "Wall mode" }).click();
  await waitForUrlPart(tab, "wall=1");
  await tab.page.locator('.wall-bar .status[data-level="live"]').waitFor();
  const parameters = [...new URL(tab.page.url()).searchParams.keys()];
  expect(parameters.filter((name) => ["at", "compare", "play"].includes(name))).toEqual([]);
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasChromium)("the counts beside severities are of what the list shows", async () => {
  await tab.goto("/?problems=1");
  const countsAre = (critical: string, acknowledged: string) =>
    eventually("the counts", async () =>
      expect([
        await filter(/^Critical/)
          .locator(".count")
          .textContent(),
        await filter(/^With acknowledged/)
          .locator(".count")
          .textContent(),
      ]).toEqual([critical, acknowledged]),
    );
  await countsAre("2", "0");
  await list()
    .getByRole("button", { name: /^Acknowledge: / })
    .first()
    .click();
  await countsAre("1", "1");
  await filter(/^With acknowledged/).click();
  await countsAre("2", "1");
});
