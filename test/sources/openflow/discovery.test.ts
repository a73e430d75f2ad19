/** Devices, ports and links, against emulated switches on real sockets. */
import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { deviceId, EmulatedNetwork } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line, ring, torus, tree } from "./topologies.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function connectNetwork(
  network: BuiltNetwork,
  ...args: Parameters<typeof startSource>
): Promise<RunningSource> {
  const source = await resources.startSource(...args);
  await resources.connect(network.net, source.port);
  await until(() => source.sink.links.size === network.wires.length * 2, {
    what: "all links in both directions",
  });
  return source;
}

function linkIds({ wires }: BuiltNetwork): string[] {
  return wires
    .flatMap(({ a, portA, b, portB }) => [
      `${a.id}/${portA}-${b.id}/${portB}`,
      `${b.id}/${portB}-${a.id}/${portA}`,
    ])
    .sort();
}

describe("all switches, ports and links are discovered", () => {
  const shapes: [string, BuiltNetwork][] = [
    ["one switch", buildNetwork(1, [])],
    ["line of 5", buildNetwork(5, line(5))],
    ["tree of 31", buildNetwork(31, tree(31, 2))],
    ["ring of 6", buildNetwork(6, ring(6))],
    ["torus of 5 by 5", buildNetwork(25, torus(5, 5))],
    ["two parallel cables", buildNetwork(2, [[1, 2], [1, 2]])],
    ["a cable from a switch to itself", buildNetwork(1, [[1, 1]])],
  ]; // biome-ignore format: a table
  for (const [name, network] of shapes) {
    test(name, async () => {
      const { sink } = await connectNetwork(network);
      await until(() => sink.devices.size === network.net.switches.size, { what: "all devices" });
      expect([...sink.links.keys()].sort()).toEqual(linkIds(network));
      expect([...sink.links.values()].every((link) => link.verified && link.type === "DIRECT")).toBe(true);
      const ports = [...network.net.switches.values()].reduce((sum, sw) => sum + sw.ports.size, 0);
      expect(sink.ports.size).toBe(ports);
      expect(sink.rejected).toEqual([]);
    });
  }

  test("with all fields of a device and a port", async () => {
    const { sink } = await connectNetwork(buildNetwork(2, line(2)));
    const device = sink.devices.get(deviceId(1));
    expect(device).toMatchObject({
      type: "SWITCH",
      available: true,
      role: "MASTER",
      mfr: "Emulated",
      hw: "Switch",
      sw: "1",
      serial: "None",
      chassisId: "1",
    });
    expect(device?.annotations).toMatchObject({
      managementAddress: "127.0.0.1",
      protocol: "OF_13",
      name: "s1",
      datapathDescription: "s1",
    });
    expect(device?.annotations?.channelId).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(sink.ports.get(`${deviceId(1)}/2`)).toEqual({
      element: deviceId(1),
      port: "2",
      isEnabled: true,
      type: "copper",
      portSpeed: 10_000,
      annotations: { portMac: "02:EE:00:01:00:02", portName: "s1-eth2" },
    });
  });
});

describe("changes", () => {
  test("when a port goes down its links are removed at once; they return with the port", async () => {
    const network = buildNetwork(3, ring(3));
    const { sink } = await connectNetwork(network);
    network.net.get(1).setPort(2, false);
    await until(() => sink.links.size === 4, { what: "two links removed" });
    // The links are reported first.
    await until(() => sink.ports.get(`${deviceId(1)}/2`)?.isEnabled === false, { what: "the port" });
    network.net.get(1).setPort(2, true);
    await until(() => sink.links.size === 6, { what: "the links again" });
    const removedAt = sink.changeLog.lastIndexOf(`remove links ${deviceId(1)}/2-${deviceId(2)}/2`);
    expect(removedAt).toBeGreaterThan(0);
    expect(sink.changeLog.lastIndexOf(`set links ${deviceId(1)}/2-${deviceId(2)}/2`)).toBeGreaterThan(
      removedAt,
    );
  });

  test("when a port is deleted, the port and its links are removed", async () => {
    const network = buildNetwork(2, line(2));
    const { sink } = await connectNetwork(network);
    network.net.get(1).removePort(2);
    await until(() => sink.links.size === 0, { what: "no links" });
    await until(() => !sink.ports.has(`${deviceId(1)}/2`), { what: "no port" });
  });

  test("a cable that carries no frames is removed after three missed probes", async () => {
    const network = buildNetwork(2, line(2));
    const { sink } = await connectNetwork(network);
    for (const sw of network.net.switches.values())
      for (const port of sw.ports.values()) port.wire = undefined;
    await until(() => sink.links.size === 0, { what: "no links" });
    expect(sink.ports.get(`${deviceId(1)}/2`)?.isEnabled).toBe(true);
  });

  test("a cable that is moved to another port leaves no stale link", async () => {
    const network = buildNetwork(3, line(3));
    const { sink } = await connectNetwork(network);
    const [one, two, three] = [network.net.get(1), network.net.get(2), network.net.get(3)];
    one.setPort(2, false);
    for (const port of [one.ports.get(2), two.ports.get(2)]) if (port) port.wire = undefined;
    network.net.wire(one, 2, three, 1);
    one.setPort(2, true);
    two.setPort(2, true);
    await until(() => sink.links.has(`${deviceId(1)}/2-${deviceId(3)}/1`), { what: "the new link" });
    expect([...sink.links.keys()].filter((id) => id.includes(`${deviceId(2)}/2`))).toEqual([]);
  });

  test("a switch that disconnects is unavailable at once; its links become inactive, are removed, and return with it", async () => {
    const network = buildNetwork(3, line(3));
    const { sink, port } = await connectNetwork(network);
    const two = network.net.get(2);
    two.disconnect();
    await until(() => sink.devices.get(two.id)?.available === false, { what: "unavailable" });
    expect(sink.devices.get(two.id)).toMatchObject({ mfr: "Emulated", role: "NONE" });
    expect([...sink.links.values()].map((link) => link.state)).toEqual(Array(4).fill("INACTIVE"));
    await until(() => sink.links.size === 0, { what: "no links" });
    expect(sink.devices.size).toBe(3);
    await two.connect({ port });
    await until(() => sink.links.size === 4, { what: "the links again" });
    expect(sink.devices.get(two.id)?.available).toBe(true);
  });

  test("a switch that stays disconnected is removed with its ports and links", async () => {
    const network = buildNetwork(2, line(2));
    const { sink } = await connectNetwork(network, { removeAfterMs: 300 });
    network.net.get(2).disconnect();
    await until(() => !sink.devices.has(deviceId(2)), { what: "removed" });
    await until(() => sink.links.size === 0, { what: "no links" });
    expect([...sink.ports.keys()].filter((id) => id.startsWith(deviceId(2)))).toEqual([]);
  });

  test("a switch that sends no echo replies becomes unavailable", async () => {
    const network = buildNetwork(2, line(2));
    const { sink } = await connectNetwork(network, { echoIntervalMs: 1000 });
    network.net.get(2).unresponsive = true;
    await until(() => sink.devices.get(deviceId(2))?.available === false, { what: "unavailable" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
  });
});

describe("a second session with a live datapath id", () => {
  test("is rejected, and the device is flagged", async () => {
    const network = buildNetwork(2, line(2));
    const { sink, port } = await connectNetwork(network);
    const second = new EmulatedNetwork().add(1, 9);
    resources.defer(() => second.disconnect());
    await second.connect({ port });
    await until(() => !second.connected, { what: "the second refused" });
    expect(second.errors[0]?.type).toBe(0);
    await until(() => sink.devices.get(deviceId(1))?.annotations?.conflict, { what: "the flag" });
    expect(sink.devices.get(deviceId(1))?.annotations?.conflict).toContain("a second session from 127.0.0.1");
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
    expect(network.net.get(1).connected).toBe(true);
    expect(sink.ports.has(`${deviceId(1)}/9`)).toBe(false);
  });

  test("replaces the first when that one sends no echo reply", async () => {
    const network = buildNetwork(1, []);
    const source = await connectNetwork(network, { echoIntervalMs: 60_000 });
    const dead = network.net.get(1);
    await until(() => source.sink.devices.size === 1, { what: "the device" });
    dead.unresponsive = true;
    const again = new EmulatedNetwork().add(1, 4);
    resources.defer(() => again.disconnect());
    await until(
      async () => {
        if (!again.connected) await again.connect({ port: source.port });
        return source.sink.ports.has(`${deviceId(1)}/4`);
      },
      { what: "the second session", everyMs: 200 },
    );
  });
});

test("another version of OpenFlow is rejected with OFPET_HELLO_FAILED", async () => {
  const { port, sink } = await resources.startSource();
  const errors: string[] = [];
  const hello = {
    "1.0, without a bitmap": "0100000800000001",
    "1.4, with a bitmap": "05000010000000010001000800000020",
  };
  for (const bytes of Object.values(hello)) {
    let closed = false;
    let received = Buffer.alloc(0);
    await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => void socket.write(Buffer.from(bytes, "hex")),
        data: (_, chunk) => {
          received = Buffer.concat([received, chunk]);
        },
        close: () => {
          closed = true;
        },
      },
    });
    await until(() => closed, { what: "the session ended" });
    errors.push(received.subarray(16).toString("hex", 0, 12));
  }
  // OFPT_ERROR, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE
  expect(errors.map((error) => error.slice(0, 4) + error.slice(16))).toEqual([
    "040100000000",
    "040100000000",
  ]);
  expect(sink.devices.size).toBe(0);
});
