/** The settings of a cluster stand in its log, whatever the files of its nodes say; and what the command line can change. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { natsCluster } from "../../../src/cluster/nats/nats-cluster.ts";
import { readNodes } from "../../../src/cluster/nodes.ts";
import { type ClusterRequest, sendRequest } from "../../../src/cluster/requests.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { readSecret } from "../../../src/service/cluster/open-cluster.ts";
import {
  deviceId,
  ServiceNode,
  shortenLeases,
  type TestCluster,
  testNats,
} from "../../cluster/service-nodes.ts";
import { type NatsServers, startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const DIFFERS = /differs from the cluster's.*gazetteer cluster apply/g;
const device = (id: number, hw: string) => ({ id: deviceId(id), hw });

let nats: NatsServers;
beforeAll(async () => {
  nats = await startNatsServers();
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

async function request(cluster: TestCluster, message: ClusterRequest): Promise<number> {
  await using client = await testNats(cluster);
  const { revision } = await sendRequest(
    natsCluster(client, cluster, readSecret({ cluster: cluster.nats })),
    message,
  );
  return revision;
}

const observed = (name: string) => ({ name, role: "observed" as const, merge: true });

test("the cluster's order applies until a node's file is made the cluster's; no node removes sources of another", async () => {
  const cluster = { nats, name: "settings", replicas: 1 };
  await shortenLeases(cluster, 2_000);
  await using a = new ServiceNode(cluster, "a");
  await using b = new ServiceNode(cluster, "b");
  a.configure(["x", "y"]);
  b.configure(["y", "x", "z"], { history: { keepDays: 3 } });
  for (const node of [a, b]) {
    node.writeNetwork("x", [device(1, "of x")]);
    node.writeNetwork("y", [device(1, "of y")]);
    node.writeNetwork("z", [device(2, "of z")]);
  }
  await a.start();
  await b.start();
  await b.untilSource("z", "synced");
  expect(b.service.stderr().match(DIFFERS)).toHaveLength(1);
  expect(b.service.stderr()).toContain("order of sources, history");
  expect(a.service.stderr()).not.toMatch(DIFFERS);
  const hardware = async (node: ServiceNode) => JSON.parse(await node.read(`devices/${deviceId(1)}`)).hw;
  expect(await hardware(b)).toBe("of x");

  await using client = await testNats(cluster);
  const opened = natsCluster(client, cluster, readSecret({ cluster: nats }));
  const nodes = await until(
    async () => {
      const found = await readNodes(opened, systemClock);
      return found.length === 2 && found.some(({ held }) => held.includes("z")) && found;
    },
    { what: "both nodes in the list" },
  );
  expect(nodes).toMatchObject([
    { nodeName: "a", url: a.service.url, sources: ["x", "y"], held: ["x", "y"] },
    { nodeName: "b", url: b.service.url, sources: ["y", "x", "z"], held: ["z"] },
  ]);

  // As `gazetteer cluster apply` with the file of b.
  const { revision } = await a.readiness();
  await request(cluster, {
    op: "apply",
    settings: {
      identity: ["chassisId", "serial"],
      sources: ["y", "x", "z"].map(observed),
      history: { keepDays: 3, maxBytes: 1e9 },
    },
  });
  for (const node of [a, b]) {
    await until(async () => (await hardware(node)) === "of y", { what: `the changed order on ${node.name}` });
    expect(await node.read(`devices?since=${revision}`)).toContain("of y");
  }
  await until(() => a.service.stderr().match(DIFFERS), { what: "the line of a" });
  expect(a.service.stderr()).toContain("order of sources, history");

  // A source that leaves a file keeps its claims until the cluster forgets it.
  expect(request(cluster, { op: "forget", source: "z" })).rejects.toThrow("is configured on b");
  b.configure(["y", "x"], { history: { keepDays: 3 } });
  process.kill(b.service.pid, "SIGHUP");
  await until(() => /configuration reloaded.*z/.test(b.service.stderr()), { what: "the reload" });
  expect(await b.deviceIds()).toEqual([deviceId(1), deviceId(2)]);
  await until(() => request(cluster, { op: "forget", source: "z" }), {
    what: "the source forgotten",
    everyMs: 500,
  });
  for (const node of [a, b])
    await until(async () => (await node.deviceIds()).length === 1, { what: `z is gone on ${node.name}` });
  expect(request(cluster, { op: "forget", source: "z" })).rejects.toThrow("has no source z");
});
