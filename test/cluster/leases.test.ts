/** Sources under leases: each runs on one node, moves when its node is lost, and is written by one node at a time. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ClockCheck } from "../../src/cluster/clock-check.ts";
import { clusterNames, natsCluster } from "../../src/cluster/nats/nats-cluster.ts";
import { announceNode, clearFormerRun, readNodes } from "../../src/cluster/nodes.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { readSecret } from "../../src/service/cluster/open-cluster.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import {
  deviceId,
  messagesOf,
  ServiceNode,
  shortenLeases,
  type TestCluster,
  testNats,
} from "./service-nodes.ts";

const SHORT_TTL_MS = 4_000;
const device = (id: number, hw?: string) => ({ id: deviceId(id), ...(hw !== undefined && { hw }) });

let nats: NatsServers;
beforeAll(async () => {
  nats = await startNatsServers();
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

async function clusterOf(name: string, ttlMs: number | undefined = SHORT_TTL_MS): Promise<TestCluster> {
  const cluster = { nats, name, replicas: 1 };
  if (ttlMs !== undefined) await shortenLeases(cluster, ttlMs);
  return cluster;
}

/** Two nodes with the same source, which runs on the first. */
async function startPair(
  cluster: TestCluster,
  /** As the first one knows it. */
  clusterOfA = cluster,
): Promise<{ readonly a: ServiceNode; readonly b: ServiceNode }> {
  const [a, b] = [new ServiceNode(clusterOfA, "a"), new ServiceNode(cluster, "b")];
  for (const node of [a, b]) {
    node.configure(["site"]);
    node.writeNetwork("site", [device(1)]);
    await node.start();
  }
  await a.untilSource("site", "synced");
  await b.untilSource("site", "standby");
  return { a, b };
}

test("a node that cannot renew its lease stops its source by itself, and runs it again when NATS is back", async () => {
  await using a = new ServiceNode(await clusterOf("cut"), "a");
  a.configure(["site"]);
  a.writeNetwork("site", [device(1)]);
  await a.start();
  await a.untilSource("site", "synced");
  const [server] = nats.servers;
  server?.pause();
  try {
    await a.untilSource("site", "standby");
    expect(await a.deviceIds()).toEqual([deviceId(1)]);
  } finally {
    server?.resume();
  }
  a.writeNetwork("site", [device(1), device(2)]);
  await a.untilSource("site", "synced");
  expect(await a.deviceIds()).toEqual([deviceId(1), deviceId(2)]);
});

test("a lease that the engine has lost is made again, and its source goes on", async () => {
  const cluster = await clusterOf("lost");
  await using a = new ServiceNode(cluster, "a");
  a.configure(["site"]);
  a.writeNetwork("site", [device(1)]);
  await a.start();
  await a.untilSource("site", "synced");
  await using client = await testNats(cluster);
  const stream = `KV_${clusterNames(cluster.name).leases}`;
  const state = async () => (await client.manager.streams.info(stream)).state;
  await client.manager.streams.purge(stream);
  const { last_seq: last } = await state();
  // Made again, and renewed.
  await until(async () => (await state()).last_seq >= last + 3, { what: "renewals" });
  expect((await state()).messages).toBe(1);
  expect((await messagesOf(cluster)).filter(({ type }) => type === "takeover")).toHaveLength(1);
  expect((await a.source("site"))?.status).toBe("synced");
});

test("a source that no node has any more is stale on the others, and live again with its node", async () => {
  const cluster = await clusterOf("orphan");
  await using a = new ServiceNode(cluster, "a");
  await using b = new ServiceNode(cluster, "b");
  a.configure(["only-a"]);
  a.writeNetwork("only-a", [device(1)]);
  b.configure([]);
  await a.start();
  await b.start();
  const claim = async () => JSON.parse(await b.read(`devices/${deviceId(1)}?explain=true`)).claims[0].status;
  await until(async () => (await claim()) === "live", { what: "the claim of a on b" });
  await a.kill();
  await until(async () => (await claim()) === "stale", { what: "the stale claim on b" });
  await a.start();
  await until(async () => (await claim()) === "live", { what: "the live claim on b" });
});

test("a node that was killed runs its source again at once, and another one with its name never takes it", async () => {
  // A lease that nobody could wait for.
  const cluster = await clusterOf("again", 600_000);
  await using a = new ServiceNode(cluster, "a");
  await using twin = new ServiceNode(cluster, "a");
  for (const node of [a, twin]) {
    node.configure(["site"]);
    node.writeNetwork("site", [device(1)]);
    await node.start();
  }
  await a.untilSource("site", "synced");
  await twin.untilSource("site", "standby");
  for (const [node, status] of [
    [twin, "standby"],
    [a, "synced"],
  ] as const) {
    await node.kill();
    await node.start();
    await node.untilSource("site", status, 30_000);
  }
  await twin.untilSource("site", "standby");
  const written = await messagesOf(cluster);
  // Each run of `a` that holds it has a name of its own; there are no others.
  const runs = written.filter(({ type }) => type === "takeover").map(({ node }) => node);
  expect(new Set(runs).size).toBe(2);
  expect(runs).toHaveLength(2);
});

describe("two nodes with the same source", () => {
  test("one runs it, the other is ready and on standby; when the first is killed, it moves with the real lease", async () => {
    // The bucket is made by the nodes.
    const cluster = { nats, name: "killed", replicas: 1 };
    const { a, b } = await startPair(cluster);
    await using _a = a;
    await using _b = b;
    expect(await b.readiness()).toMatchObject({
      status: "ready",
      sources: [{ status: "standby", node: "a" }],
    });
    expect((await a.source("site"))?.node).toBe("a");
    // What the file of a standby has is not read.
    b.writeNetwork("site", [device(1), device(2)]);
    const before = await b.sameAs(a);
    expect(before.here).toEqual(before.there);
    const { revision } = await b.readiness();
    const killedAt = Date.now();
    await a.kill();
    await b.untilSource("site", "synced", 40_000);
    // How long it may take is asserted in src/cluster/leases.test.ts.
    const takeover = (await messagesOf(cluster)).findLast(({ type }) => type === "takeover");
    expect(takeover?.node).toStartWith("b.");
    console.log(`taken over ${(takeover?.time ?? 0) - killedAt} ms after the kill`);
    const after = await b.readiness();
    expect(after.status).toBe("ready");
    expect(after.revision).toBeGreaterThan(revision);
    expect(await b.deviceIds()).toEqual([deviceId(1), deviceId(2)]);
  });

  test("an orderly stop hands it over at once", async () => {
    // A lease that nobody could wait for.
    const { a, b } = await startPair(await clusterOf("stopped", 600_000));
    await using _a = a;
    await using _b = b;
    expect(await a.service.stop()).toBe(0);
    await b.untilSource("site", "synced", 20_000);
    expect((await b.source("site"))?.node).toBe("b");
  });

  test("a node that was paused past its lease writes nothing any more, also when the new one has nothing to say", async () => {
    const { a, b } = await startPair(await clusterOf("paused"));
    await using _a = a;
    await using _b = b;
    const { revision } = await b.readiness();
    a.pause();
    // Both files have the same content: the takeover is all that b writes.
    await b.untilSource("site", "synced");
    expect((await b.readiness()).revision).toBe(revision);
    a.writeNetwork("site", [device(7)]);
    a.resume();
    await a.untilSource("site", "standby");
    expect((await a.source("site"))?.node).toBe("b");
    b.writeNetwork("site", [device(1), device(3)]);
    await until(async () => (await b.readiness()).revision > revision, { what: "the change on b" });
    const { here, there } = await a.sameAs(b);
    expect(here).toEqual(there);
    expect(await a.deviceIds()).toEqual([deviceId(1), deviceId(3)]);
    const changes = await a.read(`devices?since=${revision}`);
    expect(changes).not.toContain(deviceId(7));
  });

  test("a node that was paused in the middle of a report: the log refuses the rest of it", async () => {
    const cluster = await clusterOf("amid");
    await using proxy = await startTcpProxy(nats.servers[0]?.port ?? 0);
    const urls = `nats://127.0.0.1:${proxy.port}`;
    const { a, b } = await startPair(cluster, { ...cluster, nats: { ...nats, urls } });
    await using _a = a;
    await using _b = b;
    const isAmid = proxy.loseAnswerTo(` ${clusterNames(cluster.name).subject} `);
    // A batch has a thousand claims. The first one is stored, and that is all that a publishes before it is paused.
    a.writeNetwork(
      "site",
      Array.from({ length: 2_000 }, (_, n) => device(n + 1)),
    );
    await isAmid;
    a.pause();
    await b.untilSource("site", "synced");
    expect(await b.deviceIds()).toEqual([deviceId(1)]);
    a.resume();
    await a.untilSource("site", "standby");
    b.writeNetwork("site", [device(2)]);
    await until(async () => (await a.deviceIds())[0] === deviceId(2), { what: "the change of b on a" });
    expect(await a.read("devices?since=0")).not.toContain(deviceId(2_000));
    const written = await messagesOf(cluster);
    const [first, second, ...more] = written.filter(({ type }) => type === "takeover");
    expect(more).toEqual([]);
    expect([first?.node, second?.node]).toEqual([
      expect.stringMatching(/^a\./),
      expect.stringMatching(/^b\./),
    ]);
    const after = written.filter(
      ({ type, sequence }) => type === "batch" && sequence > (second?.sequence ?? 0),
    );
    expect(after.length).toBeGreaterThan(0);
    expect(new Set(after.map(({ node }) => node))).toEqual(new Set([second?.node ?? ""]));
  });
});

test("a node that is two hours ahead finds that its own clock is wrong, by NATS and by another node", async () => {
  const cluster = { nats, name: "clocks", replicas: 1 };
  await using client = await testNats(cluster);
  const opened = natsCluster(client, cluster, readSecret({ cluster: nats }));
  const nodeOf = (name: string, clock: Clock) => {
    const clockCheck: ClockCheck = new ClockCheck(clock, async () => {
      const nodes = await readNodes(opened, clockCheck.natsClock);
      return nodes.filter(({ node, lostSince }) => node !== name && lostSince === undefined);
    });
    return { cluster: opened, clock, clockCheck };
  };
  const ahead = nodeOf("a", { ...systemClock, now: () => Date.now() + 7_200_000 });
  const right = nodeOf("b", systemClock);
  await clearFormerRun(ahead, "a");
  expect(await ahead.clockCheck.check()).toBe("suspect");
  await clearFormerRun(right, "b");
  const stop = new AbortController();
  const facts = { url: "", version: "", revision: 0, sequence: 0, sources: [], held: [], startedAt: 0 };
  const status = () => ({
    ...facts,
    node: "b",
    nodeName: "b",
    clockOffsetMs: right.clockCheck.offsetMs ?? Number.NaN,
  });
  // Where the log is gone, a node that stops stays in the list: others wait for what it has.
  const announced = announceNode({ ...right, isKept: () => true }, status, stop.signal);
  await until(async () => (await ahead.clockCheck.check()) === "wrong", { what: "the judgement of a" });
  expect(await right.clockCheck.check()).toBe("right");
  stop.abort();
  await announced;
  expect((await readNodes(opened, systemClock)).map(({ nodeName }) => nodeName)).toEqual(["b"]);
});
