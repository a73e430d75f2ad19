import { expect, spyOn, test } from "bun:test";
import { sampleCable, sampleHost, sampleNetwork } from "../../../test/support/page-network.ts";
import { device } from "../../../test/support/sample-network.ts";
import { finish } from "../../../test/support/scene-input.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { devicesCutOffBy, findParts, outsideLargest } from "./cut-off.ts";
import type { PageNetwork } from "./page-network.ts";

type Pairs = Parameters<typeof findParts>[1];

const outside = (parts: Parameters<typeof outsideLargest>[0], network: PageNetwork, lost: Pairs = []) =>
  [...finish(outsideLargest(parts, network, lost))].sort();

const search = (network: PageNetwork, lost: Pairs = []): string[] =>
  outside(finish(findParts(network, lost)), network, lost);

/** The chain a – b – c – d with one host on `a` and one on `c`, where `d` is up. */
function chain(): PageNetwork {
  const network = sampleNetwork();
  network.set({ resource: "devices", value: device("d") });
  return network;
}

const setDown = (network: PageNetwork, id: string) =>
  network.set({ resource: "devices", value: device(id, { available: false }) });

test("what a device that is down separates from the largest part is cut off", () => {
  const network = chain();
  expect(search(network)).toEqual([]);
  setDown(network, "b");
  // Both parts have one host; the one with more devices is the largest.
  expect(search(network)).toEqual(["a"]);
  setDown(network, "c");
  expect(search(network)).toEqual(["d"]);
});

test("hosts decide which of the same parts is the largest", () => {
  const network = chain();
  setDown(network, "b");
  const parts = finish(findParts(network, []));
  expect(outside(parts, network)).toEqual(["a"]);
  const value = sampleHost("02:00:00:00:00:03", "a/8");
  network.openedHosts.apply({ event: "added", value, revision: 2 });
  expect(outside(parts, network)).toEqual(["c", "d"]);
});

test("inactive and lost cables cut off; what was never joined is separate", () => {
  const network = chain();
  network.set({ resource: "devices", value: device("e") });
  expect(search(network)).toEqual([]);
  for (const value of sampleCable("c/2", "d/1", { state: "INACTIVE" }))
    network.set({ resource: "links", value });
  expect(search(network)).toEqual(["d"]);
  for (const id of ["c/2-d/1", "d/1-c/2"]) network.remove("links", id);
  expect(search(network)).toEqual([]);
  expect(search(network, [["c", "d"]])).toEqual(["d"]);
  expect(search(network, [["e", "unknown"]])).toEqual([]);
});

test("parts are found only in a network with a fault", () => {
  const network = chain();
  using cablesOf = spyOn(network, "cablesOf");
  expect(search(network)).toEqual([]);
  expect(cablesOf).not.toHaveBeenCalled();
  setDown(network, "b");
  expect(search(network)).toEqual(["a"]);
  expect(cablesOf).toHaveBeenCalled();
});

test("the state is that of all networks of the same moment, and raises their version", () => {
  const network = chain();
  const copy = network.withHosts(new Map());
  const version = copy.version;
  setDown(network, "b");
  network.setCutOff(new Set(["a"]));
  expect(copy.version).toBeGreaterThan(version);
  expect(["a", "b", "c"].map((id) => network.stateOf(network.devices.get(id) ?? device(id)))).toEqual([
    "cut off",
    "down",
    "up",
  ]);
  expect(copy.stateOf(device("a"))).toBe("cut off");
});

test("devices that the service does not list are found behind the listed ones, not before the cause", () => {
  const network = chain();
  for (const value of sampleCable("d/2", "e/1")) network.set({ resource: "links", value });
  network.set({ resource: "devices", value: device("e") });
  setDown(network, "c");
  network.setCutOff(new Set(["d", "e"]));
  const problem = (deviceCount: number, link?: NetworkProblem["link"]): NetworkProblem => ({
    id: "device-unavailable:c",
    severity: "critical",
    kind: "device-unavailable",
    since: "2026-11-15T03:12:00.000Z",
    resource: "devices",
    devices: ["c"],
    sources: [],
    text: "",
    cutOff: { devices: ["c", "d"], deviceCount, hostCount: 0 },
    consequences: 0,
    ...(link && { link }),
  });
  expect([...devicesCutOffBy(problem(2), network)]).toEqual(["c", "d"]);
  expect([...devicesCutOffBy(problem(3), network)].sort()).toEqual(["c", "d", "e"]);
});
