/**
 * Attacks on the OpenFlow port of a running service. Each is repeated at the size at which it once hurt others, and what is
 * asserted is the mechanism: who is served first, what is counted, what is bounded.
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "../../../src/sources/openflow/codec/openflow-messages.ts";
import type { OpenflowOptions } from "../../../src/sources/openflow/options.ts";
import { HogProcess } from "../../hostile/hog-process.ts";
import { RawClient, sleepCount } from "../../hostile/raw-client.ts";
import { arpRequest } from "../../sources/openflow/emulated-host.ts";
import { Rogue, type RogueOptions, rogueMac } from "../../sources/openflow/rogue.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gazetteer-hostile-openflow-"));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => rmSync(folder, { recursive: true }));

class Target {
  readonly service: Service;
  readonly port: number;

  constructor(service: Service, port: number) {
    this.service = service;
    this.port = port;
  }

  async connect(options: RogueOptions): Promise<Rogue> {
    const rogue = await Rogue.connect(this.port, options);
    cleanups.push(() => rogue.close());
    return rogue;
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.service.fetch(`/controller/v1/${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  /** All metrics of the source, by name. */
  async metrics(): Promise<(name: string) => number> {
    const text = await (await this.service.fetch("/metrics")).text();
    return (name) =>
      Number(new RegExp(`^gazetteer_openflow_${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  }

  async isEnabled(device: string, port: number): Promise<boolean | undefined> {
    const { ports } = await this.get<{ ports: { port: string; isEnabled: boolean }[] }>(
      `devices/${device}/ports`,
    );
    return ports.find((one) => one.port === String(port))?.isEnabled;
  }

  async count(kind: "devices" | "hosts"): Promise<number> {
    return (await this.metrics())(kind === "devices" ? "switches" : "hosts");
  }
}

async function startTarget(options: Partial<OpenflowOptions> = {}, maxOpenFiles?: number): Promise<Target> {
  const config = join(folder, `${crypto.randomUUID()}.yaml`);
  const source = { type: "openflow", listen: "127.0.0.1:0", forwarding: "bridge", ...options };
  await Bun.write(config, `sources:\n  - ${JSON.stringify(source)}\n`);
  const service = await startService({
    args: ["--data", ":memory:", "--config", config],
    ...(maxOpenFiles !== undefined && { maxOpenFiles }),
  });
  cleanups.push(() => service.kill());
  const port = await until(() => /openflow listening on \S+:(\d+)/.exec(service.stderr())?.[1], {
    what: "the OpenFlow listener",
  });
  return new Target(service, Number(port));
}

const announce = (rogue: Rogue, port: number, mac: string, ip: string) =>
  rogue.send("packetIn", { reason: 1, inPort: port, frame: arpRequest(mac, ip, "10.0.0.1") });

describe("two rogue sessions with 8,190 ports", () => {
  test("that flood ARP do not delay the port change of another switch until they are through", async () => {
    const target = await startTarget();
    const honest = await target.connect({ dpid: 1, ports: 3, address: "127.0.0.2" });
    await until(async () => (await target.count("devices")) === 1, { what: "the honest switch" });
    const rogues = [
      await target.connect({ dpid: 11, ports: 8190 }),
      await target.connect({ dpid: 12, ports: 8190 }),
    ];
    await until(async () => (await target.count("devices")) === 3, { what: "the rogue switches" });
    const floods = rogues.map((_, index) => {
      const arps = Array.from({ length: 10_500 }, (_, i) => {
        const mac = rogueMac(0x7000_0000 + index * 0x10_0000 + i);
        const frame = arpRequest(mac, `10.${index}.${i >> 8}.${i & 255}`, "10.0.0.1");
        return encode("packetIn", { reason: 1, inPort: 1 + (i % 8190), frame });
      });
      return Buffer.concat(Array.from({ length: 20 }, () => arps).flat());
    });
    for (const [index, rogue] of rogues.entries()) rogue.sendBytes(floods[index] ?? Buffer.alloc(0));
    honest.setPort(2, false);
    await until(async () => (await target.isEnabled(honest.id, 2)) === false, {
      what: "the honest port down",
    });
    // A session is read at 20,000 messages a second at most, so the floods are not through.
    expect(rogues.some((rogue) => rogue.waitingBytes > 0)).toBe(true);
    const limited = async () => (await target.metrics())("frames_limited_total");
    await until(async () => (await limited()) > 1000, { what: "frames dropped", deadlineMs: 100_000 }).catch(
      async (error: unknown) => {
        const state = `${await limited()} frames were dropped\n${target.service.stderr().slice(-2000)}`;
        throw new Error(state, { cause: error });
      },
    );
    expect(await target.isEnabled(honest.id, 1)).toBe(true);
  }, 120_000);

  test("that leave with their hosts and come back find no work that grows with both", async () => {
    const target = await startTarget({ probeIntervalMs: 1000 });
    const comeWith = async (hosts: number) => {
      const rogue = await target.connect({ dpid: 11, ports: 8190 });
      await until(() => rogue.isAccepted, { what: "the switch" });
      await until(
        async () => {
          const known = await target.count("hosts");
          const arps = Array.from({ length: 1000 }, (_, i) => known + i).map((i) => {
            const frame = arpRequest(rogueMac(0x7000_0000 + i), `10.0.${i >> 8}.${i & 255}`, "10.0.0.1");
            return encode("packetIn", { reason: 1, inPort: 1 + (i % 8190), frame });
          });
          rogue.sendBytes(Buffer.concat(arps));
          return known >= hosts;
        },
        { what: `${hosts} hosts`, deadlineMs: 60_000, everyMs: 200 },
      );
      return rogue;
    };
    const rogue = await comeWith(4000);
    rogue.close();
    await until(async () => (await target.count("hosts")) === 0, { what: "removal", deadlineMs: 60_000 });
    // All ports settle at the same time, and the hosts that were last seen there are probed.
    await comeWith(1);
  }, 180_000);
});

test("a session that brings a new datapath id with 8,192 ports again and again is delayed, and its records are bounded", async () => {
  const target = await startTarget();
  const known = await target.connect({ dpid: 1, ports: 3, address: "127.0.0.2" });
  await until(async () => (await target.count("devices")) === 1, { what: "the honest switch" });
  const isLimited = async () => {
    const metric = await target.metrics();
    return (
      metric("changes_delayed_total") + metric("ports_refused_total") + metric("devices_refused_total") > 0
    );
  };
  for (let dpid = 100; dpid < 120; dpid++) {
    const rogue = await target.connect({ dpid, ports: 8192 });
    await until(async () => rogue.isAccepted || rogue.isClosed || (await isLimited()), {
      what: "accepted or not",
    });
    rogue.close();
  }
  expect(await isLimited()).toBe(true);
  // Eight switches fit, and then the tokens of the address are used up for minutes.
  expect(await target.count("devices")).toBeLessThanOrEqual(9);
  known.setPort(1, false);
  await until(async () => (await target.isEnabled(known.id, 1)) === false, {
    what: "the honest switch is served",
  });
}, 120_000);

test("a port MAC of a rogue switch does not hide a host of another switch", async () => {
  const target = await startTarget();
  const mac = rogueMac(0x7777_7777);
  const rogue = await target.connect({ dpid: 66, ports: 4, mac: () => mac });
  const honest = await target.connect({ dpid: 1, ports: 2, address: "127.0.0.2" });
  await until(async () => (await target.count("devices")) === 2, { what: "both switches" });
  await until(
    async () => {
      announce(honest, 1, mac, "10.0.0.7");
      return (await target.count("hosts")) === 1;
    },
    { what: "the host", everyMs: 200 },
  );
  rogue.close();
}, 60_000);

test("a port-status flood does not displace the history: its revisions are bounded and the ports are flagged", async () => {
  const target = await startTarget();
  const rogue = await target.connect({ dpid: 5, ports: 100 });
  await until(async () => (await target.count("devices")) === 1, { what: "the switch" });
  const revision = async () => (await target.metrics())("changes_delayed_total");
  expect(await revision()).toBe(0);
  const stream = new AbortController();
  const response = await target.service.fetch("/controller/v1/ports?format=events", {
    signal: stream.signal,
  });
  let events = 0;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) events += decoder.decode(chunk).split("\nid:").length - 1;
  })().catch(() => {});
  const sent = 50_000;
  for (let i = 0; i < sent; i++) rogue.setPort(1 + (i % 100), Math.floor(i / 100) % 2 === 1);
  await until(async () => (await target.metrics())("changes_delayed_total") > sent / 2, {
    what: "changes held",
    deadlineMs: 60_000,
  });
  expect((await target.metrics())("ports_flapping_total")).toBe(100);
  // Eleven changes of each port before it is damped, then two in ten seconds.
  await until(
    async () => {
      const { ports } = await target.get<{ ports: { annotations?: Record<string, string> }[] }>(
        `devices/${rogue.id}/ports`,
      );
      return ports.filter(({ annotations }) => annotations?.flapping === "true").length === 100;
    },
    { what: "all ports flagged" },
  );
  expect(events).toBeLessThan(3000);
  stream.abort();
}, 120_000);

describe.skipIf(process.platform !== "linux")("too few file descriptors", () => {
  test("because of connections: other addresses and requests are served, it is logged once, and it ends", async () => {
    const target = await startTarget({}, 128);
    const { service } = target;
    const lines = (text: string) => service.stderr().split(text).length - 1;
    const first = await target.connect({ dpid: 1, ports: 3, address: "127.0.0.2" });
    await until(async () => (await target.count("devices")) === 1, { what: "the first switch" });
    const url = `http://127.0.0.1:${target.port}`;
    const attackers = Array.from({ length: 300 }, () => new RawClient({ url }));
    cleanups.push(() => attackers.map(({ socket }) => socket.destroy()));
    await until(() => attackers.filter(({ isClosed }) => isClosed).length > 200, { what: "refusals" });
    const before = sleepCount(service.pid);
    await until(() => sleepCount(service.pid) > before + 5, { what: "an idle event loop" });
    // A silent connection makes room for it.
    const second = await target.connect({ dpid: 2, ports: 3, address: "127.0.0.3" });
    await until(() => second.isAccepted, { what: "the second switch" });
    expect((await target.metrics())("sessions_refused_total")).toBeGreaterThan(200);
    first.setPort(2, false);
    await until(async () => (await target.isEnabled(first.id, 2)) === false, { what: "the port down" });
    for (const { socket } of attackers) socket.destroy();
    await until(() => lines("openflow: there are enough file descriptors again") === 1, { what: "the end" });
    expect(lines("openflow: too few file descriptors")).toBe(1);
    const third = await target.connect({ dpid: 3, ports: 3 });
    await until(() => third.isAccepted, { what: "the third switch" });
    expect([first.isClosed, second.isClosed]).toEqual([false, false]);
  }, 60_000);

  test("because of something else: the port is closed until there are enough, and sessions stay", async () => {
    await using hog = new HogProcess(128, "openflow");
    const port = Number(await hog.nextLine());
    const connect = async (dpid: number) => {
      const rogue = await Rogue.connect(port, { dpid, ports: 3 });
      cleanups.push(() => rogue.close());
      return rogue;
    };
    const first = await connect(1);
    await until(() => first.isAccepted, { what: "the first switch" });
    hog.send("take");
    expect(await hog.nextLine()).toBe("exhausted");
    const refused = Array.from({ length: 10 }, () => new RawClient({ url: `http://127.0.0.1:${port}` }));
    await until(() => refused.every(({ isClosed }) => isClosed), { what: "refusals" });
    const before = sleepCount(hog.pid);
    await until(() => sleepCount(hog.pid) > before + 5, { what: "an idle event loop" });
    hog.send("give back");
    expect(await hog.nextLine()).toBe("enough");
    // The port is opened after the line.
    const second = await until(
      async () => {
        const rogue = await connect(2);
        return rogue.isClosed ? undefined : rogue;
      },
      { what: "an open port" },
    );
    await until(() => second.isAccepted, { what: "the second switch" });
    expect(first.isClosed).toBe(false);
    // Also the session that was accepted before the port was closed.
    hog.send("stop");
    expect(await hog.nextLine()).toBe("stopped");
    await until(() => first.isClosed && second.isClosed, { what: "the end of both sessions" });
  }, 60_000);
});
