/** The map as a person uses it: find, look closer, see a cable cut, go back, compare, share. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import {
  addressContains,
  changedShare,
  eventually,
  inkOfMap,
  pictureOfMap,
  type Visit,
  visit,
} from "./browser.ts";
import { createNetworkFile, HOSTILE, id } from "./network-file.ts";
import { layCable } from "./tcp-proxy.ts";

const here = needs("chromium");
const file = createNetworkFile();
let service: Service;
let person: Visit;

beforeAll(async () => {
  if (!here) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
  person = await visit(service);
});
afterAll(async () => {
  await person?.close();
  file.remove();
});

const panel = () => person.page.locator("aside.panel");
const summary = () => person.page.locator(".map-summary");

async function search(words: string): Promise<void> {
  await person.page.keyboard.press("/");
  await person.page.keyboard.type(words);
  await person.page.locator(".search-hit").first().waitFor();
  await person.page.keyboard.press("Enter");
}

test.skipIf(!here)("opens with the network on it, laid out", async () => {
  await person.goto("/");
  await summary().getByText("6 devices, 8 cables, 8 hosts", { exact: true }).waitFor();
  await eventually("the network to be drawn", async () => {
    const ink = await inkOfMap(person);
    expect(ink.share).toBeGreaterThan(0.002);
    expect(ink.fields).toBeGreaterThan(12);
    expect(ink.red).toBeLessThan(0.0001);
  });
  await person.page.locator('.status[data-level="live"]').waitFor();
});

test.skipIf(!here)(
  "what is not loaded yet is not counted as none, and is found once it is there",
  async () => {
    const guest = await visit(service);
    const { page } = guest;
    let gate = Promise.withResolvers<void>();
    await page.route(/\/controller\/v1\/hosts\b|\/readyz$/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await guest.goto("/");
    await page.locator(".map-summary", { hasText: /^6 devices, 8 cables, loading hosts…$/ }).waitFor();
    expect(await page.locator('.tabs a[data-view="hosts"]').textContent()).toBe("Hosts");
    await page.locator(".status button").click();
    await page.locator(".status").getByText("Loading sources…").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("192.0.2.123");
    await page.locator(".search-hits").getByText("Loading…").waitFor();
    gate.resolve();
    await page.locator(".search-hit").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".map-summary", { hasText: /^6 devices, 8 cables, 8 hosts$/ }).waitFor();
    await page.locator('.tabs a[data-view="hosts"]', { hasText: "Hosts8" }).waitFor();
    gate = Promise.withResolvers<void>();
    await page.goto(`${service.url}/?view=hosts`);
    await page.locator(".table-bar").getByText("Loading…", { exact: true }).waitFor();
    gate.resolve();
    await page.locator(".table-bar").getByText("8 rows", { exact: true }).waitFor();
    expect(guest.troubles).toEqual([]);
    await guest.close();
  },
);

test.skipIf(!here)("an IP leads to the port it hangs on", async () => {
  await search("192.0.2.123");
  await panel().getByText("On leaf2 port 3").waitFor();
  await panel().getByText("3 · eth3").waitFor();
  await addressContains(person, "selected=hosts:02:00:00:00:01:03/None");
});

test.skipIf(!here)("a block of addresses finds all in it", async () => {
  await person.page.keyboard.press("/");
  await person.page.keyboard.type("192.0.2.112/29");
  await until(async () => (await person.page.locator(".search-hit").count()) === 2, { what: "two hits" });
  await person.page.keyboard.press("Escape");
  await person.page.keyboard.press("Escape");
});

test.skipIf(!here)("a device shows its ports, links, hosts and history", async () => {
  await search("leaf1");
  await panel().getByRole("heading", { name: "leaf1" }).waitFor();
  const row = panel().locator("table.ports tr", { hasText: "spine1/1" });
  await row.locator("th", { hasText: /^1$/ }).waitFor();
  await panel().locator("table.ports tr", { hasText: "pc-11-3" }).waitFor();
  await panel().locator(".history li, .lazy .muted").first().waitFor();
});

test.skipIf(!here)("a click on the map picks what is under it, and its hosts unfold on demand", async () => {
  // A way of no steps: the one device on it stands in the middle of the map.
  await person.goto(`/?path=devices:${id(13)}&path=devices:${id(13)}`);
  await until(() => person.page.url().includes("camera="), { what: "the camera to come close" });
  const box = await person.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  await until(
    async () => {
      await person.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      return person.page.url().includes(`selected=devices:${id(13)}`);
    },
    { what: "the click to pick leaf3", everyMs: 500 },
  );
  await panel().getByRole("heading", { name: "leaf3" }).waitFor();
  const ink = await inkOfMap(person);
  await panel().getByRole("button", { name: "2 hosts" }).click();
  await until(() => person.page.url().includes(`hosts=${id(13)}`), { what: "the address to follow" });
  await until(async () => (await inkOfMap(person)).share !== ink.share, { what: "the hosts to be drawn" });
  await person.page.locator(".map-focus").press("Escape");
  await until(() => !person.page.url().includes("selected="), { what: "nothing to be selected" });
});

test.skipIf(!here)("a cut cable is seen as it happens, on the map and in the list of changes", async () => {
  await person.goto("/?changes=1");
  file.write({ cut: ["spine1-leaf2"] });
  await person.page.getByText("6 devices, 8 cables (1 inactive), 8 hosts").waitFor();
  const line = panel().locator(".changes li", { hasText: "link went down" });
  await line.first().waitFor();
  expect(await line.count()).toBe(1);
  await until(async () => (await inkOfMap(person)).red > 0.0001, { what: "a red dashed line" });
  await line.getByRole("link").click();
  await panel().getByText("Inactive", { exact: true }).waitFor();
});

test.skipIf(!here)("a change leaves every other device where it was", async () => {
  await person.goto("/");
  await person.page.getByText("6 devices, 8 cables (1 inactive), 8 hosts").waitFor();
  const before = await pictureOfMap(person);
  file.write({ cut: ["spine1-leaf2"], without: [id(14)] });
  await person.page.getByText("5 devices, 6 cables (1 inactive), 6 hosts").waitFor();
  file.write({ cut: ["spine1-leaf2"] });
  await person.page.getByText("6 devices, 8 cables (1 inactive), 8 hosts").waitFor();
  const moved = async () => changedShare(person, before, await pictureOfMap(person));
  await until(async () => (await moved()) < 0.0005, { what: "the same picture" });
});

test.skipIf(!here)("the past is a drag away, and Now comes back", async () => {
  await person.goto("/");
  const track = person.page.locator(".track");
  const box = await track.boundingBox();
  if (!box) throw new Error("no time line");
  await choose15Minutes();
  // The moment between the first device and the first cut. The line moves on while it is looked at, so where that moment
  // lies on it is found by halving; the service, not the picture, says on which side a moment is.
  let [early, late] = [0, 1];
  for (;;) {
    expect(late - early).toBeGreaterThan(0.0001);
    const share = (early + late) / 2;
    await person.page.mouse.click(box.x + box.width * share, box.y + 20);
    const found = await networkAt(await momentInAddress());
    if (found.devices === 6 && found.inactive === 0) break;
    if (found.inactive > 0) late = share;
    else early = share;
    await backToNow();
  }
  await person.page.getByText("6 devices, 8 cables, 8 hosts").waitFor();
  await person.page.locator('.status[data-level="past"]').waitFor();
  await person.page.getByRole("button", { name: "Now", exact: true }).click();
  await person.page.getByText("6 devices, 8 cables (1 inactive), 8 hosts").waitFor();
});

async function choose15Minutes(): Promise<void> {
  const [response] = await Promise.all([
    person.page.waitForResponse((answer) => answer.url().includes("timeline=")),
    person.page.locator("select.span").selectOption("15min"),
  ]);
  const { from, to } = await response.json();
  expect(to - from).toBeGreaterThan(0);
}

async function momentInAddress(): Promise<string> {
  const moment = () => new URL(person.page.url()).searchParams.get("at");
  return until(moment, { what: "the moment in the address" });
}

async function networkAt(at: string): Promise<{ devices: number; inactive: number }> {
  const list = async (name: string): Promise<{ state?: string }[]> => {
    const answer = await service.fetch(`/controller/v1/${name}?at=${encodeURIComponent(at)}`);
    // Refused: the moment, in whole seconds, is before the first record.
    return answer.ok ? (await answer.json())[name] : [];
  };
  const [devices, links] = [await list("devices"), await list("links")];
  return {
    devices: devices.length,
    inactive: links.filter((link) => link.state === "INACTIVE").length,
  };
}

async function backToNow(): Promise<void> {
  await person.page.getByRole("button", { name: "Now", exact: true }).click();
  await until(() => !/[?&]at=/.test(person.page.url()), { what: "no moment in the address" });
}

test.skipIf(!here)("two moments are compared in place, and the shared address shows the same", async () => {
  const at = new Date(Date.now() + 1000).toISOString().slice(0, 19);
  await until(() => Date.now() > Date.parse(`${at}Z`) + 1000, { what: "the second to pass" });
  file.write({ cut: ["spine1-leaf2"], without: [id(14)] });
  await person.goto(`/?compare=${at}Z`);
  await panel().getByText("went away").or(panel().getByText("is gone")).first().waitFor();
  await person.page.getByText(/0 added, \d+ removed, \d+ changed/).waitFor();
  // What is gone is still drawn, so that one sees where it was.
  await summary()
    .getByText(/^6 devices/)
    .waitFor();
  const address = person.page.url();
  const again = await visit(service);
  await again.goto(address.slice(service.url.length));
  await again.page.getByText(/0 added, \d+ removed, \d+ changed/).waitFor();
  await again.close();
  file.write();
});

test.skipIf(!here)("the way between two things", async () => {
  await person.goto("/");
  await search("192.0.2.113");
  await panel().getByRole("button", { name: "Path from here" }).click();
  await search("192.0.2.133");
  await panel().getByText("2 hops").waitFor();
  expect(await panel().locator(".way li").allTextContents()).toHaveLength(3);
  await addressContains(person, "path=hosts:");
});

test.skipIf(!here)("a neighbourhood of N hops", async () => {
  await person.goto(`/?around=${id(11)}`);
  const chip = person.page.locator(".chip", { hasText: "Within 1 hop of leaf1" });
  await chip.waitFor();
  await chip.getByRole("button", { name: "One hop more" }).click();
  await person.page.locator(".chip", { hasText: "Within 2 hops of leaf1" }).waitFor();
  await addressContains(person, "hops=2");
});

test.skipIf(!here)("filters let what matches stand out", async () => {
  file.write({ cut: ["spine2-leaf3"] });
  await person.goto("/");
  await person.page.getByText("(1 inactive)").waitFor();
  await person.page.getByRole("button", { name: "Filter" }).click();
  const choice = person.page.locator("label.check", { hasText: "Link inactive" });
  await choice.locator(".count", { hasText: /^1$/ }).waitFor();
  await choice.locator("input").check();
  await until(() => person.page.url().includes("state=inactive"), { what: "the filter in the address" });
  await person.page.locator(".chip", { hasText: "Link inactive" }).waitFor();
});

test.skipIf(!here)("names that are markup stay text, and nothing but the service was contacted", async () => {
  await person.goto(`/?selected=devices:${id(14)}&hosts=${id(14)}`);
  await panel().getByRole("heading", { name: HOSTILE }).waitFor();
  await person.goto("/?view=devices");
  await person.page.getByRole("gridcell", { name: HOSTILE }).first().waitFor();
  expect(await person.page.title()).not.toContain("harmed");
  expect(await person.page.locator("img").count()).toBe(0);
  expect(person.outside).toEqual([]);
  expect(person.troubles).toEqual([]);
});

test.skipIf(!here)("a stale source is named, and a lost connection heals without a reload", async () => {
  const cable = await layCable(service.url);
  const guest = await visit({ ...service, url: cable.url });
  const { page } = guest;
  try {
    await guest.goto("/");
    file.spoil();
    await page.locator('.status[data-level="stale"]').waitFor();
    await page.locator(".status button").click();
    await page.locator(".sources .bad", { hasText: "racks" }).waitFor();
    await page.keyboard.press("Escape");
    await cable.pull();
    await page.locator('.status[data-level="lost"]').waitFor();
    file.write({ cut: ["spine1-leaf1", "spine2-leaf1"] });
    await cable.plug();
    await page.locator('.status[data-level="live"]').waitFor();
    await page.getByText("(2 inactive)").waitFor();
  } finally {
    await guest.close();
    await cable.pull();
  }
});
