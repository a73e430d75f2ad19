/** A new node begins with a snapshot and reads the rest of the stream; the stream is purged behind snapshots. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { removeUnusedChunks } from "../../src/log/jetstream/snapshots.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { storedBy } from "../support/view-contents.ts";
import { emptyServer, NAMES, openNode } from "./log-nodes.ts";
import { testNats } from "./service-nodes.ts";
import { expectSame, writer } from "./writing.ts";

describe("a new node", () => {
  test("has the same values, versions and holders from a snapshot and the tail as from the whole stream", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    const write = await writer(a);
    await write(0, 300);
    await a.snapshots.publish();
    await write(200, 320);
    await a.snapshots.publish();
    await write(320, 330);
    // Purged up to the snapshot before the newest: the first message is gone, and with it the base.
    const info = await a.log.stream.info();
    expect(info.firstSequence).toBe(303);
    const path = join(temporaryFolder(), "copy.sqlite");
    await using b = await openNode(nats, "node-b", { path });
    // What is in its log before it follows the stream is the snapshot.
    expect(b.log.stats().oldest).toBe(a.committer.view.revision - 10);
    await b.caughtUp();
    expectSame(b, a);
    expect(b.log.holderOf("a")).toBe("node-a");
  });

  test("whose copy the stream still continues uses it, and otherwise moves it away and loads a snapshot", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    const write = await writer(a);
    await write(0, 10);
    const folder = temporaryFolder();
    const path = join(folder, "copy.sqlite");
    {
      await using b = await openNode(nats, "node-b", { path });
      await b.caughtUp();
    }
    await write(10, 20);
    await a.snapshots.publish();
    await write(20, 30);
    {
      await using b = await openNode(nats, "node-b", { path });
      await b.caughtUp();
      expectSame(b, a);
      expect(b.log.stats().oldest).toBe(0);
    }
    await write(30, 40);
    await a.snapshots.publish();
    await a.snapshots.publish();
    await using b = await openNode(nats, "node-b", { path });
    await b.caughtUp();
    expectSame(b, a);
    expect(b.log.stats().oldest).toBe(a.committer.view.revision);
    expect(existsSync(`${path}.${a.log.id}`)).toBe(true);
  });

  test("that dies while it loads begins again", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await (await writer(a))(0, 10);
    await a.snapshots.publish();
    const folder = temporaryFolder();
    const path = join(folder, "copy.sqlite");
    // A file that has an identity and no position: as after a crash before the snapshot is complete.
    await openEmbeddedLog(path).close();
    await using b = await openNode(nats, "node-b", { path });
    await b.caughtUp();
    expectSame(b, a);
    expect(readdirSync(folder).filter((name) => name.includes("sqlite."))).toEqual([]);
  });

  test("with another secret is refused in words", async () => {
    await using nats = await emptyServer();
    await using _a = await openNode(nats, "node-a");
    const secret = new ClusterSecret(Buffer.from("another secret"));
    await expect(openNode(nats, "node-b", { secret })).rejects.toThrow(/cluster\.secretFile/);
  });
});

test("a secret is changed by deleting the stream: nodes with a copy go on from it, with a signing key that the old secret does not open", async () => {
  await using nats = await emptyServer();
  const folder = temporaryFolder();
  const [pathA, pathB] = [join(folder, "a.sqlite"), join(folder, "b.sqlite")];
  // What nodes on loopback had before every cluster needed a secret: anybody could derive it.
  const former = new ClusterSecret(Buffer.from("no secret: test"));
  let stored = new Map<string, string>();
  let key = new Uint8Array();
  {
    await using a = await openNode(nats, "node-a", { path: pathA, secret: former });
    await using b = await openNode(nats, "node-b", { path: pathB, secret: former });
    const write = await writer(a);
    await write(0, 5);
    await b.caughtUp();
    stored = storedBy(b.committer.view);
    key = Uint8Array.from(b.log.signingKey);
  }
  const refusal = /secret of the cluster is another one.*"Changing the secret"/;
  await expect(openNode(nats, "node-b", { path: pathB })).rejects.toThrow(refusal);
  {
    // Also where the first message is purged, and the snapshots are all that was sealed.
    await using a = await openNode(nats, "node-a", { path: pathA, secret: former });
    await a.snapshots.publish();
    await a.snapshots.publish();
    expect((await a.log.stream.info()).firstSequence).toBeGreaterThan(1);
  }
  await expect(openNode(nats, "node-b", { path: pathB })).rejects.toThrow(refusal);
  {
    await using client = await testNats({ nats });
    for (const name of [NAMES.stream, `OBJ_${NAMES.snapshots}`]) await client.manager.streams.delete(name);
  }
  await using b = await openNode(nats, "node-b", { path: pathB });
  expect(storedBy(b.committer.view)).toEqual(stored);
  expect(b.log.signingKey).not.toEqual(key);
  await using a = await openNode(nats, "node-a", { path: pathA });
  await (await writer(b))(5, 7);
  await a.caughtUp();
  expectSame(a, b);
});

test("two nodes that write snapshots at once keep one each time, and both can be read", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  await using b = await openNode(nats, "node-b");
  const write = await writer(a);
  for (let round = 0; round < 3; round++) {
    await write(round * 10, round * 10 + 10);
    await b.caughtUp();
    await Promise.all([a.snapshots.publish(), b.snapshots.publish()]);
  }
  await using c = await openNode(nats, "node-c");
  await c.caughtUp();
  expectSame(c, a);
});

test("a node that the stream has gone on without says so, and goes on from a snapshot once it is opened again", async () => {
  await using nats = await emptyServer();
  await using proxy = await startTcpProxy(nats.servers[0]?.port ?? 0);
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 5);
  const path = join(temporaryFolder(), "copy.sqlite");
  const throughProxy = { urls: `nats://127.0.0.1:${proxy.port}` };
  {
    await using b = await openNode(throughProxy, "node-b", { path });
    await b.caughtUp();
    const { revision } = b.committer.view;
    proxy.cut();
    await write(5, 10);
    await a.snapshots.publish();
    await a.snapshots.publish();
    proxy.open();
    await until(() => b.log.lost.aborted, { what: "that the node is lost" });
    expect(b.log.health.trouble?.condition).toBe("passed");
    // Nothing was applied with a gap.
    expect(b.committer.view.revision).toBe(revision);
  }
  await using b = await openNode(throughProxy, "node-b", { path });
  await b.caughtUp();
  expectSame(b, a);
});

test("nodes that lack what was purged wait for a snapshot, and get it: one with a copy serves that meanwhile", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a", { snapshotMessages: 1_000 });
  const write = await writer(a);
  await write(0, 5);
  const path = join(temporaryFolder(), "copy.sqlite");
  {
    await using b = await openNode(nats, "node-b", { path });
    await b.caughtUp();
  }
  const { revision, time } = a.committer.view;
  await write(5, 9);
  await a.log.stream.purge(a.log.sequence);
  const opening = openNode(nats, "node-c");
  const stop = new AbortController();
  {
    await using b = await openNode(nats, "node-b", { path });
    expect(b.log.health.trouble?.condition).toBe("gap");
    expect([b.committer.view.revision, b.log.health.staleSince]).toEqual([revision, time]);
    await until(() => b.log.blocked.aborted, { what: "that it writes nothing" });
    expect(b.log.lost.aborted).toBe(false);
    const publishing = a.snapshots.run(stop.signal);
    await until(() => b.log.lost.aborted, { what: "that the log is opened again" });
    stop.abort();
    await publishing;
  }
  await using b = await openNode(nats, "node-b", { path });
  await using c = await opening;
  for (const node of [b, c]) {
    await node.caughtUp();
    expectSame(node, a);
  }
});

test("what a killed node leaves of a snapshot is removed with the next one; what is written since then stays", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  const { jetstream, manager } = a.client;
  const [stream, prefix] = [`OBJ_${NAMES.snapshots}`, `$O.${NAMES.snapshots}.C.`];
  const chunksOf = async () => {
    const { state } = await manager.streams.info(stream, { subjects_filter: `${prefix}>` });
    return new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length)));
  };
  const write = await writer(a);
  await write(0, 5);
  await a.snapshots.publish();
  for (let chunk = 0; chunk < 3; chunk++) await jetstream.publish(`${prefix}killed`, new Uint8Array(100));
  expect((await chunksOf()).has("killed")).toBe(true);
  await write(5, 10);
  await a.snapshots.publish();
  const used = await chunksOf();
  expect([used.size, used.has("killed")]).toEqual([2, false]);

  const { seq } = await jetstream.publish(`${prefix}before`, new Uint8Array(100));
  await jetstream.publish(`${prefix}since`, new Uint8Array(100));
  await removeUnusedChunks(manager, NAMES.snapshots, seq + 1, used);
  expect(await chunksOf()).toEqual(new Set([...used, "since"]));
  await using b = await openNode(nats, "node-b");
  await b.caughtUp();
  expectSame(b, a);
});
