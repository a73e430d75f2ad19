/** Our own `format=rfc8345`, served by a RESTCONF server and read by another service, gives the same ids. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { FakeRestconf, NETWORKS } from "./fake-restconf.ts";

const API = "/controller/v1";
const KINDS = ["devices", "links", "hosts"] as const;
/** Names that another network would have for switches and hosts, that look like ours, and that are no URIs. */
const DEVICES = [
  "of:00000000ffffffff", "openflow:1", "host:00:00:00:00:00:01", "gazetteer:device/x", "Ü/?#%2f", "a", "A:b", "x:1/2",
]; // biome-ignore format: a list of words

const sample = {
  devices: DEVICES.map((id) => ({ id, ports: [{ port: 1 }, { port: 2 }] })),
  links: DEVICES.map((id, i) => ({
    src: { device: id, port: i === 0 ? "local" : 1 },
    dst: { device: DEVICES[(i + 1) % DEVICES.length], port: 4_294_967_294 },
  })),
  hosts: DEVICES.flatMap((elementId, i) => [
    {
      mac: `02:00:00:00:00:0${i}`,
      vlan: i === 0 ? "None" : String(i),
      locations: [
        { elementId, port: 7 },
        { elementId: DEVICES[0], port: 8 },
      ],
    },
    { mac: `02:00:00:00:00:0${i}`, vlan: "Any", locations: [{ elementId, port: "controller" }] },
  ]),
};

async function startWith(sources: readonly object[]): Promise<Service> {
  const config = join(temporaryFolder(), "gazetteer.yaml");
  writeFileSync(config, JSON.stringify({ sources }));
  return startService({ args: ["--config", config, "--data", ":memory:"] });
}

async function idsOf(service: Service): Promise<Record<string, string[]>> {
  const ids: Record<string, string[]> = {};
  for (const kind of KINDS) {
    const body: Record<string, { id: string }[]> = await (await service.fetch(`${API}/${kind}`)).json();
    ids[kind] = (body[kind] ?? []).map(({ id }) => id).sort();
  }
  return ids;
}

test("devices, links and hosts of a file and of the demo network", async () => {
  const file = join(temporaryFolder(), "network.json");
  writeFileSync(file, JSON.stringify(sample));
  await using first = await startWith([
    { type: "file", path: file },
    { type: "demo", devices: 60, hosts: 200, churn: 0 },
  ]);
  const isComplete = async () => (await idsOf(first)).devices?.length === DEVICES.length + 60;
  await until(isComplete, { what: "the first network" });
  const expected = await idsOf(first);
  expect(expected.hosts).toHaveLength(200 + sample.hosts.length);
  const document = await (await first.fetch(`${API}/topology?format=rfc8345`)).json();

  await using server = FakeRestconf.start();
  server.data.set(NETWORKS, document[NETWORKS]);
  await using second = await startWith([{ type: "restconf", url: server.url, credentials: "admin:admin" }]);
  await until(async () => ((await idsOf(second)).hosts?.length ?? 0) > 0, { what: "the second network" });
  expect(await idsOf(second)).toEqual(expected);
  expect(await (await second.fetch("/metrics")).text()).toContain(
    'gazetteer_records_refused_total{source="restconf"} 0\n',
  );
}, 120_000);
