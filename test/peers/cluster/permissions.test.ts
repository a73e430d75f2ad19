/** Nodes work with the permissions that docs/cluster.md prints, and need no others. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectNats } from "../../../src/cluster/nats/nats-client.ts";
import { clusterNames, natsCluster } from "../../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../../src/cluster/nats/sealed.ts";
import { readNodes } from "../../../src/cluster/nodes.ts";
import { sendRequest } from "../../../src/cluster/requests.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { openNode } from "../../cluster/log-nodes.ts";
import { deviceId, ServiceNode } from "../../cluster/service-nodes.ts";
import { writer } from "../../cluster/writing.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { natsCredentials } from "../../support/nats-credentials.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const PAGE = join(import.meta.dir, "..", "..", "..", "docs", "cluster.md");
const SECRET = "a secret of the cluster";
const NAMES = clusterNames("default");

function permissionsOfPage(): string {
  const page = readFileSync(PAGE, "utf8");
  const [, block] = /<!-- nats-permissions.*?-->\s*```\n(.*?)```/s.exec(page) ?? [];
  if (block === undefined) throw new Error("docs/cluster.md has no permissions");
  return block;
}

test("a service, snapshots and requests work with the permissions of docs/cluster.md", async () => {
  await using nats = await startNatsServers({
    config: permissionsOfPage(),
    userinfo: "gazetteer:CHANGE-ME@",
  });
  const violations = async () => ((await nats.servers[0]?.output()) ?? "").match(/.*Violation.*/g) ?? [];
  const secretFile = join(temporaryFolder(), "secret");
  writeFileSync(secretFile, SECRET, { mode: 0o600 });
  const cluster = { nats, name: "default", replicas: 1 };
  await using service = new ServiceNode(cluster, "a");
  service.writeNetwork("x", [{ id: deviceId(1) }]);
  service.configure(["x"], {
    cluster: { servers: nats.urls.split(","), replicas: 1, node: "a", shareUsers: true, secretFile },
  });
  await service.start();
  await service.untilSource("x", "synced");

  const secret = new ClusterSecret(Buffer.from(SECRET));
  const options = { names: NAMES, secret, sources: ["x", "a", "b"] };
  await using b = await openNode(nats, "b", options);
  await b.caughtUp();
  const write = await writer(b);
  // The stream is purged behind a snapshot, and the third one replaces the first.
  for (const from of [10, 20, 30]) {
    await write(from, from + 10);
    await b.snapshots.publish();
  }
  expect((await b.log.stream.info()).firstSequence).toBeGreaterThan(1);
  await using c = await openNode(nats, "c", options);
  await c.caughtUp();
  expect(c.committer.view.revision).toBe(b.committer.view.revision);

  const { connection } = b.client;
  const opened = natsCluster(b.client, { name: "default", replicas: 1 }, secret);
  const nodes = await readNodes(opened, systemClock);
  expect(nodes.map(({ nodeName }) => nodeName)).toEqual(["a"]);
  expect(sendRequest(opened, { op: "forget", source: "x" })).rejects.toThrow("configured on a");

  expect(await service.service.stop()).toBe(0);
  expect(await violations()).toEqual([]);
  // The permissions are in force.
  connection.publish("gazetteer.other.log", "");
  connection.publish(`$JS.API.STREAM.DELETE.${NAMES.stream}`, "");
  await until(async () => (await violations()).length === 2, { what: "the refusal of other subjects" });
}, 120_000);

test("a password in an address is in no output of the service", async () => {
  await using nats = await startNatsServers({
    config: "authorization { user: gazetteer, password: hunter2 }",
    userinfo: "gazetteer:hunter2@",
  });
  // Such a server knows no credentials file, and the node says what to write in its place.
  const credentialsFile = join(temporaryFolder(), "nats.creds");
  writeFileSync(credentialsFile, natsCredentials("token"));
  const servers = nats.servers.map(({ port }) => `nats://127.0.0.1:${port}`);
  await expect(connectNats({ servers, clientName: "test", credentialsFile })).rejects.toMatchObject({
    code: "refused",
    message: expect.stringContaining("remove cluster.credentialsFile and write tls://USER:PASSWORD@HOST"),
  });
  await using node = new ServiceNode({ nats, name: "default", replicas: 1 }, "a");
  node.configure([]);
  await node.start();
  await nats.servers[0]?.kill();
  await until(async () => (await node.readiness()).status === "degraded", { what: "the loss of NATS" });
  const shown = [
    await (await node.service.fetch("/readyz")).text(),
    await (await node.service.fetch("/metrics")).text(),
  ];
  for (const text of [node.service.stdout(), node.service.stderr(), ...shown])
    expect(text).not.toContain("hunter2");
}, 120_000);
