/** A single node's log becomes a cluster's, and a node's copy becomes a single node's log, with the history. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Kvm } from "@nats-io/kv";
import { connectEngine } from "../../src/cluster/nats/nats-client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { restoreView } from "../../src/view/restore.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { runCommand } from "../support/service.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { storedBy } from "../support/view-contents.ts";
import { NAMES, openNode } from "./log-nodes.ts";
import { testEngine } from "./service-nodes.ts";
import { logger, setDevice, writer } from "./writing.ts";

/** In every message of a batch. */
const BATCH = "Gazetteer-Batch";
const settings = { identity: [], sources: [{ name: "a", role: "observed" as const, merge: true }] };

/** The log of a single node in `data`, whose history begins after `pruned` revisions. */
async function singleNode(data: string, pruned: number, revisions: number) {
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

const clusterFlags = ({ urls, secretFile }: Pick<NatsServers, "urls" | "secretFile">, data: string) => [
  "--cluster",
  urls,
  "--data",
  data,
  "--set",
  `cluster.secretFile=${secretFile}`,
  "--set",
  "cluster.name=test",
  "--set",
  "cluster.replicas=1",
];

describe("gazetteer cluster join", () => {
  for (const pruned of [0, 20]) {
    test(`takes id, key, state and history along, after ${pruned} revisions that the log no longer has`, async () => {
      await using nats = await startNatsServers();
      const data = temporaryFolder();
      const single = await singleNode(data, pruned, 60);
      expect(single.oldest > 0).toBe(pruned > 0);
      const { status, stdout, stderr } = await runCommand(["cluster", "join", ...clusterFlags(nats, data)]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain(`the log ${single.id}, revisions ${single.oldest} to ${single.revision}`);
      expect(existsSync(join(data, "log.sqlite"))).toBe(false);
      await using a = await openNode(nats, "node-a", { path: join(data, "cluster-test.sqlite") });
      await using b = await openNode(nats, "node-b");
      await Promise.all([a.caughtUp(), b.caughtUp()]);
      for (const { log, committer } of [a, b]) {
        expect(log.id).toBe(single.id);
        expect(log.signingKey).toEqual(single.key);
        expect(log.stats()).toMatchObject({ oldest: single.oldest, newest: single.revision });
        expect(committer.view.versions).toEqual(single.versions);
        expect(storedBy(committer.view)).toEqual(single.stored);
      }
      await (await writer(b))(100, 101);
      await a.caughtUp();
      expect(a.committer.view.revision).toBe(single.revision + 1);
    });
  }

  test("changes nothing where it cannot: the cluster has a log, or had one, the service runs, no log, no NATS", async () => {
    await using nats = await startNatsServers();
    const data = temporaryFolder();
    const flags = clusterFlags(nats, data);
    expect(await runCommand(["cluster", "join", ...flags])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("there is no log of a single node"),
    });
    await singleNode(data, 0, 3);
    {
      const log = openEmbeddedLog(join(data, "log.sqlite"));
      expect(await runCommand(["cluster", "join", ...flags])).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("is in use by another process"),
      });
      await log.close();
    }
    {
      await using engine = await testEngine({ nats });
      const nodes = await new Kvm(engine.jetstream).create(NAMES.nodes);
      const facts = { url: "", version: "", sequence: 9, sources: [], held: [], startedAt: 0 };
      await nodes.put("b", JSON.stringify({ node: "b.1", nodeName: "b", revision: 9, ...facts }));
      expect(await runCommand(["cluster", "join", ...flags])).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("a log that would be given up: b shows revision 9"),
      });
      await engine.manager.streams.delete(`KV_${NAMES.nodes}`);
    }
    await using _a = await openNode(nats, "node-a");
    expect(await runCommand(["cluster", "join", ...flags])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("the cluster test has a log already"),
    });
    expect(
      await runCommand(["cluster", "join", ...clusterFlags({ ...nats, urls: "nats://127.0.0.1:1" }, data)]),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("cannot connect to NATS"),
    });
    expect(readdirSync(data).filter((name) => name.startsWith("cluster-"))).toEqual([]);
    expect(openEmbeddedLog(join(data, "log.sqlite")).stats().newest).toBe(3);
  });
});

describe("gazetteer cluster join, when the connection to NATS breaks while the log is copied", () => {
  async function brokenJoin(breakConnection: (proxy: TcpProxy) => Promise<void>) {
    const nats = await startNatsServers();
    await using proxy = await startTcpProxy(nats.servers[0]?.port ?? 0);
    const data = temporaryFolder();
    const single = await singleNode(data, 0, 150);
    const broken = breakConnection(proxy);
    const flags = clusterFlags({ ...nats, urls: `nats://127.0.0.1:${proxy.port}` }, data);
    const result = await runCommand(["cluster", "join", ...flags]);
    await broken;
    return { nats, data, single, result };
  }

  test("publishes again what was not answered, and nothing twice", async () => {
    const { nats: servers, data, single, result } = await brokenJoin((proxy) => proxy.loseAnswerTo(BATCH));
    await using nats = servers;
    expect(result).toMatchObject({ status: 0, stderr: "" });
    await using a = await openNode(nats, "node-a", { path: join(data, "cluster-test.sqlite") });
    await using b = await openNode(nats, "node-b");
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    for (const { log, committer } of [a, b]) {
      expect(log.stats()).toMatchObject({ oldest: 0, newest: single.revision });
      expect(storedBy(committer.view)).toEqual(single.stored);
    }
    // The base, and one message for each revision.
    expect((await a.log.stream.info()).lastSequence).toBe(1 + single.revision);
  });

  test("for good: says which stream has a part of the log, also the next time, until it is deleted", async () => {
    const {
      nats: servers,
      data,
      single,
      result,
    } = await brokenJoin(async (proxy) => {
      await proxy.loseAnswerTo(BATCH);
      proxy.cut();
    });
    await using nats = servers;
    const remedy = `start no node on it, delete it first (nats stream rm ${NAMES.stream}), and join again`;
    expect(result.status).toBe(2);
    expect(result.stderr).toContain(`The stream ${NAMES.stream} may have a part of this log: ${remedy}`);
    const flags = clusterFlags(nats, data);
    expect(await runCommand(["cluster", "join", ...flags])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`a part of this log in the stream ${NAMES.stream}; ${remedy}`),
    });
    const engine = await connectEngine({ servers: nats.urls.split(","), clientName: "test" });
    await engine.manager.streams.delete(NAMES.stream);
    await engine.close();
    const { status, stdout } = await runCommand(["cluster", "join", ...flags]);
    expect(status).toBe(0);
    expect(stdout).toContain(`revisions 0 to ${single.revision}`);
  });
});

describe("gazetteer cluster leave", () => {
  for (const goesOn of [true, false]) {
    test(`keeps the history, with ${goesOn ? "a new id: the cluster goes on" : "the same id: the stream is gone"}`, async () => {
      await using nats = await startNatsServers();
      const data = temporaryFolder();
      const path = join(data, "cluster-test.sqlite");
      let id = "";
      let stored = new Map<string, string>();
      {
        await using a = await openNode(nats, "node-a", { path });
        await (await writer(a))(0, 5);
        id = a.log.id;
        stored = storedBy(a.committer.view);
        expect(await runCommand(["cluster", "leave", ...clusterFlags(nats, data)])).toMatchObject({
          status: 2,
          stderr: expect.stringContaining("is in use by another process"),
        });
        if (!goesOn) await a.log.stream.delete();
      }
      const { status, stdout } = await runCommand(["cluster", "leave", ...clusterFlags(nats, data)]);
      expect(status).toBe(0);
      expect(stdout).toContain(goesOn ? "the new id" : "as before");
      expect(existsSync(path)).toBe(false);
      const log = openEmbeddedLog(join(data, "log.sqlite"));
      expect(log.id === id).toBe(!goesOn);
      expect(log.position).toBeUndefined();
      expect(log.stats()).toMatchObject({ oldest: 0, newest: 5 });
      expect(storedBy(restoreView(log).view)).toEqual(stored);
      await log.close();
    });
  }
});
