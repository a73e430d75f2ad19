/** `gazetteer cluster status|apply|forget` and `/cluster`, with two real nodes. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import type { ClusterOverview } from "../../../src/model/cluster-overview.ts";
import { deviceId, ServiceNode, testNats } from "../../cluster/service-nodes.ts";
import { runCommand } from "../../support/command.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const device = (id: number, hw: string) => ({ id: deviceId(id), hw });

/** With the configuration of a node. */
const command = (node: ServiceNode, ...args: string[]) =>
  runCommand(["cluster", ...args, "--config", join(node.folder, "gazetteer.yaml")]);

test("shows the nodes, their sources and the engine; makes a file the cluster's settings; forgets a source", async () => {
  await using nats = await startNatsServers();
  const cluster = { nats, name: "shown", replicas: 1 };
  await using a = new ServiceNode(cluster, "a");
  await using b = new ServiceNode(cluster, "b");
  a.configure(["x", "y"]);
  // With a source of its own b runs one fewer than a: nothing moves to it, however long this takes.
  b.configure(["y", "x", "z"]);
  const nothing = await command(a, "status");
  expect(nothing).toMatchObject({ status: 1, stdout: "" });
  expect(nothing.stderr).toContain("there is no cluster shown on these servers");
  await using client = await testNats(cluster);
  const streams = async () => (await client.manager.streams.names().next()).sort();
  expect(await streams()).toEqual([]);
  for (const node of [a, b]) {
    node.writeNetwork("x", [device(1, "of x")]);
    node.writeNetwork("y", [device(1, "of y")]);
    node.writeNetwork("z", [device(2, "of z")]);
    await node.start();
  }
  await a.untilSource("y", "synced");
  const overview = await until(
    async () => {
      const { stdout } = await command(a, "status", "-o", "json");
      const read = JSON.parse(stdout) as ClusterOverview;
      const [first, second] = read.nodes;
      return first?.held.length === 2 && second?.held.length === 1 ? read : undefined;
    },
    { what: "both nodes in the status", everyMs: 500, deadlineMs: 150_000 },
  );
  expect(overview).toMatchObject({
    name: "shown",
    nodes: [
      { name: "a", url: a.service.url, sources: ["x", "y"], held: ["x", "y"] },
      { name: "b", url: b.service.url, sources: ["y", "x", "z"], held: ["z"] },
    ],
    leases: [
      { source: "x", node: "a" },
      { source: "y", node: "a" },
      { source: "z", node: "b" },
    ],
    engine: { stream: "GAZETTEER_shown", replicas: 1 },
  });
  const text = await command(b, "status");
  expect(text.stdout).toContain("cluster shown: 2 nodes, 3 sources running");
  expect(text.stdout).toMatch(/^x +a +a, b$/m);
  // Any node has the same, for users only.
  const response = await b.service.fetch("/cluster");
  expect(await response.json()).toMatchObject({ leases: overview.leases, engine: { replicas: 1 } });
  expect((await fetch(`${b.service.url}/cluster`)).status).toBe(401);

  // The node that runs a source writes why it fails, and every node shows it.
  writeFileSync(join(a.folder, "x.json"), "{");
  const status = async ({ service: { url, credentials } }: ServiceNode) =>
    (await runCommand(["status", "--url", url], { env: { GAZETTEER_CREDENTIALS: credentials } })).stdout;
  await until(async () => (await status(b)).includes("is not JSON"), {
    what: "the reason on b",
    everyMs: 500,
  });
  for (const node of [a, b]) {
    expect(await status(node)).toMatch(
      /^x +file +failed +\d+s .* a +x\.json:1: is not JSON: ends too early$/m,
    );
    expect(await status(node)).toContain("cluster shown: 2 nodes, 3 sources running");
    expect(await node.read("topology/problems?kind=source-failed")).toContain('"id":"source-failed:x"');
  }
  a.writeNetwork("x", [device(1, "of x")]);
  await a.untilSource("x", "synced");

  const shown = await command(b, "apply", "--dry-run");
  expect(shown).toMatchObject({ status: 0, stdout: "order of sources: x, y, z → y, x, z\n" });
  const hardware = async () => JSON.parse(await a.read(`devices/${deviceId(1)}`)).hw;
  expect(await hardware()).toBe("of x");
  const applied = await command(b, "apply");
  expect(applied.stdout).toStartWith("order of sources: x, y, z → y, x, z\napplied at revision ");
  await until(async () => (await hardware()) === "of y", { what: "the order of b on a" });
  expect((await command(b, "apply")).stdout).toBe("the cluster has these settings already\n");

  const refused = await command(a, "forget", "x");
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain("is configured on a, b");
  expect(await command(a, "forget", "none")).toMatchObject({ status: 1 });
  expect(await command(a, "forget")).toMatchObject({ status: 2 });

  // A node that was killed has one row when it returns, and none when it stops in order.
  await b.kill();
  await b.start();
  const listed = async () => {
    const { nodes } = (await (await a.service.fetch("/cluster")).json()) as ClusterOverview;
    return nodes.map(({ name, url }) => `${name} ${url}`);
  };
  const both = [`a ${a.service.url}`, `b ${b.service.url}`];
  await until(async () => Bun.deepEquals(await listed(), both), { what: "b again", everyMs: 500 });
  await b.service.stop();
  await until(async () => (await listed()).length === 1, { what: "a alone", everyMs: 500 });

  // Parts that are there are shown without those that are not, and none is made.
  const { leases: bucket, stream } = clusterNames(cluster.name);
  await a.kill();
  await client.manager.streams.delete(stream);
  await client.manager.streams.delete(`KV_${bucket}`);
  const before = await streams();
  const broken = await command(a, "status");
  expect(broken.status).toBe(1);
  // It is lost where this took more than 16 seconds.
  expect(broken.stdout).toMatch(/^cluster shown: (1 node|0 nodes and 1 lost), 0 sources running$/m);
  expect(broken.stdout).toContain("stream cannot be read: the stream GAZETTEER_shown does not exist");
  expect(await streams()).toEqual(before);
}, 400_000);
