/** A node that NATS refuses for a while, or refuses a part of what it needs, goes on as soon as it may. */
import { expect, test } from "bun:test";
import { openNode } from "../../cluster/log-nodes.ts";
import { deviceId, ServiceNode } from "../../cluster/service-nodes.ts";
import { writer } from "../../cluster/writing.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const user = (password: string, permissions = "") =>
  `accounts { GAZETTEER { jetstream: enabled, users: [{ user: node, password: "${password}"${permissions} }] } }`;

test("credentials that were refused again and again are tried until they are accepted", async () => {
  await using nats = await startNatsServers({ config: user("first"), userinfo: "node:first@" });
  await using node = await openNode(nats, "node-a");
  const write = await writer(node);
  await write(0, 1);
  const [server] = nats.servers;
  const refusals = async () => ((await server?.output()) ?? "").match(/authentication error/gi)?.length ?? 0;
  server?.reload(user("other"));
  await until(async () => !node.client.isConnected && (await refusals()) >= 4, { what: "several refusals" });
  expect(node.client.refusal).toMatch(/authorization violation/i);
  await expect(node.log.stream.info()).rejects.toMatchObject({
    condition: "unreachable",
    message: expect.stringContaining("NATS refuses this node"),
  });
  server?.reload(user("first"));
  await until(() => node.client.isConnected, { what: "the connection" });
  expect(node.client.refusal).toBeUndefined();
  await write(1, 2);
  expect(node.committer.view.size("devices")).toBe(2);
});

test("a node that may not answer the command line says so, and serves", async () => {
  const denied =
    ', permissions: { subscribe: { deny: ["gazetteer.default.requests.>", "gazetteer.default.requests"] } }';
  await using nats = await startNatsServers({ config: user("first", denied), userinfo: "node:first@" });
  await using node = new ServiceNode({ nats, name: "default", replicas: 1 }, "a");
  node.writeNetwork("x", [{ id: deviceId(1) }]);
  node.configure(["x"]);
  await node.start();
  await until(() => node.service.stderr().includes("requests of the command line are not answered"), {
    what: "the line",
  });
  await node.untilSource("x", "synced");
  expect((await node.service.fetch("/readyz")).status).toBe(200);
});
