/** What the configuration gives the map: read by users only, in every process, and replaced by a reload. */
import { expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type MapService, startMapService } from "./map-network.ts";

const LINK = { name: "Shell", kind: "device", url: "ssh://{managementAddress}" };
const VIEW = {
  name: "Core",
  state: "type=ROUTER",
  arrangement: { pins: [{ device: "router:R1", x: 10, y: -20 }] },
};
const SERVER = { url: "http://127.0.0.1:1", queries: [{ name: "Load", query: "up" }] };
const METRIC = { name: "Load", unit: "%", max: 100, intervalSeconds: 30 };

const settingsOf = async ({ service }: MapService) => (await service.fetch("/map/settings.json")).json();

test("links, views and the names of metrics are for users, with an entity tag", async () => {
  const { service } = await startMapService({ links: [LINK], views: [VIEW], metrics: [SERVER] });
  for (const path of ["/map/settings.json", "/map/metrics/Load"]) {
    expect((await fetch(service.url + path)).status).toBe(401);
    expect((await service.fetch(path, { method: "POST" })).status).toBe(405);
  }
  const response = await service.fetch("/map/settings.json");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({ links: [LINK], views: [VIEW], metrics: [METRIC] });
  const headers = { "if-none-match": response.headers.get("etag") ?? "" };
  expect((await service.fetch("/map/settings.json", { headers })).status).toBe(304);
  expect((await service.fetch("/map/nothing")).status).toBe(404);
  await service.stop();
});

test("without configuration there is nothing", async () => {
  const map = await startMapService({});
  expect(await settingsOf(map)).toEqual({ links: [], views: [], metrics: [] });
  expect((await map.service.fetch("/map/metrics/Load")).status).toBe(404);
  await map.service.stop();
});

test("a reload replaces them in all processes, and one with a fault changes nothing", async () => {
  const map = await startMapService({ links: [LINK] }, ["--readers", "2"]);
  const everywhere = async () => Promise.all(Array.from({ length: 8 }, () => settingsOf(map)));
  for (const settings of await everywhere()) expect(settings.links).toEqual([LINK]);
  map.configure({ links: [{ ...LINK, url: "javascript:alert(1)" }] });
  process.kill(map.service.pid, "SIGHUP");
  await until(() => map.service.stderr().includes("reload refused"), { what: "the refused reload" });
  expect(map.service.stderr()).toContain("links[0].url: must begin with http://");
  for (const settings of await everywhere()) expect(settings.links).toEqual([LINK]);
  map.configure({ views: [VIEW], metrics: [SERVER] });
  process.kill(map.service.pid, "SIGHUP");
  await until(() => map.service.stderr().includes("configuration reloaded"), { what: "the reload" });
  for (const settings of await everywhere())
    expect(settings).toEqual({ links: [], views: [VIEW], metrics: [METRIC] });
  expect(map.service.stderr()).not.toContain("restart needed");
  await map.service.stop();
});
