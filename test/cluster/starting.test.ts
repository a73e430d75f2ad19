/** A single node that is started with the `cluster` section begins the cluster's log with its own; one without goes on alone. */
import { describe, expect, spyOn, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Kvm } from "@nats-io/kv";
import { type ClusterNames, clusterNames } from "../../src/cluster/nats/nats-cluster.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { COPY_TO_DELETE } from "../../src/log/jetstream/position.ts";
import { changeIdentity, newIdentity } from "../../src/log/log-file.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { restoreView } from "../../src/view/restore.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startNatsServers } from "../support/nats-servers.ts";
import { spawnCommand } from "../support/service.ts";
import { until } from "../support/until.ts";
import { storedBy } from "../support/view-contents.ts";
import { type NodeOptions, openNode } from "./log-nodes.ts";
import { deviceId, ServiceNode, testNats } from "./service-nodes.ts";
import { logger, setDevice, writer } from "./writing.ts";

const settings = { identity: [], sources: [{ name: "a", role: "observed" as const, merge: true }] };
const nats = await startNatsServers();
let clusters = 0;
/** Each test has a cluster of its own on the same server. */
const newCluster = (): ClusterNames => clusterNames(`test${++clusters}`);

/** The log of a single node in `data`, whose history begins after `pruned` revisions. */
async function singleNode(data: string, pruned = 0, revisions = 30) {
  const log = openEmbeddedLog(join(data, "log.sqlite"));
  const committer = new Committer(restoreView(log).view, log, systemClock, settings);
  const ingest = new ClaimIngest(committer, "a", logger);
  const compactor = new Compactor(committer.view, log, systemClock, logger, {
    retentionMs: -1000,
    maxBytes: 1e9,
    snapshotAfterChanges: 1,
  });
  for (let id = 0; id < pruned; id++) await ingest.apply([setDevice(id)]);
  if (pruned > 0) await compactor.compact();
  for (let id = pruned; id < revisions; id++) await ingest.apply([setDevice(id)]);
  const { revision, versions } = committer.view;
  const facts = { id: log.id, key: log.signingKey, revision, versions, stored: storedBy(committer.view) };
  const { oldest } = log.stats();
  await log.close();
  return { ...facts, oldest };
}

/** Starts a node on the folder of a single node. */
const startOn = (data: string, names: ClusterNames, options: NodeOptions = {}) =>
  openNode(nats, "node-a", {
    ...options,
    names,
    path: join(data, "cluster-test.sqlite"),
    singlePath: join(data, "log.sqlite"),
  });

const errorOf = (opening: Promise<AsyncDisposable>): Promise<string> =>
  opening.then(
    async (node) => {
      await node[Symbol.asyncDispose]();
      return "started";
    },
    (error: Error) => error.message,
  );

describe("a single node with the section cluster", () => {
  for (const pruned of [0, 10]) {
    test(`begins the log with one snapshot and one message, and keeps its history; ${pruned} revisions were pruned`, async () => {
      const names = newCluster();
      const data = temporaryFolder();
      const single = await singleNode(data, pruned);
      expect(single.oldest > 0).toBe(pruned > 0);
      await using a = await startOn(data, names);
      expect((await a.log.stream.info()).lastSequence).toBe(1);
      expect(readdirSync(data).filter((name) => /^log\.sqlite(-wal|-shm)?$/.test(name))).toEqual([]);
      await using b = await openNode(nats, "node-b", { names });
      await Promise.all([a.caughtUp(), b.caughtUp()]);
      for (const { log, committer } of [a, b]) {
        expect(log.id).toBe(single.id);
        expect(log.signingKey).toEqual(single.key);
        expect(committer.view.versions).toEqual(single.versions);
        expect(storedBy(committer.view)).toEqual(single.stored);
      }
      expect(a.log.stats()).toMatchObject({ oldest: single.oldest, newest: single.revision });
      expect(b.log.stats()).toMatchObject({ oldest: single.revision, newest: single.revision });
      await (await writer(b))(100, 101);
      await a.caughtUp();
      expect(a.committer.view.revision).toBe(single.revision + 1);
    });
  }

  for (const isPublished of [false, true]) {
    const died = isPublished ? "after the first message" : "between the snapshot and the first message";
    test(`goes on where a start has ended ${died}`, async () => {
      const names = newCluster();
      const data = temporaryFolder();
      const single = await singleNode(data);
      const { publish } = LogStream.prototype;
      const ending = spyOn(LogStream.prototype, "publish").mockImplementationOnce(async function (
        this: LogStream,
        ...args
      ) {
        if (isPublished) await publish.apply(this, args);
        throw new Error("the process has ended");
      });
      expect(await errorOf(startOn(data, names))).toBe("the process has ended");
      ending.mockRestore();
      expect(existsSync(join(data, "log.sqlite"))).toBe(true);
      await using a = await startOn(data, names);
      await using b = await openNode(nats, "node-b", { names });
      await Promise.all([a.caughtUp(), b.caughtUp()]);
      expect((await a.log.stream.info()).lastSequence).toBe(1);
      expect(a.log.stats()).toMatchObject({ oldest: 0, newest: single.revision });
      for (const { log, committer } of [a, b]) {
        expect(log.id).toBe(single.id);
        expect(storedBy(committer.view)).toEqual(single.stored);
      }
    });
  }

  test("is refused where the cluster has a log or had one, and changes nothing", async () => {
    const names = newCluster();
    const data = temporaryFolder();
    await singleNode(data);
    {
      await using client = await testNats({ nats });
      await new Kvm(client.jetstream).create(names.nodes);
      expect(await errorOf(startOn(data, names))).toContain(
        `NATS has traces of it (KV_${names.nodes}), and ${data}/log.sqlite is the log of a single node: start a node that has a copy`,
      );
      await client.manager.streams.delete(`KV_${names.nodes}`);
    }
    {
      const other = temporaryFolder();
      await singleNode(other);
      await using _a = await startOn(other, names);
      const message = await errorOf(startOn(data, names));
      expect(message).toContain("the cluster has a log already");
      expect(message).toContain("move that file away to start this node without its history");
    }
    {
      await using client = await testNats({ nats });
      await client.manager.streams.delete(names.stream);
      // Those of the other single node.
      expect(await errorOf(startOn(data, names))).toContain(`traces of it (OBJ_${names.snapshots})`);
    }
    expect(readdirSync(data).filter((name) => name.startsWith("cluster-"))).toEqual([]);
    expect(openEmbeddedLog(join(data, "log.sqlite")).stats().newest).toBe(30);
  });

  test("does not touch the log of a single node where the folder has a copy of the cluster's", async () => {
    const names = newCluster();
    const data = temporaryFolder();
    {
      await using _a = await startOn(data, names);
    }
    await singleNode(data);
    {
      await using a = await startOn(data, names);
      expect(a.log.stats().newest).toBe(0);
    }
    // Nor where the copy is of no use any more.
    changeIdentity(join(data, "cluster-test.sqlite"), newIdentity(), COPY_TO_DELETE);
    await using a = await startOn(data, names);
    expect(a.log.stats().newest).toBe(0);
    expect(existsSync(join(data, "log.sqlite"))).toBe(true);
  });
});

test("a service goes into a cluster and out of it by its configuration alone, with its history", async () => {
  const cluster = { nats, name: `test${++clusters}`, replicas: 1 };
  await using node = new ServiceNode(cluster, "a");
  node.writeNetwork("x", [{ id: deviceId(1) }]);
  const clustered = JSON.stringify(node.config(["x"]));
  const alone = JSON.stringify({ ...node.config(["x"]), cluster: undefined });
  const file = join(node.folder, "gazetteer.yaml");
  const start = async (config: string) => {
    writeFileSync(file, config);
    await node.start();
    await node.untilSource("x", "synced");
    return node.service.fetch("/controller/v1/devices?at=1");
  };
  const first = await start(alone);
  const log = first.headers.get("gazetteer-log");
  await node.service.stop();
  // The history of the single node, under the same id.
  const second = await start(clustered);
  expect({ status: second.status, log: second.headers.get("gazetteer-log") }).toEqual({ status: 200, log });
  const { revision } = await node.readiness();
  node.writeNetwork("x", [{ id: deviceId(1) }, { id: deviceId(2) }]);
  await until(async () => (await node.deviceIds()).length === 2, { what: "a change in the cluster" });
  await node.service.stop();
  // Alone again, from a copy of the copy.
  const third = await start(alone);
  expect(third.status).toBe(200);
  expect(third.headers.get("gazetteer-log")).not.toBe(log);
  expect(await node.deviceIds()).toEqual([deviceId(1), deviceId(2)]);
  expect((await node.readiness()).revision).toBeGreaterThan(revision);
  expect(node.service.stderr()).toContain("this node goes on alone from its copy of the cluster's log");
  await node.service.stop();
  // And back: the copy is still there, and continued.
  const fourth = await start(clustered);
  expect(fourth.headers.get("gazetteer-log")).toBe(log);
});

test("a folder with copies of two clusters is not guessed at", async () => {
  const data = temporaryFolder();
  for (const name of ["one", "two"]) await openEmbeddedLog(join(data, `cluster-${name}.sqlite`)).close();
  const { status, stderr } = await spawnCommand(["serve", "--port", "0", "--data", data]);
  expect(status).toBe(2);
  expect(stderr).toContain("copies of the logs of several clusters (one, two)");
});
