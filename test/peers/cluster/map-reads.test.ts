/**
 * What the map reads is the same bytes on every node of a cluster: on one that has a source and one that has not, and on one
 * that was started again and has made everything from its copy of the log.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deviceId, ServiceNode } from "../../cluster/service-nodes.ts";
import { waitForReaders } from "../../service/start-with-readers.ts";
import { type NatsServers, startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";

const SWITCHES = 8;

interface Faults {
  /** Cables by the number of their first switch; the next is at the other end. */
  readonly removed?: readonly number[];
  readonly inactive?: readonly number[];
  readonly oneSided?: readonly number[];
  readonly unavailable?: readonly number[];
  /** Switch of the first host. */
  readonly host?: number;
}

/** A ring of switches with a named host on each. */
function network({ removed = [], inactive = [], oneSided = [], unavailable = [], host = 1 }: Faults): string {
  const ids = Array.from({ length: SWITCHES }, (_, i) => i + 1);
  const mac = (n: number) => `02:00:00:00:00:0${n}`;
  return JSON.stringify({
    devices: ids.map((i) => ({
      id: deviceId(i),
      available: !unavailable.includes(i),
      annotations: { name: `leaf-${i}` },
    })),
    ports: ids.flatMap((i) => [1, 2, 3].map((port) => ({ element: deviceId(i), port, isEnabled: true }))),
    links: ids
      .filter((i) => !removed.includes(i))
      .flatMap((i) => {
        const [src, dst] = [
          { device: deviceId(i), port: 1 },
          { device: deviceId((i % SWITCHES) + 1), port: 2 },
        ];
        const state = inactive.includes(i) ? "INACTIVE" : "ACTIVE";
        return [{ src, dst, state }, ...(oneSided.includes(i) ? [] : [{ src: dst, dst: src, state }])];
      }),
    hosts: ids.map((i) => ({
      mac: mac(i),
      ipAddresses: [i === 3 ? "10.0.0.2" : `10.0.0.${i}`],
      locations: [{ elementId: deviceId(i === 1 ? host : i), port: 3 }],
      annotations: { name: `pc-${i}` },
    })),
  });
}

/** What happens, one after the other: cables that are lost, come back and are lost again, in another order. */
const STEPS: readonly Faults[] = [
  {},
  { removed: [1, 4] },
  { removed: [4] },
  { removed: [4, 5], inactive: [7] },
  { removed: [5], inactive: [7], unavailable: [2], host: 4 },
  { removed: [1, 5], inactive: [7], oneSided: [6], unavailable: [2, 8], host: 4 },
];

let nats: NatsServers;
let a: ServiceNode;
let b: ServiceNode;

beforeAll(async () => {
  nats = await startNatsServers();
  const cluster = { nats, name: "map", replicas: 1 };
  const connection = {
    servers: nats.urls.split(","),
    secretFile: nats.secretFile,
    name: cluster.name,
    replicas: 1,
  };
  a = new ServiceNode(cluster, "a");
  b = new ServiceNode(cluster, "b");
  writeFileSync(join(a.folder, "site.json"), network({}));
  a.writeNetwork("other", [{ id: deviceId(1), serial: "FDO-1" }]);
  const planned = { devices: [{ id: deviceId(1) }, { id: deviceId(99) }] };
  writeFileSync(join(a.folder, "plan.json"), JSON.stringify(planned));
  const file = (name: string, more = {}) => ({
    type: "file",
    name,
    path: join(a.folder, `${name}.json`),
    ...more,
  });
  a.configure([], { sources: [file("site"), file("other"), file("plan", { role: "intended" })] });
  b.configure([], { readers: 3, cluster: { ...connection, node: "b" } });
  await a.start();
  await Promise.all(["site", "other", "plan"].map((name) => a.untilSource(name, "synced")));
  await b.start();
  await waitForReaders(b.service);
  for (const [i, faults] of STEPS.entries()) {
    writeFileSync(join(a.folder, "site.json"), network(faults));
    await until(async () => (await linkCount(a)) === linksOf(faults), { what: `step ${i}` });
  }
  // A source that fails: what it last reported stays, and is stale.
  writeFileSync(join(a.folder, "other.json"), "no JSON");
  await until(async () => (await kindsOf(a)).includes("source-failed"), { what: "a failed source" });
}, 120_000);
afterAll(async () => {
  await Promise.all([a.kill(), b.kill()]);
  await nats[Symbol.asyncDispose]();
});

const linksOf = ({ removed = [], oneSided = [] }: Faults): number =>
  2 * (SWITCHES - removed.length) - oneSided.length;
const linkCount = async (node: ServiceNode): Promise<number> =>
  JSON.parse(await node.read("links")).links.length;

interface Problem {
  readonly kind: string;
}
const kindsOf = async (node: ServiceNode): Promise<string[]> =>
  JSON.parse(await node.read("topology/problems")).problems.map(({ kind }: Problem) => kind);

const id = deviceId;
const host = encodeURIComponent("02:00:00:00:00:01/None");
const READS = [
  "topology/problems",
  "topology/problems?severity=critical",
  "topology/problems?limit=2",
  `topology/problems?device=${id(2)}`,
  "topology/problems?source=other",
  "topology/search?q=leaf",
  "topology/search?q=pc&limit=3",
  "topology/search?q=10.0.0.0/29",
  "hosts?count=device",
  `hosts?count=device&device=${id(4)}`,
  `paths/${id(3)}/${id(5)}?explain=true`,
  `paths/${id(4)}/${id(7)}?explain=true`,
  `paths/${id(1)}/${id(6)}?explain=true`,
  `paths/${host}/${id(7)}?explain=true`,
  `paths/${id(99)}/${id(1)}?explain=true`,
];

async function readAll(node: ServiceNode, revision: number, reads: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const path of reads) {
    const response = await node.service.fetch(`/controller/v1/${path}`, {
      headers: { "gazetteer-min-revision": String(revision), "accept-encoding": "identity" },
    });
    const headers = ["etag", "content-type", "gazetteer-revision", "link"];
    all.push([
      path,
      response.status,
      await response.text(),
      ...headers.map((name) => response.headers.get(name)),
    ]);
  }
  return all;
}

/** With the past: of each revision. */
const readsOf = (revision: number): string[] => [
  ...READS,
  ...Array.from({ length: revision - 1 }, (_, i) =>
    [
      "topology/problems",
      "topology/search?q=leaf",
      "hosts?count=device",
      `paths/${id(3)}/${id(5)}?explain=true`,
    ].map((path) => `${path}${path.includes("?") ? "&" : "?"}at=${i + 2}`),
  ).flat(),
];

test("problems of every kind are there", async () => {
  expect([...new Set(await kindsOf(a))].toSorted()).toEqual(
    [
      "device-unavailable",
      "link-inactive",
      "link-one-sided",
      "link-lost",
      "host-moved",
      "host-duplicated",
      "drift",
      "source-failed",
    ].toSorted(),
  );
});

test("another node, with processes that only read, has the same bytes", async () => {
  const { revision } = await a.readiness();
  const reads = readsOf(revision);
  expect(await readAll(b, revision, reads)).toEqual(await readAll(a, revision, reads));
});

test("a node that was started again has the same bytes", async () => {
  const { revision } = await a.readiness();
  const reads = readsOf(revision);
  const before = await readAll(a, revision, reads);
  // With a snapshot at its end: afterwards nothing is applied, everything is made from pages.
  expect(await b.service.stop()).toBe(0);
  await b.start();
  await waitForReaders(b.service);
  expect(await readAll(b, revision, reads)).toEqual(before);
}, 60_000);
