/**
 * Prometheus, Alertmanager and the dashboard of Grafana, with the configurations of docs/integrations.md: Debian's Prometheus
 * scrapes a service with a token, discovers its devices, evaluates the alert rules and every expression of the
 * dashboard, and Alertmanager sends the alerts to a receiver of the test.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endWithRunner } from "../../../scripts/end-with-runner.ts";
import { runCommand } from "../../support/command.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { needs } from "../../support/needs.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { documentedBlock, documentedMetrics, metricsIn, RULES_FILE, readDashboard } from "./monitoring.ts";

const NETWORK = {
  devices: [
    {
      id: "of:0000000000000001",
      annotations: { name: "leaf-1", managementAddress: "10.0.0.1", site: "west" },
    },
    { id: "of:0000000000000002", annotations: { name: "leaf-2", managementAddress: "[2001:db8::2]:161" } },
    { id: "of:0000000000000003", available: false, annotations: { managementAddress: "sw-3.example.net" } },
    { id: "of:0000000000000004", annotations: { name: "without an address" } },
  ],
  links: [
    {
      src: { device: "of:0000000000000001", port: 1 },
      dst: { device: "of:0000000000000002", port: 1 },
      bidirectional: true,
    },
    {
      src: { device: "of:0000000000000001", port: 2 },
      dst: { device: "of:0000000000000003", port: 1 },
      state: "INACTIVE",
      bidirectional: true,
    },
  ],
};

/** Panels without data where there is neither TLS, nor a plan, nor a cluster. */
const EMPTY_PANELS = [
  ...["Certificate", "Differences from the plan"],
  ...["Conditions", "Behind the log", "NATS servers with all of the log"],
];

interface Alert {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

const folder = temporaryFolder();
const children: Bun.Subprocess[] = [];
const servers: { stop(closeActive: boolean): unknown }[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exited));
  for (const server of servers) server.stop(true);
});

async function startProgram(command: string, url: string, ...args: string[]): Promise<void> {
  const child = Bun.spawn([command, ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  endWithRunner(child);
  children.push(child);
  const log = new Response(child.stderr).text();
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => child.exitCode !== null || (await isReady()), { what: command });
  if (child.exitCode !== null) throw new Error(`${command} ended: ${await log}`);
}

/** Replaces each text, which must occur. */
function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  let replaced = text;
  for (const [from, to] of Object.entries(replacements)) {
    expect(replaced).toContain(from);
    replaced = replaced.replaceAll(from, to);
  }
  return replaced;
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });

test("the panels of the dashboard have ids of their own and do not overlap", () => {
  const { panels } = readDashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});

describe.skipIf(!needs("prometheus", "prometheus-alertmanager", "amtool"))("Prometheus of Debian", () => {
  let service: Service;
  let prometheus: string;
  /** The alerts that each receiver got. */
  const received = new Map<string, Alert[]>();
  /** The value of `target` of each request to the exporter. */
  const scraped = new Set<string>();

  async function query(expr: string): Promise<readonly Series[]> {
    const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const { status, data, error } = await response.json();
    if (status !== "success") throw new Error(`${expr}: ${error}`);
    return data.result;
  }

  beforeAll(async () => {
    write("network.json", JSON.stringify(NETWORK));
    const users = join(folder, "users");
    for (const [name, file, ...flags] of [
      ["prometheus", "gazetteer.token", "--role", "metrics"],
      ["discovery", "gazetteer-discovery.token"],
    ]) {
      const { stdout } = await runCommand(["token", "add", users, `${name}`, ...flags]);
      write(`${file}`, stdout);
    }
    service = await startService({
      args: ["--data", join(folder, "data"), "--users", users, "--file", join(folder, "network.json")],
    });

    const exporter = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        scraped.add(new URL(request.url).searchParams.get("target") ?? "");
        return new Response("ifNumber 2\n", { headers: { "content-type": "text/plain; version=0.0.4" } });
      },
    });
    const receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { pathname } = new URL(request.url);
        const { alerts }: { alerts: Alert[] } = JSON.parse(await request.text());
        received.set(pathname, [...(received.get(pathname) ?? []), ...alerts]);
        return new Response();
      },
    });
    servers.push(exporter, receiver);

    const alertmanagerAddress = `127.0.0.1:${freePort()}`;
    const prometheusAddress = `127.0.0.1:${freePort()}`;
    prometheus = `http://${prometheusAddress}`;
    write(
      "prometheus.yml",
      replaceAll(documentedBlock("prometheus.yml"), {
        "127.0.0.1:8181": new URL(service.url).host,
        "127.0.0.1:9093": alertmanagerAddress,
        "127.0.0.1:9116": `127.0.0.1:${exporter.port}`,
        "scrape_interval: 15s": "scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s",
        "refresh_interval: 60s": "refresh_interval: 1s",
      }),
    );
    // Alerts fire at once. promtool tests after what time they do (alert-rules.test.ts).
    write("gazetteer.rules.yml", readFileSync(RULES_FILE, "utf8").replace(/^ +for: .*\n/gm, ""));
    write(
      "alertmanager.yml",
      replaceAll(documentedBlock("alertmanager.yml"), {
        "127.0.0.1:9000": `127.0.0.1:${receiver.port}`,
        "group_wait: 30s": "group_wait: 1s\n  group_interval: 1s",
      }),
    );
    await Promise.all([
      startProgram(
        "prometheus",
        prometheus,
        "--config.file=prometheus.yml",
        "--storage.tsdb.path=prometheus",
        `--web.listen-address=${prometheusAddress}`,
      ),
      startProgram(
        "prometheus-alertmanager",
        `http://${alertmanagerAddress}`,
        "--config.file=alertmanager.yml",
        "--storage.path=alertmanager",
        `--web.listen-address=${alertmanagerAddress}`,
        "--cluster.listen-address=",
      ),
    ]);
  }, 120_000);

  test("the documented configurations have no faults", () => {
    for (const command of [
      ["promtool", "check", "config", "prometheus.yml"],
      ["amtool", "check-config", "alertmanager.yml"],
    ]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder });
      expect([command, exitCode, exitCode === 0 ? "" : `${stdout}${stderr}`]).toEqual([command, 0, ""]);
    }
  });

  test("scrapes with the token of a file, which may read nothing else", async () => {
    await until(async () => (await query('up{job="gazetteer"} == 1')).length === 1, { what: "a scrape" });
    const [info] = await query("gazetteer_build_info");
    expect(info?.metric).toMatchObject({ job: "gazetteer", instance: new URL(service.url).host });
    expect(service.stderr()).toContain("audit login user=prometheus ");
    const authorization = `Bearer ${readFileSync(join(folder, "gazetteer.token"), "utf8").trim()}`;
    const devices = await service.fetch("/controller/v1/devices", { headers: { authorization } });
    expect(devices.status).toBe(403);
  });

  test("discovers the devices that have an address, and a new one", async () => {
    const instances = async () => (await query('up{job="snmp"} == 1')).map(({ metric }) => metric);
    await until(async () => (await instances()).length === 3, { what: "the targets" });
    const labels = (await instances()).toSorted((a, b) => `${a.device}`.localeCompare(`${b.device}`));
    expect(labels).toMatchObject([
      { instance: "10.0.0.1", device: "of:0000000000000001", name: "leaf-1", site: "west" },
      { instance: "2001:db8::2", device: "of:0000000000000002", name: "leaf-2" },
      { instance: "sw-3.example.net", device: "of:0000000000000003" },
    ]);
    expect([...scraped].sort()).toEqual(["10.0.0.1", "2001:db8::2", "sw-3.example.net"]);
    const added = {
      id: "of:0000000000000005",
      type: "ROUTER",
      annotations: { managementAddress: "10.0.0.5" },
    };
    write("network.json", JSON.stringify({ ...NETWORK, devices: [...NETWORK.devices, added] }));
    await until(() => scraped.has("10.0.0.5"), { what: "the new target" });
  });

  test("evaluates every expression of the dashboard, and those that can have data do", async () => {
    // Each reason why something is counted: reads, a stream, a refused login and a forbidden read.
    const stream = await service.fetch("/controller/v1/devices", {
      headers: { accept: "text/event-stream" },
    });
    const authorization = `Bearer ${readFileSync(join(folder, "gazetteer.token"), "utf8").trim()}`;
    const refused: RequestInit[] = [
      { headers: { authorization } },
      { headers: { authorization: "Basic YTpi" } },
    ];
    for (const init of [{}, {}, ...refused]) await service.fetch("/controller/v1/links", init);

    const { panels, templating } = readDashboard();
    const documented = documentedMetrics();
    const concrete = (expr: string) =>
      expr
        .replaceAll("$job", "gazetteer")
        .replaceAll("$instance", ".*")
        .replaceAll("$__rate_interval", "30s");
    for (const { name, query: values } of templating.list) {
      const [, expr, label = ""] = /^label_values\((.+), (\w+)\)$/.exec(Object(values).query ?? "") ?? [];
      if (expr === undefined) expect(name).toBe("datasource");
      else
        expect((await query(concrete(expr))).map(({ metric }) => metric[label])).toEqual([
          expect.any(String),
        ]);
    }
    for (const { title, targets = [] } of panels) {
      for (const { expr } of targets) {
        expect([title, metricsIn(expr).filter((name) => !documented.has(name))]).toEqual([title, []]);
        expect([title, concrete(expr)]).toEqual([title, expect.not.stringContaining("$")]);
        if (EMPTY_PANELS.includes(title)) await query(concrete(expr));
        else
          await until(async () => (await query(concrete(expr))).length > 0, {
            what: `data of the panel ${title}: ${expr}`,
          });
      }
    }
    await stream.body?.cancel();
  });

  test("Alertmanager receives what is wrong with the network, and with the service", async () => {
    const firing = (receiver: string, name: string) =>
      received.get(receiver)?.find(({ status, labels }) => status === "firing" && labels.alertname === name);
    const unavailable = await until(() => firing("/on-call", "GazetteerDevicesUnavailable"), {
      what: "the alert of the unavailable device",
    });
    expect(unavailable.labels).toEqual({
      alertname: "GazetteerDevicesUnavailable",
      job: "gazetteer",
      severity: "critical",
    });
    expect(unavailable.annotations.summary).toBe("1 devices are unavailable.");
    // The alert of its link fires, and is inhibited.
    const alerts = await query('ALERTS{alertstate="firing"}');
    expect(alerts.map(({ metric }) => metric.alertname)).toContain("GazetteerLinksDown");
    await service.kill();
    const down = await until(() => firing("/on-call", "GazetteerDown"), { what: "the alert of the service" });
    const instance = new URL(service.url).host;
    expect(down.annotations.summary).toBe(`Gazetteer ${instance} cannot be scraped.`);
    expect(firing("/team", "GazetteerLinksDown")).toBeUndefined();
  });
});
