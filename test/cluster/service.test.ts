/** A whole service as a node: how it starts without NATS, and what it does when its stream is replaced. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { clusterNames, natsCluster } from "../../src/cluster/nats/nats-cluster.ts";
import { sendRequest } from "../../src/cluster/requests.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { readSecret } from "../../src/service/cluster/open-cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { GAZETTEER, type Service, spawnCommand, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { NAMES, openNode } from "./log-nodes.ts";
import { deviceId, ServiceNode, testNats } from "./service-nodes.ts";
import { writer } from "./writing.ts";

const argsOf = ({ urls, secretFile }: NatsServers, data: string, replicas = 1) => [
  ...["--cluster", urls, "--data", data, "--set", `cluster.secretFile=${secretFile}`],
  ...["--set", "cluster.name=test", "--set", `cluster.replicas=${replicas}`],
];

async function devicesOf(service: Service): Promise<{ count: number; log: string }> {
  const response = await service.fetch("/controller/v1/devices");
  const { devices } = (await response.json()) as { devices: unknown[] };
  return { count: devices.length, log: response.headers.get("gazetteer-log") ?? "" };
}
const untilDevices = (service: Service, count: number) =>
  until(async () => (await devicesOf(service)).count === count, { what: `${count} devices` });

/** A node without a copy, once it waits for NATS. */
async function startWaitingNode(nats: NatsServers) {
  const child = Bun.spawn([GAZETTEER, "serve", "--port", "0", ...argsOf(nats, temporaryFolder())], {
    env: { ...process.env, GAZETTEER_CREDENTIALS: "reader:secret" },
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const reader = child.stderr.getReader();
  while (!said.includes("waiting for NATS: this node has no copy of the log yet")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the node has ended: ${said}`);
    said += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  return child;
}

test("a node with a copy starts without NATS and follows when it is back; one without waits, and says so", async () => {
  await using nats = await startNatsServers();
  const [server] = nats.servers;
  const data = temporaryFolder();
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 3);
  {
    await using service = await startService({ args: argsOf(nats, data) });
    await untilDevices(service, 3);
    expect(await service.stop()).toBe(0);
  }
  await server?.kill();
  await using service = await startService({ args: argsOf(nats, data) });
  expect((await devicesOf(service)).count).toBe(3);
  expect(service.stderr()).toContain("NATS cannot be used: the last known view is served");
  const child = await startWaitingNode(nats);
  await server?.start();
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk);
    if (printed.includes("listening on")) break;
  }
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await write(3, 5);
  await untilDevices(service, 5);
});

test("a node that waits for NATS stops in an orderly way", async () => {
  await using nats = await startNatsServers();
  await nats.servers[0]?.kill();
  const child = await startWaitingNode(nats);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("a node whose stream was deleted and made again goes on with the new log, without a restart of the process", async () => {
  await using nats = await startNatsServers();
  const path = join(temporaryFolder(), "copy.sqlite");
  await using service = await startService({ args: argsOf(nats, temporaryFolder()) });
  {
    await using a = await openNode(nats, "node-a", { path });
    await (await writer(a))(0, 3);
    await untilDevices(service, 3);
    await a.client.manager.streams.delete(NAMES.stream);
    await until(() => service.stderr().includes("condition=deleted"), { what: "that the stream is missed" });
    expect((await devicesOf(service)).count).toBe(3);
  }
  const before = await devicesOf(service);
  await using a = await openNode(nats, "node-a", { path });
  await (await writer(a))(3, 4);
  await untilDevices(service, 4);
  expect(service.stderr()).toContain("condition=replaced");
  const after = await devicesOf(service);
  expect(after.log).not.toBe(before.log);
  expect(after.log).toBe(a.log.id);
});

test("more replicas than servers: one line with the fix, and status 2", async () => {
  await using nats = await startNatsServers();
  const { status, stdout, stderr } = await spawnCommand(
    ["serve", "--port", "0", ...argsOf(nats, temporaryFolder(), 3)],
    { env: { GAZETTEER_CREDENTIALS: "reader:secret" } },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(
    /^gazetteer serve: NATS has too few servers for 3 replicas .* set cluster\.replicas to their number\n$/,
  );
});

test("a node stops while a request that it fulfils cannot be written", async () => {
  await using nats = await startNatsServers();
  const cluster = { nats, name: "stopping", replicas: 1 };
  await using node = new ServiceNode(cluster, "a");
  node.configure(["x", "y"]);
  for (const source of ["x", "y"]) node.writeNetwork(source, [{ id: deviceId(1) }]);
  await node.start();
  for (const source of ["x", "y"]) await node.untilSource(source, "synced");
  await using client = await testNats(cluster);
  const { stream } = clusterNames(cluster.name);
  // As many as there are: the next one is refused.
  const { state } = await client.manager.streams.info(stream);
  await client.manager.streams.update(stream, { max_msgs: state.messages });
  const settings = { ...observedSources(["y", "x"]), identity: [] };
  const answered = sendRequest(natsCluster(client, cluster, readSecret({ cluster: nats })), {
    op: "apply",
    settings,
  });
  answered.catch(() => {});
  await until(() => node.service.stderr().includes("condition=full"), { what: "a full stream" });
  expect(await node.service.stop()).toBe(0);
});
