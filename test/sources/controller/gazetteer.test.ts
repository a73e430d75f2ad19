import { expect, test } from "bun:test";
import type { Service } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { createNode, reads, statusOf, viewOf } from "./gazetteers.ts";

const revisionOf = async (service: Service) =>
  Number((await service.fetch("/controller/v1/topology")).headers.get("gazetteer-revision"));

const synced = (status: { status: string } | undefined) => status?.status === "synced";

test("a Gazetteer follows another one, revision by revision, through kills of either side", async () => {
  const [origin, copy] = [createNode("origin"), createNode("copy")];
  const churning = [{ type: "demo", name: "net", devices: 30, hosts: 100, churn: 40 }];
  let upstream = await origin.start(churning);
  let downstream = await copy.start([reads(origin)]);
  for (let round = 0; round < 2; round++) {
    const before = await revisionOf(downstream);
    await until(async () => (await revisionOf(downstream)) > before + 20, { what: "changes to arrive" });
    await upstream.kill();
    await until(async () => (await statusOf(downstream, "from-origin"))?.status === "stale", {
      what: "the source to be stale",
    });
    expect((await statusOf(downstream, "from-origin"))?.error).toContain("127.0.0.1");
    expect((await viewOf(downstream)).entities.devices?.length).toBe(30);
    upstream = await origin.start();
    await until(async () => synced(await statusOf(downstream, "from-origin")), {
      what: "the source to resume",
    });
    await downstream.kill();
    downstream = await copy.start();
    await until(async () => synced(await statusOf(downstream, "from-origin")), { what: "the copy to sync" });
  }
  // The churn ends, so that both come to rest.
  await upstream.stop();
  upstream = await origin.start([{ ...churning[0], churn: 0 }]);
  const whole = await until(
    async () => {
      const [original, copied] = [await viewOf(upstream), await viewOf(downstream)];
      return Bun.deepEquals(original.entities, copied.entities) ? original : undefined;
    },
    { what: "equal views", everyMs: 200, deadlineMs: 60_000 },
  );
  expect(whole.entities.hosts?.length).toBeGreaterThan(0);
}, 180_000);

test("one revision there is one revision here", async () => {
  const [origin, copy] = [createNode("origin"), createNode("copy")];
  const upstream = await origin.start([{ type: "demo", name: "net", devices: 20, hosts: 50, churn: 20 }]);
  const downstream = await copy.start([reads(origin)]);
  await until(async () => synced(await statusOf(downstream, "from-origin")), { what: "the copy to sync" });
  const changesOf = async (service: Service, since: number) => {
    const response = await service.fetch(`/controller/v1/topology?since=${since}`);
    const { changes }: { changes: { revision: number; resource: string; value: { id?: string } }[] } =
      JSON.parse(await response.text());
    return Map.groupBy(changes, ({ revision }) => revision);
  };
  const start = await revisionOf(downstream);
  const copied = await until(
    async () => {
      const changes = await changesOf(downstream, start);
      return changes.size > 10 ? changes : undefined;
    },
    { what: "ten revisions" },
  );
  const idsOf = (changes: readonly { resource: string; value: { id?: string } }[]) =>
    changes.map(({ resource, value }) => `${resource} ${value.id ?? ""}`).join(", ");
  const original = [...(await changesOf(upstream, 0)).values()].map(idsOf);
  const copies = [...copied.values()].map(idsOf);
  const from = original.findLastIndex((_ids, i) => copies.every((ids, n) => original[i + n] === ids));
  expect(from).toBeGreaterThanOrEqual(0);
}, 60_000);
