/**
 * The same with Debian's Prometheus, which scrapes an exporter of the test that has the labels of snmp_exporter, and with
 * one that asks for a password.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { LINKS, startMapService } from "./map-network.ts";

/** Utilisation in percent, as the documentation has it for snmp_exporter, over a window that suits a fast scrape. */
const UTILISATION = "100 * rate(ifHCOutOctets[10s]) * 8 / (ifHighSpeed * 1e6)";

const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exited));
});

/** Counters that grow by 125 MB a second of wall time: 10 % of 10 Gb/s. */
function startExporter() {
  const started = performance.now();
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      const octets = ((performance.now() - started) / 1000) * 125e6;
      const lines = [
        ["1", "eth1", octets],
        ["2", "Ethernet1/2", 4 * octets],
        ["9", "unconnected", octets],
      ].flatMap(([index, name, value]) => [
        `ifHCOutOctets{ifIndex="${index}",ifName="${name}"} ${value}`,
        `ifHighSpeed{ifIndex="${index}",ifName="${name}"} 10000`,
      ]);
      return new Response(`${lines.join("\n")}\n`, {
        headers: { "content-type": "text/plain; version=0.0.4" },
      });
    },
  });
}

/** `instance` is what snmp_exporter's usual relabelling makes of the target: the address of the device. */
async function startPrometheus(exporterPort: number, passwordHash?: string): Promise<string> {
  const folder = temporaryFolder();
  const config = join(folder, "prometheus.yml");
  writeFileSync(
    config,
    `global: { scrape_interval: 500ms, scrape_timeout: 500ms }
scrape_configs:
  - job_name: snmp
    static_configs: [{ targets: ["127.0.0.1:${exporterPort}"], labels: { instance: "10.9.0.1" } }]
`,
  );
  const web = join(folder, "web.yml");
  writeFileSync(web, passwordHash === undefined ? "{}\n" : `basic_auth_users: { ann: "${passwordHash}" }\n`);
  const port = freePort();
  const child = Bun.spawn(
    [
      "prometheus",
      `--config.file=${config}`,
      `--web.config.file=${web}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(
      `${url}/-/ready`,
      passwordHash === undefined ? {} : { headers: { authorization: `Basic ${btoa("ann:secret")}` } },
    ).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, { what: "Prometheus", deadlineMs: 60_000 });
  return url;
}

describe.skipIf(!needs("prometheus"))("Prometheus of Debian", () => {
  test("gives the utilisation of links, and what it refuses is shown", async () => {
    using exporter = startExporter();
    const url = await startPrometheus(exporter.port ?? 0);
    const queries = [
      { name: "Utilisation", unit: "%", query: UTILISATION },
      { name: "by ifIndex", query: UTILISATION, port: "ifIndex" },
      { name: "not PromQL", query: "rate(" },
      { name: "a range", query: "ifHighSpeed[1m]" },
      { name: "nothing", query: "no_such_metric" },
    ];
    const { service } = await startMapService({ metrics: [{ url, intervalSeconds: 1, queries }] });
    const read = async (name: string) =>
      (await service.fetch(`/map/metrics/${encodeURIComponent(name)}`)).json();
    for (const name of ["Utilisation", "by ifIndex"]) {
      await until(async () => Object.keys((await read(name)).values ?? {}).length === 2, {
        what: `values of ${name}`,
        deadlineMs: 60_000,
      });
      const { values, series, unknownSeries } = await read(name);
      expect([series, unknownSeries]).toEqual([3, 0]);
      expect(Object.keys(values).sort()).toEqual([LINKS.leaf1ToLeaf2, LINKS.leaf1ToRouter].sort());
      // The rate is measured on the real clock; that one link has four times the traffic of the other is not.
      expect(values[LINKS.leaf1ToRouter] / values[LINKS.leaf1ToLeaf2]).toBeCloseTo(4, 1);
      expect(values[LINKS.leaf1ToLeaf2]).toBeGreaterThan(0);
    }
    expect(await read("nothing")).toMatchObject({ values: {}, series: 0 });
    expect((await read("not PromQL")).detail).toEndWith("responds with status 400 (bad_data).");
    expect((await read("a range")).detail).toEndWith("the result of the query is no instant vector.");
    await service.stop();
  });

  test("that asks for a password gets it", async () => {
    using exporter = startExporter();
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const url = await startPrometheus(exporter.port ?? 0, hash);
    const password = join(temporaryFolder(), "password");
    writeFileSync(password, "ann:secret\n", { mode: 0o600 });
    const { service } = await startMapService({
      metrics: [
        { url, credentialsFile: password, queries: [{ name: "right", query: "vector(1)" }] },
        { url, credentials: "ann:wrong", queries: [{ name: "wrong", query: "vector(1)" }] },
      ],
    });
    expect((await service.fetch("/map/metrics/right")).status).toBe(200);
    const wrong = await service.fetch("/map/metrics/wrong");
    expect(wrong.status).toBe(502);
    expect((await wrong.json()).detail).toEndWith("the credentials are missing or wrong (401).");
    await service.stop();
  });
});
