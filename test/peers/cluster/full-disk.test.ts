/** A node of a cluster whose disk is full: others run its sources until it can write again. */
import { expect, test } from "bun:test";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import { deviceId, ServiceNode, shortenLeases, testNats } from "../../cluster/service-nodes.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { canMount, fillDisk, mountSmallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";

const TTL_MS = 4_000;
const LEASES = `KV_${clusterNames("full").leases}`;
/** Enough to exceed what SQLite has allocated already. */
const manyDevices = (hw: string) => Array.from({ length: 200 }, (_, id) => ({ id: deviceId(id), hw }));

test.skipIf(!canMount)(
  "a node that cannot write for longer than a lease lasts gives its source up, and takes none until it can",
  async () => {
    await using nats = await startNatsServers();
    const cluster = { nats, name: "full", replicas: 1 };
    await shortenLeases(cluster, TTL_MS);
    using disk = mountSmallDisk(4 * 1024 * 1024);
    await using a = new ServiceNode(cluster, "a");
    await using b = new ServiceNode(cluster, "b");
    a.configure(["site"], { data: disk.folder });
    b.configure(["site"]);
    for (const node of [a, b]) {
      node.writeNetwork("site", [{ id: deviceId(1) }]);
      await node.start();
    }
    await a.untilSource("site", "synced");
    await b.untilSource("site", "standby");

    const freeDisk = fillDisk(disk.folder);
    const isFailing = async () => (await a.readiness()).log?.status === "failing";
    let writes = 0;
    await until(
      async () => {
        a.writeNetwork("site", manyDevices(`write ${++writes}`));
        return isFailing();
      },
      { what: "a failed write", everyMs: 300 },
    );
    expect((await a.readiness()).cluster).toMatchObject({
      condition: "disk",
      staleSeconds: expect.any(Number),
    });
    expect((await a.service.fetch("/healthz")).headers.has("gazetteer-stale")).toBe(true);
    b.writeNetwork("site", [{ id: deviceId(7) }]);
    await b.untilSource("site", "synced");
    await until(async () => (await b.deviceIds()).join() === deviceId(7), {
      what: "the network as b reports it",
    });
    await a.untilSource("site", "standby");
    expect(await isFailing()).toBe(true);
    // Nor does it when nobody else has it.
    await b.kill();
    await using client = await testNats(cluster);
    const lastWrite = async () => (await client.manager.streams.info(LEASES)).state.last_seq;
    const before = await lastWrite();
    await Bun.sleep(2 * TTL_MS);
    expect(await lastWrite()).toBe(before);

    freeDisk();
    a.writeNetwork("site", [{ id: deviceId(8) }]);
    await a.untilSource("site", "synced");
    await until(async () => (await a.deviceIds()).join() === deviceId(8), {
      what: "the network as a reports it",
    });
    expect(await isFailing()).toBe(false);
    expect((await a.readiness()).cluster).not.toHaveProperty("condition");
  },
);
