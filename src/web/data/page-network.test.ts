import { expect, test } from "bun:test";
import { sampleCable, sampleNetwork } from "../../../test/support/page-network.ts";
import { device } from "../../../test/support/sample-network.ts";
import type { NetworkEntity, PageNetwork } from "./page-network.ts";
import { createPlannedNetworks } from "./page-network.ts";

const links = (a: string, b: string, fields = {}): NetworkEntity[] =>
  sampleCable(a, b, fields).map((value) => ({ resource: "links", value }));
const PLANNED: readonly NetworkEntity[] = [
  { resource: "devices", value: device("e") },
  ...links("d/2", "e/1"),
];
const content = ({ devices, links, cables }: PageNetwork) => ({ devices, links, cables });

test("one copy follows the network, and is what a new copy would be", () => {
  const network = sampleNetwork();
  const plannedNetworks = createPlannedNetworks();
  const copy = plannedNetworks(network, PLANNED);
  expect(copy.devices.has("e")).toBe(true);
  const [forward, reverse] = sampleCable("d/2", "e/1", { state: "INACTIVE" });
  const [, chain] = sampleCable("a/1", "b/1");
  const changes: ((network: PageNetwork) => void)[] = [
    (network) => network.set({ resource: "devices", value: device("a", { available: false }) }),
    (network) => network.remove("devices", "b"),
    (network) => network.remove("links", chain.id),
    // What is planned appears, one direction first, and disappears again.
    (network) => network.set({ resource: "devices", value: device("e", { available: false }) }),
    (network) => network.set({ resource: "links", value: forward }),
    (network) => network.set({ resource: "links", value: reverse }),
    (network) => network.remove("links", forward.id),
    (network) => network.remove("links", reverse.id),
    (network) => network.remove("devices", "e"),
  ];
  for (const change of changes) {
    const before = copy.version;
    change(network);
    expect(plannedNetworks(network, [...PLANNED])).toBe(copy);
    expect(copy.version).toBeGreaterThan(before);
    expect(content(copy)).toEqual(content(createPlannedNetworks()(network, PLANNED)));
  }
});

test("another plan is another copy, without a plan it is the network, and the old copy is left alone", () => {
  const network = sampleNetwork();
  const plannedNetworks = createPlannedNetworks();
  const copy = plannedNetworks(network, PLANNED);
  expect(plannedNetworks(network, PLANNED.slice(0, 1))).not.toBe(copy);
  expect(plannedNetworks(network, [])).toBe(network);
  network.remove("devices", "a");
  expect(copy.devices.has("a")).toBe(true);
});
