import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificates } from "../../support/certificates.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { basic, type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { CREDENTIALS, createNode, reads, statusOf, viewOf } from "./gazetteers.ts";

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
    // That the source is stale is a revision, which may become visible between two reads.
    const kept = await until(() => viewOf(downstream), { what: "two reads of one revision" });
    expect(kept.entities.devices?.length).toBe(30);
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
}, 180_000);

test("over TLS, with a CA of its own; conflicts are found here and not repeated; no secret is shown", async () => {
  const folder = temporaryFolder();
  createCertificates(folder, ["server"]);
  createCertificates(folder, [], "stranger");
  const network = join(folder, "network.json");
  const link = (from: string, to: string) => ({
    src: { device: from, port: 1 },
    dst: { device: to, port: 1 },
  });
  writeFileSync(
    network,
    JSON.stringify({
      devices: [{ id: "x:1", aliases: ["other:1"] }, { id: "x:2" }, { id: "x:3" }],
      // Two links at one port, one of them unverified.
      links: [link("x:1", "x:2"), { ...link("x:1", "x:3"), verified: false }],
    }),
  );
  const upstream = await startService({
    credentials: CREDENTIALS,
    args: [
      ...["--data", ":memory:", "--file", network],
      ...[
        "--set",
        `tls.cert=${join(folder, "server.pem")}`,
        "--set",
        `tls.key=${join(folder, "server.key")}`,
      ],
    ],
  });
  const copy = createNode("copy");
  const origin = { name: "origin", url: `${upstream.url}/controller/v1` };
  const downstream = await copy.start([reads(origin, { ca: join(folder, "stranger.pem") })]);
  const refused = await until(async () => (await statusOf(downstream, "from-origin"))?.error, {
    what: "the refusal",
  });
  expect(refused).toContain("the certificate is not trusted");
  copy.configure([reads(origin, { ca: join(folder, "ca.pem") })]);
  process.kill(downstream.pid, "SIGHUP");
  await until(async () => synced(await statusOf(downstream, "from-origin")), { what: "the copy to sync" });
  const response = await fetch(`${upstream.url}/controller/v1/links`, {
    headers: { authorization: basic(CREDENTIALS) },
    tls: { ca: await Bun.file(join(folder, "ca.pem")).text() },
  });
  const { links }: { links: { annotations: object; verified: boolean }[] } = JSON.parse(
    await response.text(),
  );
  const copied = (await viewOf(downstream)).entities;
  expect(links.map(({ annotations, verified }) => ({ annotations, verified }))).toEqual([
    { annotations: { conflict: "port x:1/1 has another link to x:3/1" }, verified: true },
    { annotations: { conflict: "port x:1/1 has another link to x:2/1" }, verified: false },
  ]);
  expect(copied.links).toMatchObject(links.map(({ annotations, verified }) => ({ annotations, verified })));
  expect(copied.devices?.[0]).toMatchObject({ id: "x:1", aliases: ["other:1"] });
  expect(downstream.stdout() + downstream.stderr()).not.toContain("secret");
}, 180_000);
