/** What the stream may contain, and what may get lost on the way to it: a batch is applied whole and once, or not at all. */
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { headers } from "@nats-io/transport-node";
import { encodeBatch, encodeSigned, encodeTakeover } from "../../src/log/jetstream/messages.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startNatsServers } from "../support/nats-servers.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { emptyServer, type LogNode, NAMES, openNode } from "./log-nodes.ts";
import { device, expectSame, logger, setDevice, writer } from "./writing.ts";

/** Servers whose messages are small, so that a batch of some devices is larger than one. */
const SMALL_MESSAGES = "max_payload: 3072";

const manyDevices = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    op: "set" as const,
    kind: "devices" as const,
    // Random, so that it cannot be compressed.
    claim: { ...device(from + n), serial: randomBytes(16).toString("hex") },
  }));

/** The signature that the next message must name. */
const lastOf = ({ log }: LogNode): string => log.position.links.at(-1)?.signature ?? "";

/** As another node would write it: the next revision, with copies of the device that the node has. */
function nextBatch(node: LogNode, batchId: string, count: number) {
  const { view } = node.committer;
  const [known] = view.range("devices", "", "\uffff");
  if (!known) throw new Error("the node has no device");
  const entries = Array.from({ length: count }, (_, n) => ({
    kind: "devices" as const,
    id: device(n).id,
    before: null,
    after: JSON.stringify({
      ...JSON.parse(known.text),
      ...device(n),
      serial: randomBytes(64).toString("hex"),
    }),
    changed: [],
  }));
  const writer = { log: node.log.id, key: node.log.signingKey, node: "node-x" };
  const batch = { revision: view.revision + 1, time: Date.now(), entries };
  return encodeBatch(batch, writer, batchId, lastOf(node), node.log.stream.maxPayload);
}

describe("a batch larger than a message", () => {
  test("travels in parts and is visible whole", async () => {
    await using nats = await startNatsServers({ config: SMALL_MESSAGES });
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    await writer(a);
    const before = await a.log.stream.info();
    const sizes = new Set<number>();
    b.committer.onBatch(() => sizes.add(b.committer.view.size("devices")));
    await new ClaimIngest(a.committer, "a", logger).apply(manyDevices(0, 200));
    const after = await a.log.stream.info();
    expect(after.lastSequence - before.lastSequence).toBeGreaterThan(2);
    await b.caughtUp();
    expect([...sizes]).toEqual([200]);
    expectSame(b, a);
  });

  test("does not exist when its writer dies in between, and the next batch has its revision", async () => {
    await using nats = await startNatsServers({ config: SMALL_MESSAGES });
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    const write = await writer(a);
    await write(500, 501);
    await b.caughtUp();
    const parts = await nextBatch(b, "of a node that dies", 60);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts.slice(0, 2)) await b.log.stream.publish(part);
    const { revision } = b.committer.view;
    await write(501, 502);
    // The rest of it arrives late: still no batch.
    for (const part of parts.slice(2)) await b.log.stream.publish(part);
    await write(502, 503);
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    expect(b.committer.view.revision).toBe(revision + 2);
    expect(b.committer.view.has("devices", device(0).id)).toBe(false);
    expectSame(b, a);
    await using c = await openNode(nats, "node-c");
    await c.caughtUp();
    expectSame(c, a);
  });

  test("whose parts were only collected is read again after a restart", async () => {
    await using nats = await startNatsServers({ config: SMALL_MESSAGES });
    const path = join(temporaryFolder(), "copy.sqlite");
    await using a = await openNode(nats, "node-a");
    await (await writer(a))(500, 501);
    const parts = await nextBatch(a, "slow", 60);
    {
      await using b = await openNode(nats, "node-b", { path });
      await b.caughtUp();
      for (const part of parts.slice(0, 2)) await a.log.stream.publish(part);
      await b.caughtUp();
    }
    for (const part of parts.slice(2)) await a.log.stream.publish(part);
    await using b = await openNode(nats, "node-b", { path });
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    expect(b.committer.view.size("devices")).toBe(61);
    expectSame(b, a);
  });
});

test("a publish whose acknowledgement is lost is stored exactly once", async () => {
  await using nats = await emptyServer();
  await using proxy = await startTcpProxy(nats.servers[0]?.port ?? 0);
  await using a = await openNode({ urls: `nats://127.0.0.1:${proxy.port}` }, "node-a");
  await using b = await openNode(nats, "node-b");
  const write = await writer(a);
  await write(0, 1);
  const { lastSequence } = await b.log.stream.info();
  const { revision } = a.committer.view;
  const lost = proxy.loseAnswerTo("Gazetteer-Revision");
  await Promise.all([write(1, 2), lost]);
  expect((await b.log.stream.info()).lastSequence).toBe(lastSequence + 1);
  expect(a.committer.view.revision).toBe(revision + 1);
  await write(2, 3);
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect(b.committer.view.size("devices")).toBe(3);
  expectSame(b, a);
});

test("foreign and malformed messages change nothing and are counted", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  await using b = await openNode(nats, "node-b");
  const write = await writer(a);
  await write(0, 3);
  await b.caughtUp();
  const { revision } = b.committer.view;
  const { log, key, node } = { log: b.log.id, key: b.log.signingKey, node: "node-x" };
  const batch = { revision: revision + 1, time: Date.now(), entries: [] };
  const entry = { kind: "hosts" as const, id: "x", before: null, after: "{}", changed: [] };
  const encode = async (changed: Partial<typeof batch>, id: string, writer = { log, key, node }) =>
    encodeBatch({ ...batch, entries: [entry], ...changed }, writer, id, lastOf(b), 100_000);
  const [wrongRevision] = await encode({ revision }, "wrong revision");
  const [otherLog] = await encode({}, "other log", { log: "another", key, node });
  // The next revision, well-formed, and not by a node: its value would end the service.
  const [unsigned] = await encode({}, "unsigned", { log, key: randomBytes(32), node });
  const [damaged] = await encode({}, "damaged");
  if (!wrongRevision || !otherLog || !unsigned || !damaged) throw new Error("no message");
  const { jetstream } = a.client;
  const withHeaders = (values: Record<string, string>) => {
    const result = headers();
    for (const [name, value] of Object.entries(values)) result.set(name, value);
    return { headers: result };
  };
  await jetstream.publish(NAMES.subject, "not ours");
  await jetstream.publish(NAMES.subject, "", withHeaders({ "Gazetteer-Type": "batch" }));
  await jetstream.publish(
    NAMES.subject,
    "x",
    withHeaders({
      "Gazetteer-Type": "batch",
      "Gazetteer-Log": log,
      "Gazetteer-Batch": "b",
      "Gazetteer-Part": "0/1",
      "Gazetteer-Revision": String(revision + 1),
      "Gazetteer-Time": "999999999999999999999",
    }),
  );
  await a.log.stream.publish(wrongRevision);
  await a.log.stream.publish(otherLog);
  await a.log.stream.publish(unsigned);
  await a.log.stream.publish({ ...damaged, data: randomBytes(200) });
  await a.log.stream.publish(
    encodeTakeover("a", { log: "another", key, node }, "takeover of another log", lastOf(b)),
  );
  await a.log.stream.publish(encodeTakeover("a", { log, key, node }, "takeover after another message", "x"));
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect(b.log.foreignMessages).toBe(9);
  expect(b.committer.view.revision).toBe(revision);
  expect(b.log.holderOf("a")).toBe("node-a");
  await write(3, 6);
  await b.caughtUp();
  expect(b.committer.view.revision).toBe(revision + 3);
  expectSame(b, a);
});

/** The official client does not write such a header; others may. */
async function publishRaw(port: number, headerLine: string): Promise<void> {
  const head = `NATS/1.0\r\n${headerLine}\r\n\r\n`;
  const socket = connect(port, "127.0.0.1");
  socket.write(`CONNECT {"headers":true,"verbose":false}\r\n`);
  socket.write(`HPUB ${NAMES.subject} ${head.length} ${head.length}\r\n${head}\r\nPING\r\n`);
  await new Promise<void>((resolve, reject) => {
    let received = "";
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      received += chunk;
      if (received.includes("PONG")) resolve();
    });
  });
  socket.destroy();
}

test("a message whose headers cannot be read is foreign, as others are", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  await using b = await openNode(nats, "node-b");
  const write = await writer(a);
  await write(0, 1);
  const { lastSequence } = await a.log.stream.info();
  await publishRaw(nats.servers[0]?.port ?? 0, "a b: c");
  await until(async () => (await a.log.stream.info()).lastSequence > lastSequence, { what: "the message" });
  await write(1, 2);
  await b.caughtUp();
  expect(b.log.foreignMessages).toBe(1);
  expectSame(b, a);
  await using c = await openNode(nats, "node-c");
  await c.caughtUp();
  expectSame(c, a);
});

test("a batch that is made while NATS is away is whole, also where it is the first one of its node", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await nats.servers[0]?.kill();
  // The client asks the server anew for the size of messages.
  await until(() => a.client.connection.info === undefined, { what: "a lost connection" });
  const written = write(0, 3);
  await nats.servers[0]?.start();
  await written;
  await using b = await openNode(nats, "node-b");
  await b.caughtUp();
  expect(b.committer.view.size("devices")).toBe(3);
  expectSame(b, a);
});

test("a takeover takes a place in the stream and no revision", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  await using b = await openNode(nats, "node-b");
  await (await writer(a))(0, 2);
  const { revision } = a.committer.view;
  const { lastSequence } = await a.log.stream.info();
  const write = await writer(b);
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect((await a.log.stream.info()).lastSequence).toBe(lastSequence + 1);
  expect(a.committer.view.revision).toBe(revision);
  expect(a.log.holderOf("a")).toBe("node-b");
  await write(5, 6);
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect(a.committer.view.revision).toBe(revision + 1);
});

test("a crash between the acknowledgement of the stream and the local store loses nothing", async () => {
  await using nats = await emptyServer();
  const folder = temporaryFolder();
  const path = join(folder, "copy.sqlite");
  await using a = await openNode(nats, "node-a");
  let revision = 0;
  {
    await using b = await openNode(nats, "node-b", { path });
    const write = await writer(b, "b");
    await write(0, 3);
    await b.caughtUp();
    // What the disk had at a crash before the next batches were stored.
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, join(folder, `crashed.sqlite${suffix}`));
    await write(3, 6);
    revision = b.committer.view.revision;
  }
  await using b = await openNode(nats, "node-b", { path: join(folder, "crashed.sqlite") });
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect(b.committer.view.revision).toBe(revision);
  expectSame(b, a);
  expect([...b.log.read(0)].flatMap((batch) => batch?.revision ?? [])).toEqual(
    Array.from({ length: revision }, (_, n) => n + 1),
  );
  await new ClaimIngest(a.committer, "b", logger).apply([setDevice(9)]).catch(() => {});
  await until(() => b.log.lag === 0, { what: "that nothing is missing" });
});

test("a node that lacks a deleted message applies nothing after it, and waits for the snapshot that is due then; its copy is kept", async () => {
  await using nats = await emptyServer();
  const path = join(temporaryFolder(), "copy.sqlite");
  await using a = await openNode(nats, "node-a", { snapshotMessages: 1_000 });
  const write = await writer(a);
  await write(0, 5);
  const { revision, time } = a.committer.view;
  {
    await using b = await openNode(nats, "node-b", { path });
    await b.caughtUp();
  }
  const { sequence } = a.log;
  await write(5, 7);
  await a.client.manager.streams.deleteMessage(NAMES.stream, sequence + 1);
  // So does a node that reads all of the stream.
  for (const at of [path, ":memory:"]) {
    await using b = await openNode(nats, "node-b", { path: at });
    await until(() => b.log.health.trouble?.condition === "gap", { what: "the gap" });
    // It was never complete.
    expect(b.log.health.staleSince).toBe(time);
    expect(b.log.lost.aborted).toBe(false);
    expect(b.committer.view.revision).toBe(revision);
    expect(b.log.stats().newest).toBe(revision);
    expect(b.log.foreignMessages).toBe(0);
  }
  // The node that has it goes on, also after a look at the stream, and writes a snapshot.
  await write(7, 8);
  await a.caughtUp();
  expect(a.log.health.trouble).toBeUndefined();
  const stop = new AbortController();
  {
    await using b = await openNode(nats, "node-b");
    await until(() => b.log.health.trouble?.condition === "gap", { what: "the gap" });
    const publishing = a.snapshots.run(stop.signal);
    await until(() => b.log.lost.aborted, { what: "that the log is opened again" });
    stop.abort();
    await publishing;
  }
  await using b = await openNode(nats, "node-b", { path });
  await b.caughtUp();
  expectSame(b, a);
  expect(existsSync(`${path}.${a.log.id}`)).toBe(true);
});

test("a node stops before a message of a newer version, says so, and goes on from there once it is replaced", async () => {
  await using nats = await emptyServer();
  const path = join(temporaryFolder(), "copy.sqlite");
  await using a = await openNode(nats, "node-a");
  await (await writer(a))(0, 5);
  const { revision } = a.committer.view;
  const { sequence } = a.log;
  const newer = (key: Uint8Array) => {
    const values = { "Gazetteer-Format": "3", "Gazetteer-Type": "batch", "Gazetteer-Unknown": "x" };
    return encodeSigned(key, randomBytes(8).toString("hex"), values, randomBytes(10));
  };
  // Of somebody else: a node does not stop for it.
  await a.log.stream.publish(newer(randomBytes(32)));
  await a.caughtUp();
  expect(a.log.foreignMessages).toBe(1);
  await using b = await openNode(nats, "node-b", { path });
  await a.log.stream.publish(newer(a.log.signingKey));
  await b.caughtUp();
  await until(() => a.log.health.trouble && b.log.health.trouble, { what: "the newer version" });
  for (const { log, committer } of [a, b]) {
    expect(log.health.trouble).toMatchObject({ condition: "newer" });
    expect(log.health.trouble?.message).toContain("install the same version here");
    expect(committer.view.revision).toBe(revision);
    expect(log.lost.aborted).toBe(false);
    // It is read again by the next version.
    expect(log.position.sequence).toBe(sequence + 1);
  }
});
