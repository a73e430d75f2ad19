/**
 * The bridge, under the harshest reading: switches that flood everything and learn nothing. Whatever the shape of the
 * network, a broadcast reaches every host exactly once, and goes on doing so as the network changes.
 */
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { until } from "../../support/until.ts";
import { addHostToEachSwitch, type EmulatedHost } from "./emulated-host.ts";
import { PlainBridge } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line, ring, type SwitchPair, torus } from "./topologies.ts";

const started = new TestResources();
afterEach(() => started.close());

async function bridged(
  built: BuiltNetwork,
  options: Parameters<typeof startSource>[0] = {},
): Promise<[RunningSource, EmulatedHost[]]> {
  const source = await started.startSource({ settleMs: 100, ...options });
  const hosts = addHostToEachSwitch(built.net);
  await started.connect(built.net, source.port);
  return [source, hosts];
}

/** Each host broadcasts once: how often each other host hears it. */
function broadcastCounts(built: BuiltNetwork, hosts: readonly EmulatedHost[]): number[] {
  for (const host of hosts) host.broadcastsReceived.clear();
  built.net.deliveries = 0;
  for (const host of hosts) host.announce();
  return hosts.flatMap((host) =>
    hosts.filter((other) => other !== host).map((other) => host.broadcastsReceived.get(other.mac) ?? 0),
  );
}

/** Until every broadcast reaches every host; on the way there none may be heard twice. */
async function everyoneHearsOnce(built: BuiltNetwork, hosts: readonly EmulatedHost[]): Promise<void> {
  let most = 0;
  await until(
    () => {
      const counts = broadcastCounts(built, hosts);
      most = Math.max(most, ...counts);
      return most > 1 || counts.every((count) => count === 1);
    },
    { what: "every host to hear every other", deadlineMs: 20_000, everyMs: 50 },
  );
  expect(most).toBe(1);
}

describe("a broadcast reaches every host exactly once", () => {
  const shapes: [string, number, SwitchPair[]][] = [
    ["in a line", 4, line(4)],
    ["in a ring", 5, ring(5)],
    ["in a torus", 16, torus(4, 4)],
    ["over parallel wires", 2, [[1, 2], [1, 2], [1, 2]]],
    ["with a switch wired to itself", 2, [[1, 2], [1, 1]]],
    ["where all are wired to all", 6, [1, 2, 3, 4, 5, 6].flatMap((a) => [1, 2, 3, 4, 5, 6].filter((b) => b > a).map((b): SwitchPair => [a, b]))],
  ]; // biome-ignore format: a table
  for (const [name, count, pairs] of shapes) {
    test(name, async () => {
      const built = buildNetwork(count, pairs);
      const [, hosts] = await bridged(built);
      await everyoneHearsOnce(built, hosts);
    });
  }

  test("in networks of any shape", async () => {
    const shape = fc.integer({ min: 2, max: 8 }).chain((count) => {
      const extra = fc.array(
        fc.tuple(fc.integer({ min: 1, max: count }), fc.integer({ min: 1, max: count })),
        {
          maxLength: 8,
        },
      );
      return extra.map((pairs): [number, SwitchPair[]] => [count, [...line(count), ...pairs]]);
    });
    await fc.assert(
      fc.asyncProperty(shape, async ([count, pairs]) => {
        const built = buildNetwork(count, pairs);
        const [source, hosts] = await bridged(built);
        await everyoneHearsOnce(built, hosts);
        built.net.disconnect();
        await source.stop();
      }),
      { numRuns: 8 },
    );
  }, 60_000);
});

describe("and goes on doing so", () => {
  test("when a wire of the tree is cut, and when it comes back", async () => {
    const built = buildNetwork(5, ring(5));
    const [, hosts] = await bridged(built);
    await everyoneHearsOnce(built, hosts);
    for (const { a, portA } of built.wires) {
      a.setPort(portA, false);
      await everyoneHearsOnce(built, hosts);
      a.setPort(portA, true);
      await everyoneHearsOnce(built, hosts);
    }
  }, 30_000);

  test("when the controller was restarted and the switches kept their flows", async () => {
    const built = buildNetwork(4, ring(4));
    const [source, hosts] = await bridged(built);
    await everyoneHearsOnce(built, hosts);
    await source.stop();
    await everyoneHearsOnce(built, hosts);
    const again = await started.startSource({ settleMs: 100 });
    // They come back one after the other, as they do.
    for (const sw of built.net.switches.values()) {
      await sw.connect({ port: again.port });
      await everyoneHearsOnce(built, hosts);
    }
    await until(() => again.sink.links.size === 8, { what: "all links" });
    await until(() => again.sink.changeLog.includes("replace"), { what: "the end of the grace" });
    for (let round = 0; round < 10; round++) await everyoneHearsOnce(built, hosts);
  }, 30_000);

  test("while a switch is out of reach but still forwards", async () => {
    const built = buildNetwork(4, ring(4));
    const [{ sink }, hosts] = await bridged(built, { echoIntervalMs: 200 });
    await everyoneHearsOnce(built, hosts);
    const lost = built.net.get(2);
    lost.unresponsive = true;
    await until(() => !lost.connected, { what: "the session given up" });
    await everyoneHearsOnce(built, hosts);
    await until(() => sink.links.size === 4, { what: "its links gone" });
    for (let round = 0; round < 10; round++) await everyoneHearsOnce(built, hosts);
  }, 30_000);
});

describe("behind a bridge that is not ours", () => {
  test("links are found as indirect, and the loop through it is cut", async () => {
    const built = buildNetwork(3, line(3));
    const bridge = new PlainBridge(built.net);
    for (const sw of built.net.switches.values()) {
      sw.ports.set(9, { number: 9, up: true, config: 0, wire: undefined, station: undefined });
      bridge.attach(sw, 9);
    }
    const [{ sink }, hosts] = await bridged(built);
    await until(() => [...sink.links.values()].some((link) => link.type === "INDIRECT"), {
      what: "indirect links",
    });
    await everyoneHearsOnce(built, hosts);
    expect([...sink.links.values()].filter((link) => link.type === "DIRECT").length).toBe(4);
  }, 30_000);
});

test("forwarding none touches no flow but those that bring probes here", async () => {
  const built = buildNetwork(3, ring(3));
  const [{ sink }] = await bridged(built, { forwarding: "none" });
  await until(() => sink.links.size === 6, { what: "all links" });
  for (const sw of built.net.switches.values()) {
    expect(sw.flows.map((flow) => flow.match)).toEqual([
      { ethType: 0x88cc },
      { ethType: 0x8942 },
      { ethDst: "02:67:7A:74:00:01" },
    ]);
    expect(sw.flows.every((flow) => flow.instructions.gotoTable === undefined)).toBe(true);
    expect(sw.received.has("portMod")).toBe(false);
  }
  expect([...sink.devices.values()].every((device) => device.role === "NONE")).toBe(true);
});
