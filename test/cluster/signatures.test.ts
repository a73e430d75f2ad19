/** Requests and snapshots that no node has written, or that are sent again, change nothing and are counted. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Objm } from "@nats-io/obj";
import type { Msg } from "@nats-io/transport-node";
import { natsCluster } from "../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { signText } from "../../src/cluster/nats/signed.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { hasOtherSecret } from "../../src/log/jetstream/load-copy.ts";
import { ClusterSnapshots } from "../../src/log/jetstream/snapshots.ts";
import { runCommand } from "../support/command.ts";
import { emptyServer, type LogNode, NAMES, openNode, SECRET } from "./log-nodes.ts";
import { deviceId, ServiceNode, shortenLeases, testNats } from "./service-nodes.ts";
import { expectSame, writer } from "./writing.ts";

const PLACES = ["snapshot-a", "snapshot-b"];

test("a request that is sent again or not signed changes nothing; another secret is named as the cause", async () => {
  await using nats = await emptyServer();
  const cluster = { nats, name: "signed", replicas: 1 };
  const ownSecret = "the secret of this cluster";
  await shortenLeases(cluster, 2_000, ownSecret);
  await using node = new ServiceNode(cluster, "a");
  const secretFile = join(node.folder, "secret");
  writeFileSync(secretFile, ownSecret, { mode: 0o600 });
  const section = { servers: nats.urls.split(","), name: "signed", replicas: 1, node: "a", secretFile };
  const configure = (sources: string[]) => node.configure(sources, { cluster: section });
  for (const source of ["x", "y"]) node.writeNetwork(source, [{ id: deviceId(1), hw: `of ${source}` }]);
  configure(["x", "y"]);
  await node.start();
  for (const source of ["x", "y"]) await node.untilSource(source, "synced");
  const hardware = async () => JSON.parse(await node.read(`devices/${deviceId(1)}`)).hw;
  const file = join(node.folder, "gazetteer.yaml");
  const command = (...args: string[]) => runCommand(["cluster", ...args, "--config", file]);

  await using client = await testNats(cluster);
  const sent: Msg[] = [];
  const spy = client.connection.subscribe("gazetteer.signed.requests.>", {
    callback: (_, message) => void sent.push(message),
  });
  configure(["y", "x"]);
  expect(await command("apply")).toMatchObject({ status: 0 });
  expect(await hardware()).toBe("of y");
  spy.unsubscribe();
  configure(["x", "y"]);
  expect(await command("apply")).toMatchObject({ status: 0 });
  expect(await hardware()).toBe("of x");

  // Two for what would change, and one that made the order another.
  const ofNode = sent.filter(({ subject }) => subject.includes(".requests.node."));
  expect(ofNode).toHaveLength(2);
  const { revision } = await node.readiness();
  for (const { subject, data } of ofNode) {
    const answer = await client.connection.request(subject, data);
    expect(answer.string()).toBe("");
    // Not signed for the subject of all nodes either.
    await client.connection.request("gazetteer.signed.requests", data);
  }
  const forged = signText(Buffer.from("x"), "gazetteer.signed.requests", { nonce: "0123456789abcdef" });
  await client.connection.request("gazetteer.signed.requests", forged);
  const metrics = await (await node.service.fetch("/metrics")).text();
  expect(metrics).toContain('gazetteer_cluster_foreign_messages_total{place="requests"} 5\n');
  expect(await hardware()).toBe("of x");
  expect((await node.readiness()).revision).toBe(revision);

  // A source that no node has any more.
  expect(await node.service.stop()).toBe(0);
  configure(["x"]);
  await node.start();
  await node.untilSource("x", "synced");
  const forgotten = await command("forget", "y");
  expect(forgotten.stderr).toBe("");
  expect(forgotten.stdout).toMatch(/^the source y and its claims are removed at revision \d+\n$/);
  expect((await command("apply", "--dry-run")).stdout).toBe("the cluster has these settings already\n");

  writeFileSync(secretFile, "another secret than theirs");
  const refused = await command("apply");
  expect(refused).toMatchObject({ status: 1, stdout: "" });
  expect(refused.stderr).toContain("have another secret; give the cluster.secretFile that they have");
  expect(await command("status")).toEqual(refused);
}, 120_000);

test("another secret is recognised also when the first message is purged", async () => {
  await using nats = await emptyServer();
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  const isOther = (secret: ClusterSecret) => {
    const cluster = natsCluster(a.client, { name: "test", replicas: 1 }, secret);
    return hasOtherSecret(a.log.stream, new ClusterSnapshots(cluster, systemClock), secret);
  };
  const other = new ClusterSecret(Buffer.from("another secret than theirs"));
  await write(0, 20);
  expect([await isOther(SECRET), await isOther(other)]).toEqual([false, true]);
  await a.snapshots.publish();
  await write(20, 30);
  await a.snapshots.publish();
  expect((await a.log.stream.info()).firstSequence).toBeGreaterThan(1);
  expect([await isOther(SECRET), await isOther(other)]).toEqual([false, true]);
});

/** Writes an object in place of a snapshot. */
async function replace(node: LogNode, name: string, metadata: Record<string, string>, content: Uint8Array) {
  const store = await new Objm(node.client.jetstream).open(NAMES.snapshots);
  await store.putBlob({ name, metadata }, content);
}

async function stored(node: LogNode, name: string) {
  const store = await new Objm(node.client.jetstream).open(NAMES.snapshots);
  const [info, content] = [await store.info(name), await store.getBlob(name)];
  if (!info || !content) throw new Error(`${name} is missing`);
  return { metadata: info.metadata ?? {}, content: Buffer.from(content) };
}

describe("a snapshot that no node has written", () => {
  test("in one place: the other one is used, and what is wrong is counted and not purged for", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    const write = await writer(a);
    await write(0, 20);
    await a.snapshots.publish();
    await write(20, 30);
    await a.snapshots.publish();
    await write(30, 35);
    const { firstSequence } = await a.log.stream.info();
    expect(firstSequence).toBeGreaterThan(1);
    const newest = await stored(a, "snapshot-b");
    // One byte of a page is another.
    const damaged = Buffer.from(newest.content);
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 60) ^ 1, damaged.length - 60);
    await replace(a, "snapshot-b", newest.metadata, damaged);
    {
      await using b = await openNode(nats, "node-b");
      await b.caughtUp();
      expectSame(b, a);
      expect(b.foreign.counts.snapshots).toBe(1);
    }
    // The content of the other place, the end is missing, facts of somebody else.
    const older = await stored(a, "snapshot-a");
    const truncated = newest.content.subarray(0, newest.content.length - 37);
    const [, text = ""] = /^\S+ (.*)$/s.exec(newest.metadata.snapshot ?? "") ?? [];
    const facts = JSON.parse(text);
    const ahead = { ...facts, position: { ...facts.position, sequence: facts.position.sequence + 5 } };
    const forgedKey = new ClusterSecret(Buffer.from("somebody")).derive("snapshots");
    const forged = { snapshot: signText(forgedKey, NAMES.snapshots, ahead) };
    for (const [metadata, content] of [
      [newest.metadata, older.content],
      [newest.metadata, truncated],
      [forged, newest.content],
    ] as const) {
      await replace(a, "snapshot-b", metadata, content);
      await using c = await openNode(nats, "node-c");
      await c.caughtUp();
      expectSame(c, a);
      expect(c.foreign.counts.snapshots).toBe(1);
    }
    // What is wrong is replaced first, and nothing was purged because of it.
    await a.snapshots.publish();
    expect((await stored(a, "snapshot-b")).metadata).not.toEqual(forged);
    expect((await a.log.stream.info()).firstSequence).toBe(firstSequence);
  });

  test("in both places: the stream is read if it has everything, and otherwise the node says what is wrong", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a", { snapshotMessages: 1000 });
    const write = await writer(a);
    await write(0, 20);
    for (let n = 0; n < 2; n++) await a.snapshots.publish();
    for (const name of PLACES) await replace(a, name, {}, Buffer.from("no snapshot"));
    {
      await using b = await openNode(nats, "node-b");
      await b.caughtUp();
      expectSame(b, a);
      expect(b.foreign.counts.snapshots).toBe(2);
    }
    await a.log.stream.purge(10);
    await expect(openNode(nats, "node-c")).rejects.toThrow(
      /not signed with this secret.*cluster\.secretFile/,
    );
    // With the facts of a node, and other content.
    await a.snapshots.publish();
    const { metadata } = await stored(a, "snapshot-a");
    for (const name of PLACES) await replace(a, name, metadata, Buffer.from("no snapshot"));
    await expect(openNode(nats, "node-c")).rejects.toThrow(/no complete state/);
  });
});
