/**
 * The bridge, with switches that flood everything and learn nothing. Whatever the topology, a broadcast reaches every host
 * exactly once, also while the network changes.
 */

import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { runs } from "../../support/property.ts";
import { until } from "../../support/until.ts";
import { addHostToEachSwitch, type EmulatedHost } from "./emulated-host.ts";
import { type EmulatedSwitch, PlainBridge } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line, ring, type SwitchPair, torus } from "./topologies.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function startBridge(
  network: BuiltNetwork,
  options: Parameters<typeof startSource>[0] = {},
): Promise<[RunningSource, EmulatedHost[]]> {
  const source = await resources.startSource({ settleMs: 100, ...options });
  const hosts = addHostToEachSwitch(network.net);
  await resources.connect(network.net, source.port);
  return [source, hosts];
}

/** Each host sends one broadcast. Returns how often each other host received it. */
function countBroadcasts(network: BuiltNetwork, hosts: readonly EmulatedHost[]): number[] {
  for (const host of hosts) host.broadcastsReceived.clear();
  network.net.deliveries = 0;
  for (const host of hosts) host.announce();
  return hosts.flatMap((host) =>
    hosts.filter((other) => other !== host).map((other) => host.broadcastsReceived.get(other.mac) ?? 0),
  );
}

/** Waits until every broadcast reaches every host. No host may ever receive one twice. */
async function waitForSingleDelivery(network: BuiltNetwork, hosts: readonly EmulatedHost[]): Promise<void> {
  let maxCount = 0;
  await until(
    () => {
      const counts = countBroadcasts(network, hosts);
      maxCount = Math.max(maxCount, ...counts);
      return maxCount > 1 || counts.every((count) => count === 1);
    },
    { what: "every host to receive every broadcast", deadlineMs: 20_000, everyMs: 50 },
  );
  expect(maxCount).toBe(1);
}

describe("a broadcast reaches every host exactly once", () => {
  const shapes: [string, number, SwitchPair[]][] = [
    ["in a line", 4, line(4)],
    ["in a ring", 5, ring(5)],
    ["in a torus", 16, torus(4, 4)],
    ["over parallel cables", 2, [[1, 2], [1, 2], [1, 2]]],
    ["with a switch connected to itself", 2, [[1, 2], [1, 1]]],
    ["in a full mesh", 6, [1, 2, 3, 4, 5, 6].flatMap((a) => [1, 2, 3, 4, 5, 6].filter((b) => b > a).map((b): SwitchPair => [a, b]))],
  ]; // biome-ignore format: a table
  for (const [name, count, pairs] of shapes) {
    test(name, async () => {
      const network = buildNetwork(count, pairs);
      const [, hosts] = await startBridge(network);
      await waitForSingleDelivery(network, hosts);
    });
  }

  test("in random topologies", async () => {
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
        const network = buildNetwork(count, pairs);
        const [source, hosts] = await startBridge(network);
        await waitForSingleDelivery(network, hosts);
        network.net.disconnect();
        await source.stop();
      }),
      { numRuns: runs(8) },
    );
  }, 60_000);
});

describe("a broadcast still reaches every host exactly once", () => {
  test("when a cable of the tree fails and when it returns", async () => {
    const network = buildNetwork(5, ring(5));
    const [, hosts] = await startBridge(network);
    await waitForSingleDelivery(network, hosts);
    for (const { a, portA } of network.wires) {
      a.setPort(portA, false);
      await waitForSingleDelivery(network, hosts);
      a.setPort(portA, true);
      await waitForSingleDelivery(network, hosts);
    }
  }, 30_000);

  test("after a restart of the controller, with the flows that the switches kept", async () => {
    const network = buildNetwork(4, ring(4));
    const [source, hosts] = await startBridge(network);
    await waitForSingleDelivery(network, hosts);
    await source.stop();
    await waitForSingleDelivery(network, hosts);
    const again = await resources.startSource({ settleMs: 100 });
    // They reconnect one after the other.
    for (const sw of network.net.switches.values()) {
      await sw.connect({ port: again.port });
      await waitForSingleDelivery(network, hosts);
    }
    await until(() => again.sink.links.size === 8, { what: "all links" });
    await until(() => again.sink.changeLog.includes("replace"), { what: "the end of the grace period" });
    for (let round = 0; round < 10; round++) await waitForSingleDelivery(network, hosts);
  }, 30_000);

  test("after a restart, while a switch that does not connect again still forwards", async () => {
    const network = buildNetwork(4, ring(4));
    const [source, hosts] = await startBridge(network);
    await waitForSingleDelivery(network, hosts);
    await source.stop();
    const before = source.sink.all();
    class RestoringSink extends MemorySink {
      lastClaims = async () => before;
    }
    const sink = new RestoringSink();
    const again = await resources.startSource({ settleMs: 100 }, { sink });
    // The root of the tree, so that both of its cables carry frames.
    const lost = network.net.get(1);
    for (const sw of network.net.switches.values()) if (sw !== lost) await sw.connect({ port: again.port });
    const others = hosts.slice(1);
    await until(() => sink.devices.get(lost.id)?.available === false, {
      what: "the end of the grace period",
    });
    // Several intervals of probes: by then a port that leads to it would count as one that leads to hosts.
    const sent = again.metric("probes_sent_total");
    const counts: number[] = [];
    while (again.metric("probes_sent_total") < sent + 60) {
      counts.push(...countBroadcasts(network, others));
      await Bun.sleep(20);
    }
    expect(Math.max(...counts)).toBe(1);
    await waitForSingleDelivery(network, others);
  }, 30_000);

  test("while a switch is unreachable but still forwards", async () => {
    const network = buildNetwork(4, ring(4));
    const [{ sink }, hosts] = await startBridge(network, { echoIntervalMs: 200 });
    await waitForSingleDelivery(network, hosts);
    const lost = network.net.get(2);
    lost.unresponsive = true;
    await until(() => !lost.connected, { what: "the session closed" });
    await waitForSingleDelivery(network, hosts);
    await until(() => sink.links.size === 4, { what: "its links removed" });
    for (let round = 0; round < 10; round++) await waitForSingleDelivery(network, hosts);
  }, 30_000);
});

test("a new switch that confirms nothing delays nobody, also where it is wired to the others", async () => {
  const network = buildNetwork(4, [...ring(3), [1, 4]]);
  const silent = network.net.get(4);
  silent.repliesToBarriers = false;
  const clock = new ManualClock();
  const still = { probeIntervalMs: 600_000, probeMaxAgeMs: 600_000, echoIntervalMs: 600_000, graceMs: 0 };
  const source = await resources.startSource({ settleMs: 100, ...still }, { clock });
  const hosts = addHostToEachSwitch(network.net).slice(0, 3);
  const others = [...network.net.switches.values()].filter((sw) => sw !== silent);
  for (const sw of others) await sw.connect({ port: source.port });
  const untilDelivered = () =>
    until(
      async () => {
        await clock.advance(100);
        const counts = countBroadcasts(network, hosts);
        expect(Math.max(...counts)).toBeLessThan(2);
        return counts.every((count) => count === 1);
      },
      { what: "every host to receive every broadcast" },
    );
  await untilDelivered();
  await silent.connect({ port: source.port });
  await until(() => source.sink.links.size === 8, { what: "the links of the new switch" });
  // Its ports settle: from then on it would be waited for, for two seconds.
  for (let tick = 0; tick < 5; tick++) await clock.advance(100);
  /** Whether frames that it receives there, or anywhere, are forwarded. */
  const isOpen = (sw: EmulatedSwitch, port?: number) =>
    sw.flows.some(
      ({ table, match: { inPort } }) => table === 1 && inPort !== undefined && (port ?? inPort) === inPort,
    );
  const cable = network.wires.find(({ a, portA, b, portB }) => isOpen(a, portA) && isOpen(b, portB));
  const cutAt = clock.monotonic();
  cable?.a.setPort(cable.portA, false);
  await untilDelivered();
  expect(clock.monotonic() - cutAt).toBeLessThan(1500);
  // It may flood what it receives, but nothing is accepted from it.
  expect(isOpen(silent)).toBe(false);
  silent.disconnect();
  silent.repliesToBarriers = true;
  await silent.connect({ port: source.port });
  await until(
    async () => {
      await clock.advance(100);
      return isOpen(silent);
    },
    { what: "open ports of a switch that confirms" },
  );
});

describe("behind a bridge without OpenFlow", () => {
  test("links are indirect, and the loop through it is broken", async () => {
    const network = buildNetwork(3, line(3));
    const bridge = new PlainBridge(network.net);
    for (const sw of network.net.switches.values()) {
      sw.ports.set(9, { number: 9, up: true, config: 0, wire: undefined, station: undefined });
      bridge.attach(sw, 9);
    }
    const [{ sink }, hosts] = await startBridge(network);
    await until(() => [...sink.links.values()].some((link) => link.type === "INDIRECT"), {
      what: "indirect links",
    });
    await waitForSingleDelivery(network, hosts);
    expect([...sink.links.values()].filter((link) => link.type === "DIRECT").length).toBe(4);
  }, 30_000);
});

test("forwarding none installs only the flows that send probes to the controller", async () => {
  const network = buildNetwork(3, ring(3));
  const [{ sink }] = await startBridge(network, { forwarding: "none" });
  await until(() => sink.links.size === 6, { what: "all links" });
  for (const sw of network.net.switches.values()) {
    expect(sw.flows.map((flow) => flow.match)).toEqual([
      { ethType: 0x88cc },
      { ethType: 0x8942 },
      { ethDst: 0x02677a740001 },
    ]);
    expect(sw.flows.every((flow) => flow.instructions.gotoTable === undefined)).toBe(true);
    expect(sw.received.has("portMod")).toBe(false);
  }
  expect([...sink.devices.values()].every((device) => device.role === "NONE")).toBe(true);
});
