/** Messages that were sent on a connection which then broke are read again, also when no other message follows. */
import { expect, test } from "bun:test";
import { startNatsServers } from "../support/nats-servers.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { NAMES, openNode } from "./log-nodes.ts";
import { expectSame, writer } from "./writing.ts";

test("a node catches up after its connection broke with messages on the way", async () => {
  await using nats = await startNatsServers({ servers: 3, areAdvertised: false });
  const [server] = nats.servers;
  await using proxy = await startTcpProxy(server?.port ?? 0);
  await using a = await openNode(nats, "node-a");
  const write = await writer(a);
  await write(0, 3);
  await using b = await openNode({ urls: `nats://127.0.0.1:${proxy.port}` }, "node-b");
  await b.caughtUp();
  proxy.stall();
  await write(3, 6);
  const { last_seq: last } = (await a.client.manager.streams.info(NAMES.stream)).state;
  // All are sent, to both.
  await until(
    async () => {
      const consumers = await a.client.manager.consumers.list(NAMES.stream).next();
      return consumers.length >= 2 && consumers.every(({ delivered }) => delivered.stream_seq === last);
    },
    { what: "messages on the way" },
  );
  proxy.cut();
  proxy.open();
  await until(() => b.committer.view.size("devices") === 6, { what: "what was lost with the connection" });
  expectSame(b, a);
  expect(b.log.lag).toBe(0);

  // What sends to it is gone, as with the server that had it: it is made anew at once, before the node misses anything.
  let stale = 0;
  b.log.health.onStale(() => stale++);
  for (const { name } of await a.client.manager.consumers.list(NAMES.stream).next())
    await a.client.manager.consumers.delete(NAMES.stream, name);
  await write(6, 7);
  await until(() => b.committer.view.size("devices") === 7, { what: "what came afterwards" });
  expect([stale, b.log.health.trouble]).toEqual([0, undefined]);
});
