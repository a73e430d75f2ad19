/**
 * What the nodes make of an engine that replaces messages which it has delivered, and of a writer that has applied such: a
 * message counts only after the one that its writer has applied.
 */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { natsCluster } from "../../src/cluster/nats/nats-cluster.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { sealKey } from "../../src/log/jetstream/identity.ts";
import { encodeBatch, encodeTakeover } from "../../src/log/jetstream/messages.ts";
import { encodePosition, type StreamPosition } from "../../src/log/jetstream/position.ts";
import { ClusterSnapshots } from "../../src/log/jetstream/snapshots.ts";
import { snapshotOf } from "../../src/view/view.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";
import { emptyServer, type LogNode, openNode, SECRET } from "./log-nodes.ts";
import { device, expectSame, writer } from "./writing.ts";

const OTHER = { kind: "devices" as const, id: device(99).id, before: null, changed: [] };

/** The value of a device that the node has, as another one. */
function otherEntry(node: LogNode) {
  const [known] = node.committer.view.range("devices", "", "\uffff");
  if (!known) throw new Error("the node has no device");
  return { ...OTHER, after: JSON.stringify({ ...JSON.parse(known.text), ...device(99) }) };
}

/** The copy gets one more batch, of a message that the stream does not have any more, and as many after it. */
async function diverge(path: string, position: StreamPosition, node: LogNode): Promise<void> {
  const local = openEmbeddedLog(path, { retry: { clock: systemClock, logger: silentLogger } });
  const sequence = position.sequence + 1;
  const links = [...position.links, { sequence, signature: "replaced" }];
  const { newest } = local.stats();
  const batch = { revision: newest + 1, time: Date.now(), entries: [otherEntry(node)] };
  await local.append(batch);
  await local.storePosition(encodePosition({ ...position, sequence, links }));
  await local.close();
}

test("a node that has applied a message which NATS has replaced loads the log again, and shows what the others do", async () => {
  await using nats = await emptyServer();
  const path = join(temporaryFolder(), "copy.sqlite");
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 3);
  let position: StreamPosition | undefined;
  {
    await using b = await openNode(nats, "node-b", { path });
    await b.caughtUp();
    position = b.log.position;
  }
  await diverge(path, position, a);
  await write(3, 4);
  const { lastSequence } = await a.log.stream.info();
  {
    await using b = await openNode(nats, "node-b", { path });
    expect(b.committer.view.has("devices", OTHER.id)).toBe(true);
    // Its number is that of the last message, so that NATS would take what it writes.
    expect([b.log.sequence, b.log.stats().newest]).toEqual([lastSequence, a.log.stats().newest]);
    await expect(b.log.takeOver("b", AbortSignal.any([b.log.lost]))).rejects.toThrow("closed");
    expect(b.log.health.trouble?.condition).toBe("diverged");
  }
  expect((await a.log.stream.info()).lastSequence).toBe(lastSequence);
  await using b = await openNode(nats, "node-b", { path });
  await b.caughtUp();
  expect(existsSync(`${path}.${a.log.id}`)).toBe(true);
  expectSame(b, a);
  expect(b.log.health.trouble).toBeUndefined();
});

test("what a writer has written after a message that NATS has replaced is ignored by all nodes, and counted", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  await using b = await openNode(nats, "node-b");
  const write = await writer(a);
  await write(0, 3);
  await b.caughtUp();
  const { revision } = b.committer.view;
  const other = { log: a.log.id, key: a.log.signingKey, node: "node-x" };
  const takeover = encodeTakeover("a", other, "takeover", "replaced");
  // The next revision, of the right log, and signed.
  const batch = { revision: revision + 1, time: Date.now(), entries: [otherEntry(a)] };
  const [message] = await encodeBatch(batch, other, "batch", takeover.signature, 100_000);
  if (!message) throw new Error("no message");
  for (const each of [takeover, message]) await a.log.stream.publish(each);
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  await write(3, 5);
  await b.caughtUp();
  await using c = await openNode(nats, "node-c");
  await c.caughtUp();
  for (const node of [a, b, c]) {
    expect(node.log.foreignMessages).toBe(2);
    expect(node.log.holderOf("a")).toBe("node-a");
    expect(node.committer.view.has("devices", OTHER.id)).toBe(false);
    expect(node.committer.view.revision).toBe(revision + 2);
    expect(node.log.lost.aborted).toBe(false);
  }
  expectSame(b, a);
  expectSame(c, a);
});

test("a node that others write past finds out that it is the one that has diverged", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 3);
  await using b = await openNode(nats, "node-b");
  await b.caughtUp();
  // From now on the stream has another message than the one that it has delivered to this node.
  const { sequence } = b.log;
  const { stream } = b.log;
  const stored = stream.message.bind(stream);
  const before = await stored(sequence - 1);
  stream.message = async (wanted) => (wanted === sequence ? before : stored(wanted));
  const [message] = await encodeBatch(
    { revision: a.committer.view.revision + 1, time: Date.now(), entries: [otherEntry(a)] },
    { log: a.log.id, key: a.log.signingKey, node: "node-x" },
    "batch",
    "another",
    100_000,
  );
  if (message) await a.log.stream.publish(message);
  await until(() => b.log.lost.aborted, { what: "that the node is lost" });
  expect(b.log.health.trouble?.condition).toBe("diverged");
  await a.caughtUp();
  expect(a.log.lost.aborted).toBe(false);
  expect(a.log.health.trouble).toBeUndefined();
});

test("a new node does not begin with the snapshot of one that had applied what NATS has replaced", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 3);
  const { position, id: log, signingKey } = a.log;
  const last = position.links.at(-1);
  if (!last) throw new Error("no message");
  const links = [...position.links.slice(0, -1), { ...last, signature: "replaced" }];
  const cluster = natsCluster(a.client, { name: "test", replicas: 1 }, SECRET);
  const snapshots = new ClusterSnapshots(cluster, systemClock);
  const identity = { log, key: sealKey(SECRET, signingKey), position: { ...position, links } };
  expect(await snapshots.write(identity, runToEnd(snapshotOf(a.committer.view.capture())))).toBe(true);
  await write(3, 5);
  await using b = await openNode(nats, "node-b");
  await b.caughtUp();
  expectSame(b, a);
  expect(b.log.health.trouble).toBeUndefined();
});
