/** Messages that were sent on a connection which then broke are read again, also when no other message follows. */
import { expect, test } from "bun:test";
import { TtlBucket, watchBucket } from "../../../src/cluster/bucket.ts";
import { connectEngine } from "../../../src/cluster/nats/nats-client.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { NAMES, openNode } from "../../cluster/log-nodes.ts";
import { expectSame, writer } from "../../cluster/writing.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";

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
  const { last_seq: last } = (await a.engine.manager.streams.info(NAMES.stream)).state;
  // All are sent, to both.
  await until(
    async () => {
      const consumers = await a.engine.manager.consumers.list(NAMES.stream).next();
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
  for (const { name } of await a.engine.manager.consumers.list(NAMES.stream).next())
    await a.engine.manager.consumers.delete(NAMES.stream, name);
  await write(6, 7);
  await until(() => b.committer.view.size("devices") === 7, { what: "what came afterwards" });
  expect([stale, b.log.health.trouble]).toEqual([0, undefined]);
});

test("a watch of a bucket shows an entry that was on the way when its connection broke", async () => {
  await using nats = await startNatsServers();
  const [server] = nats.servers;
  await using proxy = await startTcpProxy(server?.port ?? 0);
  const direct = await connectEngine({ servers: [nats.urls], clientName: "direct" });
  const cut = await connectEngine({ servers: [`nats://127.0.0.1:${proxy.port}`], clientName: "cut" });
  const stop = new AbortController();
  try {
    const bucketOf = (engine: typeof direct) => new TtlBucket({ engine, name: "b", replicas: 1, ttlMs: 0 });
    const { kv } = await bucketOf(direct).open();
    const seen: string[] = [];
    const onEntry = ({ key }: { readonly key: string }) => seen.push(key);
    const options = { clock: systemClock, pauseMs: 100, signal: stop.signal };
    const watching = watchBucket(bucketOf(cut), onEntry, options);
    await kv.put("first", "1");
    await until(() => seen.includes("first"), { what: "the first entry" });
    proxy.stall();
    const last = await kv.put("second", "2");
    await until(
      async () => {
        const consumers = await direct.manager.consumers.list("KV_b").next();
        return consumers.some(({ delivered }) => delivered.stream_seq === last);
      },
      { what: "an entry on the way" },
    );
    proxy.cut();
    proxy.open();
    await until(() => seen.includes("second"), { what: "what was lost with the connection" });
    stop.abort();
    await watching;
  } finally {
    stop.abort();
    await Promise.all([direct.close(), cut.close()]);
  }
});
