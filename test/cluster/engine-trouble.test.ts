/** What a node says and does when NATS cannot be used: it serves the last view, and loses nothing that was acknowledged. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kvm } from "@nats-io/kv";
import { loadConfig } from "../../src/config/config.ts";
import { beginCluster, readOverview } from "../../src/service/cluster/cluster-commands.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startNatsServers } from "../support/nats-servers.ts";
import { until } from "../support/until.ts";
import { type LogNode, NAMES, openNode } from "./log-nodes.ts";
import { testNats } from "./service-nodes.ts";
import { expectSame, writer } from "./writing.ts";

const conditionOf = (node: LogNode) => node.log.health.trouble?.condition;
const untilCondition = (node: LogNode, condition: string | undefined) =>
  until(() => conditionOf(node) === condition || undefined, { what: `the condition ${condition}` });

describe("one server", () => {
  test("that is gone is unreachable; a write waits for it, and the view is old until it is back", async () => {
    await using nats = await startNatsServers();
    const [server] = nats.servers;
    await using a = await openNode(nats, "node-a");
    const write = await writer(a);
    await write(0, 3);
    await server?.kill();
    const waiting = write(3, 4);
    await until(() => a.log.health.staleSince, { what: "that the view may be old" });
    await until(() => a.log.stats().writeFailure, { what: "that a write waits" });
    expect(conditionOf(a)).toBe("unreachable");
    expect(a.committer.view.size("devices")).toBe(3);
    await server?.start();
    await waiting;
    await untilCondition(a, undefined);
    expect(a.log.health.staleSince).toBeUndefined();
    expect(a.committer.view.size("devices")).toBe(4);
  });

  test("that is not there at the start: a node with a copy serves it, and follows when the server is back", async () => {
    await using nats = await startNatsServers();
    const [server] = nats.servers;
    const path = join(temporaryFolder(), "copy.sqlite");
    await using a = await openNode(nats, "node-a");
    const write = await writer(a);
    await write(0, 3);
    {
      await using b = await openNode(nats, "node-b", { path });
      await b.caughtUp();
    }
    await write(3, 5);
    await server?.kill();
    await using b = await openNode(nats, "node-b", { path });
    expect(b.log.isOpenedWithoutStream).toBe(true);
    expect(b.committer.view.size("devices")).toBe(3);
    expect(conditionOf(b)).toBe("unreachable");
    // As old as its last change, at least.
    expect(b.log.health.staleSince).toBe(b.committer.view.time);
    const fromB = writer(b, "b");
    await server?.start();
    await (await fromB)(10, 11);
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    await untilCondition(b, undefined);
    expect(b.committer.view.size("devices")).toBe(6);
    expectSame(b, a);
  });
});

test("a full stream is a condition of writing; a snapshot makes room, and the write that waited is stored", async () => {
  await using nats = await startNatsServers();
  await using a = await openNode(nats, "node-a");
  await a.client.manager.streams.update(NAMES.stream, { max_bytes: 40_000 });
  const write = await writer(a);
  const waiting = write(0, 200);
  await untilCondition(a, "full");
  expect(a.log.health.staleSince).toBeUndefined();
  const shown = a.committer.view.size("devices");
  expect(shown).toBeGreaterThan(10);
  // What is due at once, with the commit that waits still in progress.
  const stop = new AbortController();
  const publishing = a.snapshots.run(stop.signal);
  await waiting;
  stop.abort();
  await publishing;
  await untilCondition(a, undefined);
  expect((await a.log.stream.info()).firstSequence).toBeGreaterThan(1);
  await using b = await openNode(nats, "node-b");
  await b.caughtUp();
  expect(b.committer.view.size("devices")).toBe(200);
  expectSame(b, a);
});

test("a deleted stream is made again from a copy as another log, with the next revisions; others open that", async () => {
  await using nats = await startNatsServers();
  const folder = temporaryFolder();
  const [pathA, pathB] = [join(folder, "a.sqlite"), join(folder, "b.sqlite")];
  let former = "";
  let revision = 0;
  {
    await using a = await openNode(nats, "node-a", { path: pathA });
    await using b = await openNode(nats, "node-b", { path: pathB });
    const write = await writer(a);
    await write(0, 5);
    await b.caughtUp();
    ({ revision } = b.committer.view);
    former = a.log.id;
    await a.client.manager.streams.delete(NAMES.stream);
    await Promise.all([untilCondition(a, "deleted"), untilCondition(b, "deleted")]);
    expect(b.log.health.trouble?.message).toBe(
      `the stream ${NAMES.stream} does not exist; restart one node with a complete copy of the log: it makes the stream again`,
    );
    expect(b.committer.view.size("devices")).toBe(5);
    expect(a.log.lost.aborted).toBe(false);
    await a.log.close();
    await using again = await openNode(nats, "node-a", { path: pathA });
    await again.caughtUp();
    expect(again.log.id).not.toBe(former);
    expect(again.log.stats()).toMatchObject({ oldest: 0, newest: revision });
    await until(() => b.log.lost.aborted, { what: "that the other node finds another stream" });
    expect(conditionOf(b)).toBe("replaced");
    expect(b.committer.view.revision).toBe(revision);
    await (await writer(again))(5, 7);
    expect(again.committer.view.revision).toBe(revision + 2);
  }
  await using b = await openNode(nats, "node-b", { path: pathB });
  await b.caughtUp();
  expect(b.committer.view.revision).toBe(revision + 2);
  expect(b.committer.view.size("devices")).toBe(7);
  expect(existsSync(`${pathB}.${former}`)).toBe(true);
  await using a = await openNode(nats, "node-a", { path: pathA });
  await a.caughtUp();
  expectSame(b, a);
});

test("where a cluster was nobody begins a log: a node without a copy waits, one with a copy for a newer one", async () => {
  await using nats = await startNatsServers();
  const path = join(temporaryFolder(), "a.sqlite");
  const environment = {
    GAZETTEER_CLUSTER_SERVERS: nats.urls,
    GAZETTEER_CLUSTER_SECRET_FILE: nats.secretFile,
    GAZETTEER_CLUSTER_NAME: "test",
    GAZETTEER_CLUSTER_REPLICAS: "1",
  };
  const loaded = loadConfig({ environment });
  if (!loaded.ok) throw new Error("the configuration is not valid");
  const { config } = loaded;
  await using client = await testNats({ nats });
  const deleteLog = () => client.manager.streams.delete(NAMES.stream);
  {
    await using a = await openNode(nats, "node-a", { path });
    await (await writer(a))(0, 5);
    await a.snapshots.publish();
  }
  await deleteLog();
  let lines = "";
  const onLine = (line: string) => {
    lines += line;
  };
  const empty = openNode(nats, "node-c", { onLine });
  await until(() => lines.includes("waiting for the log"), { what: "the line of the node without a copy" });
  expect(lines).toContain(
    `NATS has traces of it (OBJ_${NAMES.snapshots}): start a node that has a copy of the log, or give the log up with gazetteer cluster begin`,
  );
  lines = "";
  const nodes = await new Kvm(client.jetstream).create(NAMES.nodes);
  const facts = { url: "", version: "", sequence: 9, sources: [], held: [], startedAt: 0 };
  const showB = () => nodes.put("b", JSON.stringify({ node: "b.1", nodeName: "b", revision: 9, ...facts }));
  await showB();
  expect(await readOverview(config)).toMatchObject({
    nodes: [{ name: "b", revision: 9 }],
    snapshots: [{ revision: 5 }],
    errors: [{ part: "stream" }],
  });
  await expect(beginCluster(config, false)).rejects.toThrow("would be given up: b shows revision 9");
  const copied = openNode(nats, "node-a", { path, onLine });
  await until(() => lines.includes("the node b shows revision 9, this node's copy only 5: restart b first"), {
    what: "the line of the node with a copy",
  });
  await expect(client.manager.streams.info(NAMES.stream)).rejects.toThrow("stream not found");
  await nodes.delete("b");
  {
    await using a = await copied;
    await using c = await empty;
    await Promise.all([a.caughtUp(), c.caughtUp()]);
    expect([c.committer.view.revision, c.committer.view.size("devices")]).toEqual([5, 5]);
    expectSame(c, a);
    await expect(beginCluster(config, true)).rejects.toThrow(`its stream ${NAMES.stream} has messages`);
  }
  await deleteLog();
  await showB();
  const begun = await runCommand(["cluster", "begin", "--discard"], { env: environment });
  expect(begun).toMatchObject({ status: 0, stderr: "" });
  await using c = await openNode(nats, "node-c");
  expect(begun.stdout).toContain(`the cluster test has the empty log ${c.log.id}`);
  expect(c.committer.view.revision).toBe(0);
  // What b shows is of the log that was given up, and nobody waits for it.
  expect(await nodes.get("b")).toMatchObject({ operation: "DEL" });
});

test("more replicas than servers are refused in one line with the fix", async () => {
  await using nats = await startNatsServers();
  await expect(openNode(nats, "node-a", { replicas: 3 })).rejects.toThrow(
    /^NATS has too few servers for 3 replicas .*; start more, or set cluster\.replicas to their number$/,
  );
});

describe("three servers", () => {
  test("without a quorum do not answer; with one they go on, and nothing is lost", async () => {
    await using nats = await startNatsServers({ servers: 3 });
    const [first, second, third] = nats.servers;
    await using a = await openNode({ urls: first?.url ?? "" }, "node-a", { replicas: 3 });
    const write = await writer(a);
    await write(0, 3);
    await Promise.all([second?.kill(), third?.kill()]);
    const waiting = write(3, 5);
    await untilCondition(a, "unanswered");
    expect(a.committer.view.size("devices")).toBe(3);
    await Promise.all([second?.start(), third?.start()]);
    await waiting;
    await untilCondition(a, undefined);
    // All of them stand still: connected, and silent.
    for (const server of nats.servers) server.pause();
    const more = write(5, 7);
    await until(() => ["unanswered", "unreachable"].includes(conditionOf(a) ?? ""), { what: "trouble" });
    for (const server of nats.servers) server.resume();
    await more;
    await untilCondition(a, undefined);
    await using b = await openNode(nats, "node-b", { replicas: 3 });
    await b.caughtUp();
    expect(b.committer.view.size("devices")).toBe(7);
    expectSame(b, a);
  });
});
