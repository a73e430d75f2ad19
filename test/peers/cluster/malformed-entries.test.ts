/** What somebody else writes into the buckets of a cluster is ignored, and counted once by its place. */
import { expect, test } from "bun:test";
import { Kvm } from "@nats-io/kv";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import { deviceId, ServiceNode, shortenLeases, testNats } from "../../cluster/service-nodes.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const COUNTED = /^gazetteer_cluster_foreign_messages_total\{place="(leases|nodes|users)"\} (\d+)$/gm;

test("malformed leases, nodes and users are counted, and the node goes on", async () => {
  await using nats = await startNatsServers();
  const cluster = { nats, name: "malformed", replicas: 1 };
  await shortenLeases(cluster, 4_000);
  await using node = new ServiceNode(cluster, "a");
  const { secretFile } = nats;
  const section = { servers: nats.urls.split(","), name: cluster.name, replicas: 1, node: "a", secretFile };
  node.configure(["site"], { cluster: { ...section, shareUsers: true } });
  node.writeNetwork("site", [{ id: deviceId(1) }]);
  await using client = await testNats(cluster);
  const put = async (place: "leases" | "nodes" | "users", key: string, text: string) => {
    const kv = await new Kvm(client.jetstream).open(clusterNames(cluster.name)[place]);
    await kv.put(key, text);
  };
  const counts = async () => {
    const text = await (await node.service.fetch("/metrics")).text();
    return Object.fromEntries(
      Array.from(text.matchAll(COUNTED), ([, place, count]) => [place, Number(count)]),
    );
  };
  await node.start();
  await node.untilSource("site", "synced");
  await until(async () => (await node.service.fetch("/cluster")).status === 200, {
    what: "the list of nodes",
  });
  // In place of the lease of the source: NATS removes it after the TTL.
  await put("leases", Buffer.from("site").toString("base64url"), "no lease");
  await node.untilSource("site", "standby");
  await put("leases", "other", "{}");
  await put("nodes", "b", '{"node":1}');
  await put("users", "users", "not sealed");
  await put("users", "other", "{}");
  const expected = { leases: 2, nodes: 1, users: 2 };
  await until(
    async () => {
      const { nodes } = (await (await node.service.fetch("/cluster")).json()) as {
        nodes: { name: string }[];
      };
      expect(nodes.map(({ name }) => name)).toEqual(["a"]);
      return Bun.deepEquals(await counts(), expected);
    },
    { what: "the counters", everyMs: 1_100, deadlineMs: 30_000 },
  ).catch(async () => expect(await counts()).toEqual(expected));
  await node.untilSource("site", "synced");
});
