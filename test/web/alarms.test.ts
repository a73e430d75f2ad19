/**
 * What is down, inactive or in conflict is never faded: a filter that it does not match, a path elsewhere and a metric
 * without a value for it change other devices and cables, and leave these as they were, pixel by pixel.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startPrometheusPeer } from "../map/prometheus-peer.ts";
import { needs } from "../support/needs.ts";
import type { Service } from "../support/service.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import {
  endsOf,
  openRows,
  type Patches,
  type PatchName,
  patchOf,
  readRows,
  startRows,
} from "./cable-rows.ts";

const hasChromium = needs("chromium");
const prometheus = startPrometheusPeer();
let service: Service;
let tab: BrowserTab;
/** With a panel, because that of a path makes the map narrower. */
let before: Patches;

beforeAll(async () => {
  if (!hasChromium) return;
  // A value for a cable that is inactive, and for a normal one. The cable in conflict has none.
  prometheus.series.set(
    "load",
    [endsOf("inactive"), endsOf("1G")].map(({ left }) => ({
      metric: { instance: left, ifName: "1" },
      value: 42,
    })),
  );
  const queries = [{ name: "Load", query: "load" }];
  service = await startRows({ metrics: [{ url: prometheus.url, intervalSeconds: 2, queries }] });
  tab = await openTab(service);
  await openRows(tab, "&changes=1");
  before = await readRows(tab);
});
afterAll(async () => {
  await tab?.close();
  await service?.stop();
  prometheus[Symbol.dispose]();
});

const ALARMS: readonly PatchName[] = ["inactive", "conflict", "down device"];
/** Of the mean difference of a pixel: one level of rounding, and what fading a thin line amounts to at least. */
const [SAME, CHANGED] = [1, 3];

const { left, right } = endsOf("1G");
test.skipIf(!hasChromium).each([
  // No device is a router.
  ["a filter", "&changes=1&type=ROUTER", ["10G", "10G device"]],
  ["a path", `&path=devices:${left}&path=devices:${right}`, ["10G", "10G device"]],
  ["a metric", "&changes=1&metric=Load", ["1G", "10G"]],
] as const)("%s fades no alarm", async (_, query, changed) => {
  await openRows(tab, query);
  await eventually("other devices and cables to change", async () => {
    const after = await readRows(tab);
    const differences = (names: readonly PatchName[]) =>
      names.map((name) => [name, patchOf(after, name).differenceTo(patchOf(before, name))] as const);
    expect(differences(changed).filter(([, difference]) => difference < CHANGED)).toEqual([]);
    expect(differences(ALARMS).filter(([, difference]) => difference > SAME)).toEqual([]);
  });
  expect(tab.errors).toEqual([]);
});
