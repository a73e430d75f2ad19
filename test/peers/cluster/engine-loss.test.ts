/** The loss of one of three engine servers moves no source: a lease outlasts the engine's own fail-over. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import type { ClusterOverview } from "../../../src/model/cluster-overview.ts";
import { deviceId, ServiceNode, testNats } from "../../cluster/service-nodes.ts";
import { runCommand } from "../../support/command.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const TAKEN = /source taken over by this node/g;

test("the server that leads the leases and the log is killed: the source runs on where it is", async () => {
  await using nats = await startNatsServers({ servers: 3 });
  const cluster = { nats, name: "engine", replicas: 3 };
  await using a = new ServiceNode(cluster, "a");
  await using b = new ServiceNode(cluster, "b");
  for (const node of [a, b]) {
    node.configure(["site"]);
    node.writeNetwork("site", [{ id: deviceId(1) }]);
    await node.start();
  }
  await a.untilSource("site", "synced");
  await b.untilSource("site", "standby");
  const before = await a.source("site");

  await using client = await testNats(cluster);
  const leases = `KV_${clusterNames(cluster.name).leases}`;
  const leaseInfo = () => client.manager.streams.info(leases);
  const { cluster: servers, state } = await leaseInfo();
  const leader = nats.servers[Number(servers?.leader?.slice(1)) - 1];
  if (!leader) throw new Error(`no leader: ${JSON.stringify(servers)}`);
  await leader.kill();
  // The status answers at once, whatever it cannot read.
  const config = join(a.folder, "gazetteer.yaml");
  const atOnce = await runCommand(["cluster", "status", "--config", config]);
  expect(atOnce.stderr).toBe("");
  expect(atOnce.stdout).toStartWith("cluster engine: ");
  expect(atOnce.status).toBe(atOnce.stdout.includes("cannot be read") ? 1 : 0);

  // Renewed by the new leader, and the log takes a change.
  const renewed = async () => (await leaseInfo()).state.last_seq >= state.last_seq + 3;
  await until(renewed, { what: "renewals after the loss", everyMs: 200 });
  a.writeNetwork("site", [{ id: deviceId(1) }, { id: deviceId(2) }]);
  await until(async () => (await b.deviceIds()).length === 2, { what: "a change after the loss" });
  const after = await a.source("site");
  expect(after).toMatchObject({ status: "synced", node: "a", restarts: 0, since: before?.since });
  expect(a.service.stderr().match(TAKEN)).toHaveLength(1);
  expect(b.service.stderr()).not.toMatch(TAKEN);
  // A check of the stream that was under way may still wait for the server that is gone.
  await until(async () => (await b.readiness()).status === "ready", { what: "b to be ready" });
  expect(await b.readiness()).toMatchObject({ sources: [{ status: "standby", node: "a" }] });
  const offline = async () => {
    const { engine } = (await (await b.service.fetch("/cluster")).json()) as ClusterOverview;
    return engine?.servers.find(({ state, offlineSince }) => state === "offline" && offlineSince);
  };
  const gone = await until(offline, { what: "the server that is offline", everyMs: 500 });
  expect(gone.name).toBe(servers?.leader ?? "");
  await until(
    async () => {
      const metrics = await (await b.service.fetch("/metrics")).text();
      return metrics.includes("\ngazetteer_cluster_replicas_current 2\n");
    },
    { what: "two servers with the log", everyMs: 500 },
  );
});
