/** At a low zoom a large network is drawn as cards, one for each group. No two of them overlap, at any zoom and after changes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PALETTES } from "../../../src/web/map/palette.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { type BrowserTab, eventually, openTab } from "../../web/browser.ts";
import {
  type DrawnCard,
  overlaps,
  readTexts,
  recordCards,
  straying,
  takeFrames,
} from "../../web/drawn-cards.ts";
import { difference, parseColour, readPatches, showGraphOnly } from "../../web/patches.ts";

const hasChromium = needs("chromium");
const path = join(temporaryFolder(), "network.json");
let service: Service;
let tab: BrowserTab;

const SITES = 50;
const DEVICES_OF_SITE = 20;

/**
 * Sites of a star each, in a ring. Every fifth site is close to the one before it, and the others are anywhere. With
 * `grown`, every third site has more devices.
 */
function network(grown: boolean) {
  const sites = Array.from({ length: SITES }, (_, n) => n);
  const place = (n: number): { latitude: number; longitude: number } => {
    if (n % 5 === 4) {
      const { latitude, longitude } = place(n - 1);
      return { latitude: latitude + 0.2, longitude: longitude + 0.1 };
    }
    return { latitude: 35 + ((n * 37) % 101) / 5, longitude: -9 + ((n * 53) % 97) / 3 };
  };
  const id = (site: number, n: number) => `site${site}-${n}`;
  const devices = sites.flatMap((site) =>
    Array.from({ length: DEVICES_OF_SITE + (grown && site % 3 === 0 ? 15 : 0) }, (_, n) => ({
      id: id(site, n),
      type: "SWITCH",
      available: n !== 1 || site % 7 !== 0,
      annotations: {
        site: `site${site}`,
        latitude: String(place(site).latitude),
        longitude: String(place(site).longitude),
      },
    })),
  );
  const used = new Map<string, number>();
  const freePort = (device: string) => {
    used.set(device, (used.get(device) ?? 0) + 1);
    return { device, port: String(used.get(device)) };
  };
  const cable = (a: string, b: string) => {
    const [src, dst] = [freePort(a), freePort(b)];
    return [
      { src, dst },
      { src: dst, dst: src },
    ];
  };
  const links = [
    // First, so that they stay at their ports when a site has more devices.
    ...sites.flatMap((site) => cable(id(site, 0), id((site + 1) % sites.length, 0))),
    ...devices.flatMap(({ id: own, annotations: { site } }) =>
      own.endsWith("-0") ? [] : cable(`${site}-0`, own),
    ),
  ];
  return { devices, links, ports: [], hosts: [] };
}
const write = (grown: boolean) => writeFileSync(path, JSON.stringify(network(grown)));

/** Resolves when all devices and lines are there. */
async function grow(): Promise<void> {
  write(true);
  const { devices, links } = network(true);
  const items = String(devices.length + links.length / 2);
  await tab.page.locator(`.map[data-items="${items}"]`).waitFor();
}

beforeAll(async () => {
  if (!hasChromium) return;
  write(false);
  const config = join(temporaryFolder(), "gazetteer.yaml");
  writeFileSync(config, JSON.stringify({ sources: [{ type: "file", path }] }));
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
  // Small, so that there is no room for the devices.
  tab = await openTab(service, { viewport: { width: 800, height: 600 } });
});
afterAll(async () => {
  await tab?.close();
  await service?.stop();
});

/** Waits for a frame after `act`. Returns the cards of the last one, after all frames since then were checked. */
async function cardsAfter(
  what: string,
  act: () => Promise<void>,
  isAwaited: (cards: readonly DrawnCard[]) => boolean = () => true,
): Promise<readonly DrawnCard[]> {
  await takeFrames(tab);
  await act();
  const frames: (readonly DrawnCard[])[] = [];
  await eventually(`cards after ${what}`, async () => {
    frames.push(...(await takeFrames(tab)));
    expect(frames.slice(-1).some(isAwaited)).toBe(true);
  });
  expect([what, frames.flatMap(overlaps)]).toEqual([what, []]);
  return frames.at(-1) ?? [];
}

const all = (cards: readonly DrawnCard[]): boolean => cards.length === SITES;
const press = (key: string) =>
  cardsAfter(`the key ${key}`, () => tab.page.locator(".map-focus").press(key), all);

test.skipIf(!hasChromium)("cards never overlap, at several zooms and while the network grows", async () => {
  await recordCards(tab);
  const first = await cardsAfter("the start", () => tab.goto("/"), all);
  // Not all of them are so small that they could not overlap.
  expect(Math.max(...first.map(({ height }) => height))).toBeGreaterThan(16);
  await expectDrawn(first);
  await expectTexts(first);
  const far = await press("-");
  // The devices are there before they are arranged.
  const isArranged = (cards: readonly DrawnCard[]) => all(cards) && !Bun.deepEquals(cards, far);
  const grown = await cardsAfter("a change", grow, isArranged);
  await expectDrawn(grown);
  // In, until there is room for the devices.
  await tab.page.locator(".map").hover();
  let steps = 0;
  while ((await cardsAfter("the wheel", () => tab.page.mouse.wheel(0, -60))).length > 0) steps++;
  expect(steps).toBeGreaterThan(2);
  expect(await tab.page.locator(".map").getAttribute("data-detail")).toBe("devices");
  // Only a part of the network is in view, and then none of it.
  const inset = tab.page.locator(".inset");
  await inset.waitFor();
  const wayBack = tab.page.getByRole("button", { name: "Back to the network" });
  expect(await wayBack.count()).toBe(0);
  for (let step = 0; step < 4; step++) await tab.page.mouse.wheel(0, -400);
  await inset.click({ position: { x: 8, y: 8 } });
  await wayBack.waitFor();
  await cardsAfter("the way back", () => wayBack.click(), all);
  await inset.waitFor({ state: "detached" });
  // No device is a router, so that all cards are faded except those with a fault.
  await tab.goto("/?type=ROUTER");
  await eventually("the matches on the cards", async () => {
    const texts = (await readTexts(tab)).map(({ text }) => text);
    expect(texts.filter((text) => /\b0 of \d+/.test(text)).length).toBeGreaterThan(10);
  });
  expect(tab.errors).toEqual([]);
});

/** Names, numbers and faults are inside their cards. */
async function expectTexts(cards: readonly DrawnCard[]): Promise<void> {
  const texts = await readTexts(tab);
  expect(texts.length).toBeGreaterThan(SITES / 2);
  expect(straying(texts, cards)).toEqual([]);
  const words = texts.map(({ text }) => text).join(" ");
  expect(words).toContain("site3");
  expect(words).toContain(String(DEVICES_OF_SITE));
  expect(words).toContain("1 down");
}

/** What was read from WebGL is what is seen: the largest cards have their fill inside, and end where their border is. */
async function expectDrawn(cards: readonly DrawnCard[]): Promise<void> {
  const box = await tab.page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  await showGraphOnly(tab);
  const largest = cards.toSorted((p, q) => q.width * q.height - p.width * p.height).slice(0, 3);
  const fills = [PALETTES.dark.nodeFill, PALETTES.dark.downFill].map(parseColour);
  const pixel = ({ x, y, width }: DrawnCard, fromEdge: number) => ({
    x: Math.round(box.width / 2 + x + width / 2 - fromEdge),
    y: Math.round(box.height / 2 - y),
    width: 1,
    height: 1,
  });
  const boxes = new Map(
    largest.flatMap((card, i) => [
      [`${i} inside`, pixel(card, 6)],
      [`${i} border`, pixel(card, 1)],
    ]),
  );
  await eventually("the cards to be drawn", async () => {
    const patches = await readPatches(tab, boxes);
    const isFill = [...patches].map(([name, patch]) => [
      name,
      fills.some((fill) => difference(patch.at(0, 0), fill) < 12),
    ]);
    expect(isFill).toEqual([...boxes.keys()].map((name) => [name, name.endsWith("inside")]));
  });
}
