/**
 * Heavy reads, at the socket: while one user's heaviest reads run, another user is answered; each slice does a bounded
 * amount of work; a client that goes away or does not read stops its computation. Time passes only as the scheduler looks
 * at its clock, so that slices are counted and nothing is measured.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { hashPassword } from "../../src/api/auth/password.ts";
import { openUsers } from "../../src/api/auth/users.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { type Harness, openHarness } from "../api/harness.ts";
import { deviceId } from "../api/network.ts";
import { temporaryFolder } from "../support/folder.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
import { CountingScheduler } from "./counting-scheduler.ts";

const DEVICES = 2_000;
const HOSTS = 20_000;
const TIMEOUT_MS = 180_000;
const basic = (credentials: string) => `Basic ${btoa(credentials)}`;
const GREEDY = basic("greedy:secret");
const OTHER = basic("other:secret");

/** What a step may do: parse the entities of two pages. */
const MAX_PARSED_PER_STEP = 512;

let service: Harness;
let scheduler: CountingScheduler;
let unwatch = () => {};

beforeAll(async () => {
  scheduler = CountingScheduler.create();
  const file = join(temporaryFolder(), "users");
  await Bun.write(file, `other:${await hashPassword("secret")}\n`);
  const users = await openUsers({
    environment: "greedy:secret",
    file,
    clock: new ManualClock(),
    logger: silentLogger,
  });
  service = await openHarness({ scheduler, users, aliases: ["onos"] });
  const at = (n: number, port: number) => ({ device: deviceId(1 + (n % DEVICES)), port });
  await service.replace({
    devices: Array.from({ length: DEVICES }, (_, n) => ({
      id: deviceId(n + 1),
      annotations: { name: `switch ${n}` },
    })),
    links: Array.from({ length: DEVICES }, (_, n) => [
      { src: at(n, 1), dst: at(n + 1, 2) },
      { src: at(n + 1, 2), dst: at(n, 1) },
    ]).flat(),
    hosts: Array.from({ length: HOSTS }, (_, n) => ({
      mac: (n.toString(16).padStart(12, "0").match(/../g) ?? []).join(":"),
      vlan: String(1 + (n % 100)),
      ipAddresses: [`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`],
      locations: [{ elementId: deviceId(1 + (n % DEVICES)), port: 3 }],
    })),
  });
  unwatch = scheduler.watchJson();
  // Both passwords are hashed before the tests: later logins are look-ups.
  for (const authorization of [GREEDY, OTHER])
    await (await service.fetch("topology", { headers: { authorization } })).text();
}, TIMEOUT_MS);

afterAll(async () => {
  unwatch();
  await service.stop();
});

const read = (path: string, authorization: string, encoding = "identity") =>
  service.fetch(path, { headers: { authorization, "accept-encoding": encoding } });

describe("while one user's heavy read runs", () => {
  test.each<[path: string, encoding: string]>([
    ["topology?format=graphml", "identity"],
    ["topology?format=rfc8345", "identity"],
    ["topology?format=netjson", "identity"],
    ["topology?format=dot", "identity"],
    ["hosts?format=csv", "br"],
    ["hosts?format=csv", "gzip"],
    ["hosts?format=ndjson", "zstd"],
    ["hosts?q=a", "identity"],
    ["hosts?sort=-vlan", "identity"],
    ["hosts?limit=10&sort=vlan", "identity"],
    [`hosts?limit=10&sort=${Array(999).fill("vlan").join()}`, "identity"],
    [`hosts?around=${deviceId(1)}&hops=64`, "identity"],
    [`topology?around=${deviceId(1)}&hops=64`, "identity"],
    ["topology?diff=0..", "identity"],
    ["hosts?since=0", "identity"],
    ["hosts?since=0&fold=true", "identity"],
    ["/onos/v1/hosts", "identity"],
    ["hosts?fields=mac", "identity"],
    [`paths/${encodeURIComponent(deviceId(1))}/${encodeURIComponent(deviceId(1000))}`, "identity"],
    [`paths/${encodeURIComponent(deviceId(1))}/${encodeURIComponent(deviceId(1000))}/disjoint`, "identity"],
  ])(
    "%s in %s: another user is answered first, and no step does more than its quota",
    async (path, encoding) => {
      scheduler.counts.mostParsed = 0;
      const turnsBefore = scheduler.counts.turns;
      const order: string[] = [];
      const attack = read(path, GREEDY, encoding).then(async (response) => {
        await response.arrayBuffer();
        order.push("greedy");
        return response.status;
      });
      await until(() => scheduler.running("greedy") > 0 || order.length > 0, {
        what: "the read",
        everyMs: 0,
      });
      const other = await read(`hosts?ip=10.0.0.${order.length}`, OTHER);
      await other.arrayBuffer();
      order.push("other");
      expect([other.status, await attack]).toEqual([200, 200]);
      expect(order).toEqual(["other", "greedy"]);
      expect(scheduler.counts.turns - turnsBefore).toBeGreaterThan(1);
      expect(scheduler.counts.mostParsed).toBeLessThanOrEqual(MAX_PARSED_PER_STEP);
    },
    TIMEOUT_MS,
  );
});

/** A connection that sends a request and reads only when `readAll` is called. */
class SlowClient {
  readonly #socket = connect({ port: service.port, host: "127.0.0.1" });
  #received: Buffer[] = [];

  constructor(path: string) {
    this.#socket.on("error", () => {});
    this.#socket.on("data", (bytes) => this.#received.push(Buffer.from(bytes)));
    this.#socket.pause();
    this.#socket.write(
      `GET /controller/v1/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${GREEDY}\r\nConnection: close\r\n\r\n`,
    );
  }

  async readAll(): Promise<string> {
    const ended = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.resume();
    await ended;
    return Buffer.concat(this.#received).toString("latin1");
  }

  /** With a reset, as when the process ends: after a mere end of what it sends, a client may still read. */
  async leave(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.resetAndDestroy();
    await closed;
  }
}

const GRAPH = "topology?format=graphml";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until nothing was computed for the user in many turns of the event loop. */
async function untilIdle(user: string): Promise<void> {
  for (let quietTurns = 0; quietTurns < 50; ) {
    const before = scheduler.loopMs(user);
    await nextTurn();
    quietTurns = scheduler.running(user) === 0 && scheduler.loopMs(user) === before ? quietTurns + 1 : 0;
  }
}

/** What the whole document takes. */
async function costOfGraph(): Promise<number> {
  const before = scheduler.loopMs("greedy");
  await (await read(GRAPH, GREEDY)).arrayBuffer();
  return scheduler.loopMs("greedy") - before;
}

test(
  "a client that goes away cancels its computation",
  async () => {
    const cost = await costOfGraph();
    const before = scheduler.loopMs("greedy");
    scheduler.isHeld = true;
    const clients = Array.from({ length: 3 }, () => new SlowClient(GRAPH));
    await until(() => scheduler.running("greedy") === clients.length, { what: "the reads", everyMs: 0 });
    await Promise.all(clients.map((client) => client.leave()));
    for (let turn = 0; turn < 10; turn++) await nextTurn(); // the service reads the ends of the connections
    scheduler.release();
    await untilIdle("greedy");
    expect(scheduler.loopMs("greedy") - before).toBeLessThan(cost / 10);
  },
  TIMEOUT_MS,
);

test(
  "a document over 1 MB is produced no further than the client reads",
  async () => {
    const cost = await costOfGraph();
    const before = scheduler.loopMs("greedy");
    const client = new SlowClient(GRAPH);
    await until(() => scheduler.loopMs("greedy") > before, { what: "the read", everyMs: 0 });
    await untilIdle("greedy");
    expect(scheduler.loopMs("greedy") - before).toBeLessThan(cost * 0.9);
    expect(await client.readAll()).toEndWith("</graphml>\n\r\n0\r\n\r\n");
    expect(scheduler.loopMs("greedy") - before).toBeGreaterThan(cost * 0.9);
  },
  TIMEOUT_MS,
);
