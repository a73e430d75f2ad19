/** Devices, ports and links, against emulated switches on real sockets. */
import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { deviceId, EmulatedNetwork } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line, ring, torus, tree } from "./topologies.ts";

const started = new TestResources();
afterEach(() => started.close());

async function connected(
  built: BuiltNetwork,
  ...args: Parameters<typeof startSource>
): Promise<RunningSource> {
  const source = await started.startSource(...args);
  await started.connect(built.net, source.port);
  await until(() => source.sink.links.size === built.wires.length * 2, {
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

describe("a network is found whole", () => {
  const shapes: [string, BuiltNetwork][] = [
    ["one switch", buildNetwork(1, [])],
    ["line of 5", buildNetwork(5, line(5))],
    ["tree of 31", buildNetwork(31, tree(31, 2))],
    ["ring of 6", buildNetwork(6, ring(6))],
    ["torus of 5 by 5", buildNetwork(25, torus(5, 5))],
    ["two parallel wires", buildNetwork(2, [[1, 2], [1, 2]])],
    ["a wire from a switch to itself", buildNetwork(1, [[1, 1]])],
  ]; // biome-ignore format: a table
  for (const [name, built] of shapes) {
    test(name, async () => {
      const { sink } = await connected(built);
      await until(() => sink.devices.size === built.net.switches.size, { what: "all devices" });
      expect([...sink.links.keys()].sort()).toEqual(linkIds(built));
      expect([...sink.links.values()].every((link) => link.verified && link.type === "DIRECT")).toBe(true);
      const ports = [...built.net.switches.values()].reduce((sum, sw) => sum + sw.ports.size, 0);
      expect(sink.ports.size).toBe(ports);
      expect(sink.rejected).toEqual([]);
    });
  }

  test("with everything known of a device and a port", async () => {
    const { sink } = await connected(buildNetwork(2, line(2)));
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
  test("a port that goes down takes its links at once, and both come back with it", async () => {
    const built = buildNetwork(3, ring(3));
    const { sink } = await connected(built);
    built.net.get(1).setPort(2, false);
    await until(() => sink.links.size === 4, { what: "two links gone" });
    expect(sink.ports.get(`${deviceId(1)}/2`)?.isEnabled).toBe(false);
    built.net.get(1).setPort(2, true);
    await until(() => sink.links.size === 6, { what: "the links again" });
    const gone = sink.changeLog.lastIndexOf(`remove links ${deviceId(1)}/2-${deviceId(2)}/2`);
    expect(gone).toBeGreaterThan(0);
    expect(sink.changeLog.lastIndexOf(`set links ${deviceId(1)}/2-${deviceId(2)}/2`)).toBeGreaterThan(gone);
  });

  test("a port that is taken away leaves neither itself nor links", async () => {
    const built = buildNetwork(2, line(2));
    const { sink } = await connected(built);
    built.net.get(1).removePort(2);
    await until(() => sink.links.size === 0, { what: "no links" });
    await until(() => !sink.ports.has(`${deviceId(1)}/2`), { what: "no port" });
  });

  test("a wire that falls silent ends after three missed probes", async () => {
    const built = buildNetwork(2, line(2));
    const { sink } = await connected(built);
    for (const sw of built.net.switches.values()) for (const port of sw.ports.values()) port.wire = undefined;
    await until(() => sink.links.size === 0, { what: "no links" });
    expect(sink.ports.get(`${deviceId(1)}/2`)?.isEnabled).toBe(true);
  });

  test("a wire that is plugged in elsewhere leaves no ghost", async () => {
    const built = buildNetwork(3, line(3));
    const { sink } = await connected(built);
    const [one, two, three] = [built.net.get(1), built.net.get(2), built.net.get(3)];
    one.setPort(2, false);
    for (const port of [one.ports.get(2), two.ports.get(2)]) if (port) port.wire = undefined;
    built.net.wire(one, 2, three, 1);
    one.setPort(2, true);
    two.setPort(2, true);
    await until(() => sink.links.has(`${deviceId(1)}/2-${deviceId(3)}/1`), { what: "the new link" });
    expect([...sink.links.keys()].filter((id) => id.includes(`${deviceId(2)}/2`))).toEqual([]);
  });

  test("a switch that leaves is unavailable at once, its links inactive, then gone; and it returns", async () => {
    const built = buildNetwork(3, line(3));
    const { sink, port } = await connected(built);
    const two = built.net.get(2);
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

  test("a switch that is gone for long enough is removed with all that is its own", async () => {
    const built = buildNetwork(2, line(2));
    const { sink } = await connected(built, { removeAfterMs: 300 });
    built.net.get(2).disconnect();
    await until(() => !sink.devices.has(deviceId(2)), { what: "removed" });
    await until(() => sink.links.size === 0, { what: "no links" });
    expect([...sink.ports.keys()].filter((id) => id.startsWith(deviceId(2)))).toEqual([]);
  });

  test("a switch that stops answering is called unavailable", async () => {
    const built = buildNetwork(2, line(2));
    const { sink } = await connected(built, { echoIntervalMs: 200 });
    built.net.get(2).unresponsive = true;
    await until(() => sink.devices.get(deviceId(2))?.available === false, { what: "unavailable" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
  });
});

describe("a second session with a live datapath id", () => {
  test("does not displace the first, and is flagged", async () => {
    const built = buildNetwork(2, line(2));
    const { sink, port } = await connected(built);
    const rival = new EmulatedNetwork().add(1, 9);
    started.defer(() => rival.disconnect());
    await rival.connect({ port });
    await until(() => !rival.connected, { what: "the second refused" });
    expect(rival.errors[0]?.type).toBe(0);
    await until(() => sink.devices.get(deviceId(1))?.annotations?.conflict, { what: "the flag" });
    expect(sink.devices.get(deviceId(1))?.annotations?.conflict).toContain("a second session from 127.0.0.1");
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
    expect(built.net.get(1).connected).toBe(true);
    expect(sink.ports.has(`${deviceId(1)}/9`)).toBe(false);
  });

  test("takes over when the first no longer answers", async () => {
    const built = buildNetwork(1, []);
    const source = await connected(built, { echoIntervalMs: 60_000 });
    const dead = built.net.get(1);
    await until(() => source.sink.devices.size === 1, { what: "the device" });
    dead.unresponsive = true;
    const again = new EmulatedNetwork().add(1, 4);
    started.defer(() => again.disconnect());
    await until(
      async () => {
        if (!again.connected) await again.connect({ port: source.port });
        return source.sink.ports.has(`${deviceId(1)}/4`);
      },
      { what: "the second taken", everyMs: 200 },
    );
  });
});

test("another version of OpenFlow is refused with the proper error", async () => {
  const { port, sink } = await started.startSource();
  const answers: string[] = [];
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
    answers.push(received.subarray(16).toString("hex", 0, 12));
  }
  // OFPT_ERROR, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE
  expect(answers.map((answer) => answer.slice(0, 4) + answer.slice(16))).toEqual([
    "040100000000",
    "040100000000",
  ]);
  expect(sink.devices.size).toBe(0);
});
