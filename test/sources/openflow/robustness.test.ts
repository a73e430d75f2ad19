/** Peers that stall, flood, lie or break off: each at most loses its own session. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "bun";
import { ETHER, startFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import { LLDP_MULTICAST, writeLldp } from "../../../src/sources/openflow/codec/lldp.ts";
import { encode } from "../../../src/sources/openflow/codec/messages.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { makeCertificates } from "./certificates.ts";
import { addHostToEachSwitch, arpRequest, macOf } from "./emulated-host.ts";
import { deviceId, EmulatedNetwork, type Station } from "./emulator.ts";
import { MemorySink, type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line, ring } from "./topologies.ts";

const started = new TestResources();
afterEach(() => started.close());

async function connected(
  built: BuiltNetwork,
  ...args: Parameters<typeof startSource>
): Promise<RunningSource> {
  const source = await started.startSource(...args);
  await started.connect(built.net, source.port);
  await until(() => source.sink.links.size === built.wires.length * 2, { what: "all links" });
  return source;
}

const hexBytes = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

interface RawPeer {
  closed(): boolean;
  send(bytes: Uint8Array): void;
}

async function rawPeer(port: number): Promise<RawPeer> {
  let closed = false;
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: () => {},
      error: () => {},
      close: () => {
        closed = true;
      },
    },
  });
  started.defer(() => socket.terminate());
  return { closed: () => closed, send: (bytes) => void socket.write(bytes) };
}

describe("a session that", () => {
  const ends: [string, string][] = [
    ["sends a message of length 0", "0400000000000001"],
    ["speaks before its hello", "0406002000000002000000000000000200000000fe0000000000004f00000000"],
    ["sends a hello whose element has no length", "04000010000000010001000000000010"],
    ["speaks HTTP", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n").toString("hex")],
    [
      "breaks off in the middle of a port list",
      "040000080000000104130020000000030000d000000000000000ffffffff00000000",
    ],
  ];
  for (const [name, bytes] of ends) {
    test(`${name} ends, and no other`, async () => {
      const built = buildNetwork(2, line(2));
      const { port, sink } = await connected(built);
      const peer = await rawPeer(port);
      peer.send(hexBytes(bytes));
      if (name.startsWith("breaks off")) peer.send(hexBytes("0413001400000003000d000000000000fffffffe"));
      await until(() => peer.closed(), { what: "the session ended" });
      expect(sink.devices.size).toBe(2);
      expect([...built.net.switches.values()].every((sw) => sw.connected)).toBe(true);
    }, 20_000);
  }

  test("floods announcements costs nobody else anything", async () => {
    const built = buildNetwork(3, line(3));
    const { sink, metric } = await connected(built);
    const flooder = built.net.get(1);
    await until(() => flooder.isOpen(1), { what: "an edge" });
    const hosts = addHostToEachSwitch(built.net);
    for (let i = 0; i < 30_000; i++) {
      flooder.send("packetIn", {
        reason: 1,
        inPort: 1,
        frame: arpRequest(macOf(i & 0xffff), "10.9.9.9", "10.9.9.1"),
      });
    }
    hosts[2]?.announce();
    await until(() => sink.hosts.has(`${macOf(3)}/None`), { what: "a host elsewhere" });
    await until(() => metric("frames_limited_total") + metric("hosts_refused_total") > 20_000, {
      what: "the limit",
    });
    expect(metric("paused_total")).toBeGreaterThan(0);
    expect(sink.links.size).toBe(4);
    expect([...sink.devices.values()].every((device) => device.available)).toBe(true);
  }, 30_000);

  test("does not read what it is sent is cut off, and no other", async () => {
    const built = buildNetwork(2, line(2));
    const { port, sink, metric } = await connected(built);
    let waiting = Buffer.concat([
      encode("hello", { versions: [4] }),
      ...Array.from({ length: 500 }, () => encode("echoRequest", { data: new Uint8Array(60_000) })),
    ]);
    const ask = (socket: Socket) => {
      waiting = waiting.subarray(Math.max(0, socket.write(waiting)));
    };
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => {}, drain: ask, error: () => {} },
    });
    started.defer(() => socket.terminate());
    socket.pause();
    ask(socket);
    await until(() => metric("sessions") === 3, { what: "the session" });
    await until(() => metric("sessions") === 2, { what: "its end" });
    expect(metric("malformed_total")).toBe(0);
    expect(sink.links.size).toBe(2);
    expect([...built.net.switches.values()].every((sw) => sw.connected)).toBe(true);
  }, 30_000);

  test("is one too many is not taken", async () => {
    const built = buildNetwork(2, line(2));
    const { port, metric } = await connected(built, { maxSessions: 2 });
    const peer = await rawPeer(port);
    await until(() => peer.closed(), { what: "the third refused" });
    expect(metric("sessions_refused_total")).toBe(1);
  });
});

describe("a link cannot be forged", () => {
  /** Keeps the probes that come out of a port. */
  class Eavesdropper implements Station {
    readonly frames: Uint8Array[] = [];
    receive(frame: Uint8Array): void {
      this.frames.push(frame.slice());
    }
  }

  test("by LLDP that looks like ours, by a changed probe, by an old one or by the same one twice", async () => {
    const built = buildNetwork(3, line(3));
    const ear = new Eavesdropper();
    built.net.plug(built.net.get(1), 1, ear);
    const { sink, metric } = await connected(built, { probeMaxAgeMs: 300 });
    const into = (frame: Uint8Array) => built.net.get(3).receiveFrame(1, frame);
    await until(() => ear.frames.length > 2, { what: "probes on an edge port" });

    const invented = startFrame(LLDP_MULTICAST, macOf(9), ETHER.lldp);
    const value = new Uint8Array(29 + 16).fill(7);
    writeLldp(invented, deviceId(1), "1", 120, { oui: 0x02677a, subtype: 1, value });
    into(invented.done());
    await until(() => metric("probes_forged_total") === 1, { what: "an invented probe counted" });

    const genuine = ear.frames.at(-1) ?? new Uint8Array();
    const changed = genuine.slice();
    const last = changed.length - 20;
    changed[last] = (changed[last] ?? 0) ^ 1;
    into(changed);
    await until(() => metric("probes_forged_total") === 2, { what: "a changed probe counted" });

    const old = ear.frames[0] ?? new Uint8Array();
    await until(() => ear.frames.length > 12, { what: "later probes" });
    into(old);
    await until(() => metric("probes_unknown_total") + metric("probes_late_total") === 1, {
      what: "an old one counted",
    });
    expect(sink.links.size).toBe(4);

    // A fresh probe carried over is a wire for all that can be told; but only once.
    const seen = ear.frames.length;
    const fresh = await until(() => ear.frames[seen], { what: "a fresh probe" });
    into(fresh);
    into(fresh);
    await until(() => metric("probes_replayed_total") === 1, { what: "the second counted" });
  }, 20_000);
});

describe("foreign LLDP", () => {
  const foreign = (ttl: string) =>
    hexBytes(
      `0180c200000e00112233445588cc02070400112233445504050565746831 0602${ttl}0a03637232 0000`.replaceAll(
        " ",
        "",
      ),
    );

  test("is shown as an unverified link to a device of its own, when configured", async () => {
    const built = buildNetwork(1, []);
    const { sink } = await connected(built, { foreignLldp: true });
    await until(() => built.net.get(1).isOpen(1), { what: "an edge" });
    built.net.get(1).receiveFrame(1, foreign("0078"));
    await until(() => sink.links.size === 2, { what: "the link" });
    expect(sink.devices.get("lldp:00:11:22:33:44:55")).toMatchObject({
      type: "OTHER",
      annotations: { name: "cr2" },
    });
    expect([...sink.links.values()].map((link) => link.verified)).toEqual([false, false]);
    built.net.get(1).receiveFrame(1, foreign("0000"));
    await until(() => sink.links.size === 0 && sink.devices.size === 1, { what: "its farewell" });
    expect(sink.rejected).toEqual([]);
  });

  test("is nothing otherwise", async () => {
    const built = buildNetwork(1, []);
    const { sink } = await connected(built);
    const [host] = addHostToEachSwitch(built.net);
    await until(() => built.net.get(1).isOpen(1), { what: "an edge" });
    built.net.get(1).receiveFrame(1, foreign("0078"));
    host?.announce();
    await until(() => sink.hosts.size === 1, { what: "what was said after it" });
    expect(sink.devices.size).toBe(1);
  });
});

describe("a restart", () => {
  test("of a service that remembers changes nothing for switches that come back, and marks those that do not", async () => {
    const built = buildNetwork(3, ring(3));
    const before = await connected(built);
    const hosts = addHostToEachSwitch(built.net);
    await until(() => [...built.net.switches.values()].every((sw) => sw.isOpen(1)), { what: "edges" });
    for (const host of hosts) host.announce();
    await until(() => before.sink.hosts.size === 3, { what: "hosts" });
    await before.stop();

    class Remembering extends MemorySink {
      lastClaims = async () => before.sink.all();
    }
    const sink = new Remembering();
    const after = await started.startSource({ graceMs: 2000 }, { sink });
    expect([sink.devices.size, sink.links.size, sink.hosts.size]).toEqual([3, 6, 3]);
    await built.net.get(1).connect({ port: after.port });
    await built.net.get(2).connect({ port: after.port });
    await until(() => sink.devices.get(deviceId(3))?.available === false, { what: "the third unavailable" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
    expect(
      sink.changeLog.filter((line) => line.startsWith("remove hosts") && !line.includes(macOf(3))),
    ).toEqual([]);
    await until(() => sink.links.size === 2, { what: "the third's links gone" });
    await until(() => sink.hosts.size === 2, { what: "the third's host gone" });
    expect(sink.changeLog).not.toContain(`remove links ${deviceId(1)}/2-${deviceId(2)}/2`);
    expect(hosts[0]?.arpRequestsReceived).toBeGreaterThan(0);
  }, 20_000);

  test("gives a switch that was gone before no new time", async () => {
    const day = 86_400_000;
    const gone = (id: number, hours: number) => ({
      id: deviceId(id),
      available: false,
      lastUpdate: String(Date.now() - hours * 3_600_000),
    });
    class Remembering extends MemorySink {
      lastClaims = async () => ({ devices: [gone(1, 23), gone(2, 25)] });
    }
    const sink = new Remembering();
    await started.startSource({ graceMs: 200, removeAfterMs: day }, { sink });
    await until(() => sink.devices.size === 1, { what: "the older one removed" });
    expect([...sink.devices.keys()]).toEqual([deviceId(1)]);
  });

  test("of a service that does not remember leaves what was claimed for the grace, then says what came back", async () => {
    const sink = new MemorySink();
    await sink.apply([{ op: "set", kind: "devices", claim: { id: deviceId(9), available: true } }]);
    const source = await started.startSource({ graceMs: 500 }, { sink });
    await started.connect(buildNetwork(1, []).net, source.port);
    await until(() => sink.devices.size === 2, { what: "both" });
    await until(() => sink.devices.size === 1, { what: "only the one that came back" });
    expect(sink.devices.has(deviceId(1))).toBe(true);
  });
});

describe("TLS", () => {
  let folder = "";
  const available = needs("openssl");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gazetteer-openflow-"));
    if (!available) return;
    makeCertificates(folder, ["server", "switch"]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(file(name), "utf8");

  test.skipIf(!available)("carries sessions, and asks switches for a certificate when told to", async () => {
    const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
    const source = await started.startSource({ tls });
    const net = new EmulatedNetwork();
    started.defer(() => net.disconnect());
    const identity = { cert: text("switch.pem"), key: text("switch.key") };
    await net
      .add(1, 2)
      .connect({ port: source.port, tls: { ca: text("ca.pem"), rejectUnauthorized: false, ...identity } });
    await until(() => source.sink.devices.size === 1, { what: "the switch" });
    const stranger = net.add(2, 2);
    await stranger.connect({ port: source.port, tls: { rejectUnauthorized: false } }).catch(() => {});
    await until(() => !stranger.connected, { what: "the stranger turned away" });
    // Plain TCP is no way around it.
    const peer = await rawPeer(source.port);
    peer.send(encode("hello", { versions: [4] }));
    await until(() => peer.closed(), { what: "plain TCP turned away" });
    expect([...source.sink.devices.keys()]).toEqual([deviceId(1)]);
  });
});

test("a listener that cannot be had says why", async () => {
  const { port } = await connected(buildNetwork(1, []));
  const { createOpenflowSource } = await import("../../../src/sources/openflow/openflow.ts");
  const { systemClock } = await import("../../../src/lib/clock.ts");
  const { silentLogger } = await import("../../../src/lib/logger.ts");
  const second = createOpenflowSource(
    { name: "x", listen: `127.0.0.1:${port}` },
    { clock: systemClock, log: silentLogger },
  );
  const run = second.run(new MemorySink(), new AbortController().signal);
  await expect(run).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the address is in use`);
});
