/** Peers that stall, flood, forge or disconnect: each affects its own session only. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "bun";
import { systemClock } from "../../../src/lib/clock.ts";
import { ETHER, readFrame, startFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import { LLDP_MULTICAST, writeLldp } from "../../../src/sources/openflow/codec/lldp.ts";
import { ERROR, encode } from "../../../src/sources/openflow/codec/openflow-messages.ts";
import { createCertificates } from "../../support/certificates.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { addHostToEachSwitch, arpRequest, macOf } from "./emulated-host.ts";
import { deviceId, EmulatedNetwork, type Station } from "./emulator.ts";
import { type RunningSource, startSource, TestResources } from "./harness.ts";
import { Rogue } from "./rogue.ts";
import { type BuiltNetwork, buildNetwork, line, ring } from "./topologies.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function connectNetwork(
  network: BuiltNetwork,
  ...args: Parameters<typeof startSource>
): Promise<RunningSource> {
  const source = await resources.startSource(...args);
  await resources.connect(network.net, source.port);
  await until(() => source.sink.links.size === network.wires.length * 2, { what: "all links" });
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
  resources.defer(() => socket.terminate());
  return { closed: () => closed, send: (bytes) => void socket.write(bytes) };
}

test("a machine that is paused for a minute loses no session, no link and no host", async () => {
  let pausedMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + pausedMs };
  const network = buildNetwork(4, ring(4));
  const hosts = addHostToEachSwitch(network.net);
  const { sink, metric } = await connectNetwork(network, {}, { clock });
  await until(
    () => {
      for (const host of hosts) host.announce();
      return sink.hosts.size === hosts.length;
    },
    { what: "all hosts" },
  );
  pausedMs = 60_000;
  const probes = metric("probes_sent_total");
  await until(() => metric("probes_sent_total") > probes + 8 * 8, { what: "eight rounds of probes" });
  expect(sink.changeLog.filter((change) => change.startsWith("remove"))).toEqual([]);
  expect(sink.links.size).toBe(8);
  expect(sink.hosts.size).toBe(4);
  expect([...network.net.switches.values()].every((sw) => sw.connected)).toBe(true);
}, 20_000);

describe("a session that", () => {
  const invalid: [string, string][] = [
    ["sends a message of length 0", "0400000000000001"],
    [
      "sends another message before its hello",
      "0406002000000002000000000000000200000000fe0000000000004f00000000",
    ],
    ["sends a hello whose element has no length", "04000010000000010001000000000010"],
    ["sends HTTP", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n").toString("hex")],
    ["sends an incomplete port list", "040000080000000104130020000000030000d000000000000000ffffffff00000000"],
  ];
  for (const [name, bytes] of invalid) {
    test(`${name} is closed, and no other`, async () => {
      const network = buildNetwork(2, line(2));
      const { port, sink } = await connectNetwork(network);
      const peer = await rawPeer(port);
      peer.send(hexBytes(bytes));
      if (name.startsWith("sends an incomplete"))
        peer.send(hexBytes("0413001400000003000d000000000000fffffffe"));
      await until(() => peer.closed(), { what: "the session closed" });
      expect(sink.devices.size).toBe(2);
      expect([...network.net.switches.values()].every((sw) => sw.connected)).toBe(true);
    }, 20_000);
  }

  test("floods announcements does not affect others", async () => {
    const network = buildNetwork(3, line(3));
    // The flooder's own probes and echo replies wait behind its flood, which takes 1.5 s at 2000 messages per tick, and
    // longer on a busy machine. With the default intervals its links and its session survive that.
    const intervals = { probeIntervalMs: 3000, echoIntervalMs: 5000 };
    const { sink, metric } = await connectNetwork(network, intervals);
    const flooder = network.net.get(1);
    await until(() => flooder.isOpen(1) && sink.links.size === 4, { what: "an edge, and all links" });
    const hosts = addHostToEachSwitch(network.net);
    for (let i = 0; i < 20_000; i++) {
      flooder.send("packetIn", {
        reason: 1,
        inPort: 1,
        frame: arpRequest(macOf(i & 0xffff), "10.9.9.9", "10.9.9.1"),
      });
    }
    hosts[2]?.announce();
    await until(() => sink.hosts.has(`${macOf(3)}/None`), { what: "a host elsewhere" });
    await until(() => metric("frames_limited_total") + metric("hosts_refused_total") > 12_000, {
      what: "the limit",
    });
    expect(metric("paused_total")).toBeGreaterThan(0);
    expect(sink.links.size).toBe(4);
    expect([...sink.devices.values()].every((device) => device.available)).toBe(true);
  }, 30_000);

  test("does not read is closed, and no other", async () => {
    const network = buildNetwork(2, line(2));
    const { port, sink, metric } = await connectNetwork(network);
    let waiting = Buffer.concat([
      encode("hello", { versions: [4] }),
      ...Array.from({ length: 500 }, () => encode("echoRequest", { data: new Uint8Array(60_000) })),
    ]);
    const write = (socket: Socket) => {
      waiting = waiting.subarray(Math.max(0, socket.write(waiting)));
    };
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => {}, drain: write, error: () => {} },
    });
    resources.defer(() => socket.terminate());
    socket.pause();
    write(socket);
    await until(() => metric("sessions") === 3, { what: "the session" });
    await until(() => metric("sessions") === 2, { what: "its end" });
    expect(metric("malformed_total")).toBe(0);
    expect(sink.links.size).toBe(2);
    expect([...network.net.switches.values()].every((sw) => sw.connected)).toBe(true);
  }, 30_000);

  test("exceeds maxSessions is rejected", async () => {
    const network = buildNetwork(2, line(2));
    const { port, metric } = await connectNetwork(network, { maxSessions: 2 });
    const peer = await rawPeer(port);
    await until(() => peer.closed(), { what: "the third refused" });
    expect(metric("sessions_refused_total")).toBe(1);
  });
});

describe("a link cannot be forged", () => {
  /** Stores the probes that are sent out of a port. */
  class Eavesdropper implements Station {
    readonly frames: Uint8Array[] = [];
    receive(frame: Uint8Array): void {
      this.frames.push(frame.slice());
    }
  }

  test("by an invented, a changed, an old or a repeated probe", async () => {
    const network = buildNetwork(3, line(3));
    const eavesdropper = new Eavesdropper();
    network.net.plug(network.net.get(1), 1, eavesdropper);
    const { sink, metric } = await connectNetwork(network, { probeMaxAgeMs: 300 });
    const inject = (frame: Uint8Array) => network.net.get(3).receiveFrame(1, frame);
    await until(() => eavesdropper.frames.length > 2, { what: "probes on an edge port" });

    const invented = startFrame(LLDP_MULTICAST, macOf(9), ETHER.lldp);
    const value = new Uint8Array(29 + 16).fill(7);
    writeLldp(invented, deviceId(1), "1", 120, { oui: 0x02677a, subtype: 1, value });
    inject(invented.done());
    await until(() => metric("probes_forged_total") === 1, { what: "an invented probe counted" });

    const genuine = eavesdropper.frames.at(-1) ?? new Uint8Array();
    const changed = genuine.slice();
    const last = changed.length - 20;
    changed[last] = (changed[last] ?? 0) ^ 1;
    inject(changed);
    await until(() => metric("probes_forged_total") === 2, { what: "a changed probe counted" });

    const old = eavesdropper.frames[0] ?? new Uint8Array();
    await until(() => eavesdropper.frames.length > 12, { what: "later probes" });
    // It is not expected any more, because the port was probed again. Genuine probes may be late on a busy machine.
    const unknown = metric("probes_unknown_total");
    inject(old);
    await until(() => metric("probes_unknown_total") === unknown + 1, { what: "an old one counted" });
    expect(sink.links.size).toBe(4);

    // A fresh probe that is forwarded cannot be distinguished from a cable, but it is accepted only once.
    const seen = eavesdropper.frames.length;
    await until(() => eavesdropper.frames[seen], { what: "a fresh probe" });
    // On a busy machine it may be too late for one; then the next is used.
    await until(
      () => {
        const fresh = eavesdropper.frames.at(-1) ?? new Uint8Array();
        inject(fresh);
        inject(fresh);
        return metric("probes_replayed_total") > 0;
      },
      { what: "the second counted", everyMs: 100 },
    );
  }, 120_000);
});

describe("LLDP of a neighbour without OpenFlow", () => {
  const neighbourLldp = (ttl: string) =>
    hexBytes(
      `0180c200000e00112233445588cc02070400112233445504050565746831 0602${ttl}0a03637232 0000`.replaceAll(
        " ",
        "",
      ),
    );

  test("is claimed as a device with unverified links, when configured", async () => {
    const network = buildNetwork(1, []);
    const { sink } = await connectNetwork(network, { foreignLldp: true });
    await until(() => network.net.get(1).isOpen(1), { what: "an edge" });
    network.net.get(1).receiveFrame(1, neighbourLldp("0078"));
    await until(() => sink.links.size === 2, { what: "the link" });
    expect(sink.devices.get("lldp:00:11:22:33:44:55")).toMatchObject({
      type: "OTHER",
      annotations: { name: "cr2" },
    });
    expect([...sink.links.values()].map((link) => link.verified)).toEqual([false, false]);
    network.net.get(1).receiveFrame(1, neighbourLldp("0000"));
    await until(() => sink.links.size === 0 && sink.devices.size === 1, {
      what: "the removal at time to live 0",
    });
    expect(sink.rejected).toEqual([]);
  });

  test("is ignored by default", async () => {
    const network = buildNetwork(1, []);
    const { sink } = await connectNetwork(network);
    const [host] = addHostToEachSwitch(network.net);
    await until(() => network.net.get(1).isOpen(1), { what: "an edge" });
    network.net.get(1).receiveFrame(1, neighbourLldp("0078"));
    host?.announce();
    await until(() => sink.hosts.size === 1, { what: "the host announced after it" });
    expect(sink.devices.size).toBe(1);
  });
});

describe("a restart", () => {
  test("with stored claims changes nothing for switches that reconnect, and marks the others unavailable", async () => {
    const network = buildNetwork(3, ring(3));
    const before = await connectNetwork(network);
    const hosts = addHostToEachSwitch(network.net);
    await until(() => [...network.net.switches.values()].every((sw) => sw.isOpen(1)), { what: "edges" });
    for (const host of hosts) host.announce();
    await until(() => before.sink.hosts.size === 3, { what: "hosts" });
    await before.stop();

    class PersistentSink extends MemorySink {
      lastClaims = async () => before.sink.all();
    }
    const sink = new PersistentSink();
    const after = await resources.startSource({ graceMs: 2000 }, { sink });
    expect([sink.devices.size, sink.links.size, sink.hosts.size]).toEqual([3, 6, 3]);
    await network.net.get(1).connect({ port: after.port });
    await network.net.get(2).connect({ port: after.port });
    await until(() => sink.devices.get(deviceId(3))?.available === false, { what: "the third unavailable" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(true);
    expect(
      sink.changeLog.filter((line) => line.startsWith("remove hosts") && !line.includes(macOf(3))),
    ).toEqual([]);
    await until(() => sink.links.size === 2, { what: "the third's links removed" });
    await until(() => sink.hosts.size === 2, { what: "the third's host removed" });
    expect(sink.changeLog).not.toContain(`remove links ${deviceId(1)}/2-${deviceId(2)}/2`);
    expect(hosts[0]?.arpRequestsReceived).toBeGreaterThan(0);
  }, 20_000);

  test("does not prolong the removal of a switch that was disconnected before", async () => {
    const day = 86_400_000;
    const disconnected = (id: number, hours: number) => ({
      id: deviceId(id),
      available: false,
      lastUpdate: String(Date.now() - hours * 3_600_000),
    });
    class PersistentSink extends MemorySink {
      lastClaims = async () => ({ devices: [disconnected(1, 23), disconnected(2, 25)] });
    }
    const sink = new PersistentSink();
    await resources.startSource({ graceMs: 200, removeAfterMs: day }, { sink });
    await until(() => sink.devices.size === 1, { what: "the older one removed" });
    expect([...sink.devices.keys()]).toEqual([deviceId(1)]);
  });

  test("probes a stored host with both of its VLAN tags", async () => {
    const mac = macOf(1);
    const host = {
      mac,
      vlan: "10",
      innerVlan: "20",
      outerTpid: "0x88a8",
      ipAddresses: ["10.0.0.1"],
      locations: [{ elementId: deviceId(1), port: "1" }],
    };
    class PersistentSink extends MemorySink {
      lastClaims = async () => ({ devices: [{ id: deviceId(1) }], hosts: [host] });
    }
    const source = await resources.startSource({}, { sink: new PersistentSink() });
    const { net } = buildNetwork(1, []);
    const probes: unknown[] = [];
    net.plug(net.get(1), 1, {
      receive: (bytes) => {
        const { dst, tags } = readFrame(bytes);
        if (dst === mac) probes.push(tags);
      },
    });
    await resources.connect(net, source.port);
    await until(() => probes.length > 0, { what: "a probe" });
    expect(probes[0]).toEqual({ vlan: 10, innerVlan: 20, tpid: 0x88a8 });
  });

  test("without stored claims keeps the claims of the view for the grace period, then replaces them", async () => {
    const sink = new MemorySink();
    await sink.apply([{ op: "set", kind: "devices", claim: { id: deviceId(9), available: true } }]);
    const source = await resources.startSource({ graceMs: 500 }, { sink });
    await resources.connect(buildNetwork(1, []).net, source.port);
    await until(() => sink.devices.size === 2, { what: "both" });
    await until(() => sink.devices.size === 1, { what: "only the one that reconnected" });
    expect(sink.devices.has(deviceId(1))).toBe(true);
  });
});

test("in a cluster a node whose takeover is older than the master's is refused its role by the switch, and closes the session", async () => {
  const cluster = (generation: bigint) => ({
    cluster: { deriveKey: () => new Uint8Array(32), generationOf: () => generation },
  });
  const former = await resources.startSource({}, cluster(1n));
  const next = await resources.startSource({}, cluster(2n));
  const sw = new EmulatedNetwork().add(1, 2);
  resources.defer(() => sw.disconnect());
  await sw.connect({ port: former.port });
  await until(() => sw.masters[0]?.port === former.port, { what: "the master" });
  await sw.connect({ port: next.port });
  await until(() => sw.masters[0]?.port === next.port, { what: "the master of the next takeover" });
  // The former node does not know it yet.
  sw.disconnectFrom({ port: former.port });
  await sw.connect({ port: former.port });
  await until(() => former.metric("roles_refused_total") === 1, { what: "the refusal" });
  await until(() => former.sink.devices.get(deviceId(1))?.available === false, { what: "no session" });
  expect(former.log.filter((line) => line.includes("a switch has another master"))).toHaveLength(1);
  expect(sw.masters.map(({ port }) => port)).toEqual([next.port]);
});

test("errors of a peer are logged once per session, and not before it has identified itself", async () => {
  const source = await resources.startSource();
  const error = encode("error", { type: 1, code: 1, data: new Uint8Array(0) });
  const anonymous = await rawPeer(source.port);
  for (const message of [encode("hello", { versions: [4] }), error, error]) anonymous.send(message);
  await until(() => source.metric("switch_errors_total") === 2, { what: "the errors of the first peer" });
  const rogue = await Rogue.connect(source.port, { dpid: 1, ports: 1 });
  resources.defer(() => rogue.close());
  await until(() => rogue.isAccepted, { what: "the switch" });
  for (let i = 0; i < 3; i++) rogue.sendBytes(error);
  await until(() => source.metric("switch_errors_total") === 5, { what: "the errors of the switch" });
  expect(source.log.filter((line) => line.includes("switch reports an error"))).toHaveLength(1);
});

test("a switch that knows no roles stays connected", async () => {
  const cluster = { deriveKey: () => new Uint8Array(32), generationOf: () => 1n };
  const source = await resources.startSource({}, { cluster });
  const rogue = await Rogue.connect(source.port, { dpid: 1, ports: 1 });
  resources.defer(() => rogue.close());
  await until(() => rogue.isAccepted, { what: "the switch" });
  const unsupported = { type: ERROR.roleRequestFailed, code: 1, data: new Uint8Array(0) };
  rogue.send("error", unsupported);
  await until(() => source.metric("switch_errors_total") === 1, { what: "the error" });
  expect(source.metric("roles_refused_total")).toBe(0);
  expect(source.sink.devices.get(deviceId(1))).toMatchObject({ available: true, role: "MASTER" });
});

test("after a run only the counters are left in the metrics", async () => {
  const source = await startSource();
  await resources.connect(buildNetwork(1, []).net, source.port);
  await until(() => source.metric("switches") === 1, { what: "the switch" });
  await source.stop();
  expect(source.source.metrics?.()).not.toContainKeys(["sessions", "switches", "links", "hosts"]);
  expect(source.metric("sessions_total")).toBe(1);
});

describe("TLS", () => {
  let folder = "";
  const available = needs("openssl");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gazetteer-openflow-"));
    if (!available) return;
    createCertificates(folder, ["server", "switch"]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(file(name), "utf8");

  test.skipIf(!available)(
    "carries sessions, and requires a client certificate when a CA is configured",
    async () => {
      const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
      const source = await resources.startSource({ tls });
      const net = new EmulatedNetwork();
      resources.defer(() => net.disconnect());
      const identity = { cert: text("switch.pem"), key: text("switch.key") };
      await net
        .add(1, 2)
        .connect({ port: source.port, tls: { ca: text("ca.pem"), rejectUnauthorized: false, ...identity } });
      await until(() => source.sink.devices.size === 1, { what: "the switch" });
      const withoutCertificate = net.add(2, 2);
      await withoutCertificate
        .connect({ port: source.port, tls: { rejectUnauthorized: false } })
        .catch(() => {});
      await until(() => !withoutCertificate.connected, { what: "the switch without a certificate rejected" });
      // Plain TCP is rejected too.
      const peer = await rawPeer(source.port);
      peer.send(encode("hello", { versions: [4] }));
      await until(() => peer.closed(), { what: "plain TCP rejected" });
      expect([...source.sink.devices.keys()]).toEqual([deviceId(1)]);
    },
  );
});

test("a listener whose address is in use fails with the reason", async () => {
  const { port } = await connectNetwork(buildNetwork(1, []));
  const { createOpenflowSource } = await import("../../../src/sources/openflow/openflow.ts");
  const { systemClock } = await import("../../../src/lib/clock.ts");
  const { silentLogger } = await import("../../../src/lib/logger.ts");
  const second = createOpenflowSource(
    { name: "x", listen: `127.0.0.1:${port}`, forwarding: "bridge" },
    { clock: systemClock, log: silentLogger },
  );
  const run = second.run(new MemorySink(), new AbortController().signal);
  await expect(run).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the address is in use`);
});
