/** An entry of a bucket that was sent on a connection which then broke is read again. test/cluster has the same for the log. */
import { test } from "bun:test";
import { TtlBucket, watchBucket } from "../../../src/cluster/bucket.ts";
import { connectNats } from "../../../src/cluster/nats/nats-client.ts";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";

test("a watch of a bucket shows an entry that was on the way when its connection broke", async () => {
  await using nats = await startNatsServers();
  const [server] = nats.servers;
  await using proxy = await startTcpProxy(server?.port ?? 0);
  const direct = await connectNats({ servers: [nats.urls], clientName: "direct" });
  const cut = await connectNats({ servers: [`nats://127.0.0.1:${proxy.port}`], clientName: "cut" });
  const stop = new AbortController();
  try {
    const bucketOf = (client: typeof direct) =>
      new TtlBucket({ nats: client, names: clusterNames("b"), replicas: 1 }, "users", 0);
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
        const consumers = await direct.manager.consumers.list(`KV_${clusterNames("b").users}`).next();
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
