/**
 * The alert rules of packaging/prometheus, by promtool: each alert is quiet while all is well, and fires on its metrics after
 * its time, with the labels and the text that people read.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { documentedMetrics, metricsIn, RULES_FILE } from "./monitoring.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

interface Case {
  /** The time between two values, and between two evaluations; 1 when absent. */
  readonly intervalMinutes?: number;
  /** The values of each series in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes after the start at which the alert does not fire, and at which it does. */
  readonly quietAt: number;
  readonly firesAt: number;
  /** The labels besides the name and the severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
}

const NODE = { job: "gazetteer", instance: "a:8181" };
const NODE_LABELS = 'job="gazetteer",instance="a:8181"';
const NETWORK = { job: "gazetteer" };

/** Series of the same problems on two nodes of a cluster, which are one alert. */
const problems = (kind: string, severity: string, values: string) => ({
  [`gazetteer_problems{${NODE_LABELS},kind="${kind}",severity="${severity}"}`]: values,
  [`gazetteer_problems{job="gazetteer",instance="b:8181",kind="${kind}",severity="${severity}"}`]: values,
});

const CASES: Readonly<Record<string, Case>> = {
  GazetteerDown: {
    series: { [`up{${NODE_LABELS}}`]: "1x5 0x5" },
    quietAt: 6,
    firesAt: 8,
    labels: NODE,
    summary: "Gazetteer a:8181 cannot be scraped.",
  },
  GazetteerAbsent: {
    series: { [`up{${NODE_LABELS}}`]: "1x5 stale _x9", 'up{job="other",instance="a:9100"}': "1x20" },
    quietAt: 10,
    firesAt: 12,
    labels: {},
    summary: "Prometheus scrapes no Gazetteer.",
  },
  GazetteerRestarts: {
    series: { [`process_cpu_seconds_total{${NODE_LABELS}}`]: "10+1x5 0 1 0 1 0 1" },
    quietAt: 9,
    firesAt: 10,
    labels: NODE,
    summary: "Gazetteer a:8181 has started 3 times in 15 minutes.",
  },
  GazetteerLogNotWritable: {
    series: { [`gazetteer_log_writable{${NODE_LABELS}}`]: "1x5 0x5" },
    quietAt: 6,
    firesAt: 8,
    labels: NODE,
    summary: "Gazetteer a:8181 cannot store changes.",
  },
  GazetteerLogWriteFailures: {
    series: { [`gazetteer_log_write_failures_total{${NODE_LABELS}}`]: "7x5 8x5" },
    quietAt: 5,
    firesAt: 7,
    labels: NODE,
    summary: "Gazetteer a:8181 failed to store changes, and tries again.",
  },
  GazetteerAccessLogDropped: {
    series: { [`gazetteer_access_log_dropped_total{${NODE_LABELS}}`]: "0x20 30x20" },
    quietAt: 20,
    firesAt: 30,
    labels: NODE,
    summary: "Gazetteer a:8181 did not write 30 lines of its access log.",
  },
  GazetteerReloadRefused: {
    series: { [`gazetteer_config_last_reload_successful{${NODE_LABELS}}`]: "1x5 0x10" },
    quietAt: 10,
    firesAt: 12,
    labels: NODE,
    summary: "Gazetteer a:8181 refused its configuration.",
  },
  GazetteerReaderMissing: {
    series: {
      [`gazetteer_reader_processes{${NODE_LABELS},state="configured"}`]: "4x15",
      [`gazetteer_reader_processes{${NODE_LABELS},state="alive"}`]: "4x5 3x10",
    },
    quietAt: 7,
    firesAt: 9,
    labels: NODE,
    summary: "Gazetteer a:8181 has only 3 of its processes.",
  },
  GazetteerCertificateExpires: {
    // Fifteen days after the start, which is the time 0.
    intervalMinutes: 60,
    series: { [`gazetteer_tls_certificate_expiry_timestamp_seconds{${NODE_LABELS}}`]: `${15 * 86_400}x30` },
    quietAt: 24 * 60,
    firesAt: 25 * 60,
    labels: NODE,
    summary: "The certificate of Gazetteer a:8181 expires in 13d 23h 0m 0s.",
  },
  GazetteerOverloaded: {
    series: { [`gazetteer_http_shed_total{${NODE_LABELS}}`]: "0x10 60+60x20" },
    quietAt: 14,
    firesAt: 20,
    labels: NODE,
    summary: "Gazetteer a:8181 rejects 1 requests a second.",
  },
  GazetteerErrors: {
    series: {
      [`gazetteer_http_requests_total{${NODE_LABELS},read="devices",status="200"}`]: "0+90x30",
      [`gazetteer_http_requests_total{${NODE_LABELS},read="devices",status="503"}`]: "0x10 10+10x20",
      // A controller behind it that does not respond is no error of the service.
      [`gazetteer_http_requests_total{${NODE_LABELS},read="forwarded",status="502"}`]: "0+20x5 100x25",
    },
    quietAt: 10,
    firesAt: 20,
    labels: NODE,
    summary: "10% of the responses of Gazetteer a:8181 are errors of the server.",
  },
  GazetteerLongSteps: {
    series: { [`gazetteer_long_steps_total{${NODE_LABELS}}`]: "0+30x10 420+120x40" },
    quietAt: 20,
    firesAt: 40,
    labels: NODE,
    summary: "Gazetteer a:8181 holds its event loop for more than 10 ms, 2 times a second.",
  },
  GazetteerSlow: {
    series: {
      [`gazetteer_loop_delay_seconds_bucket{${NODE_LABELS},le="0.1"}`]: "0+1200x10 12000x40",
      [`gazetteer_loop_delay_seconds_bucket{${NODE_LABELS},le="0.25"}`]: "0+1200x50",
      [`gazetteer_loop_delay_seconds_bucket{${NODE_LABELS},le="+Inf"}`]: "0+1200x50",
    },
    quietAt: 20,
    firesAt: 40,
    labels: NODE,
    summary: "Requests of Gazetteer a:8181 wait for 248.5ms (99th percentile).",
  },
  GazetteerStreamsDropped: {
    series: { [`gazetteer_streams_overflowed_total{${NODE_LABELS}}`]: "0x20 10x20" },
    quietAt: 20,
    firesAt: 30,
    labels: NODE,
    summary: "Gazetteer a:8181 closed 10 event streams of clients that were too slow.",
  },
  GazetteerLoginsThrottled: {
    series: {
      [`gazetteer_logins_total{${NODE_LABELS},outcome="wrong"}`]: "0+1x30",
      [`gazetteer_logins_total{${NODE_LABELS},outcome="throttled"}`]: "0x10 5x20",
    },
    quietAt: 10,
    firesAt: 12,
    labels: NODE,
    summary: "Somebody sends wrong passwords or tokens to Gazetteer a:8181.",
  },
  GazetteerSourceFails: {
    series: { [`gazetteer_source_synced{${NODE_LABELS},source="odl",kind="restconf"}`]: "1x5 0x10" },
    quietAt: 10,
    firesAt: 12,
    labels: { ...NODE, source: "odl", kind: "restconf" },
    summary: "Source odl of Gazetteer a:8181 is not up to date.",
  },
  GazetteerSourceRestarts: {
    series: {
      [`gazetteer_source_restarts_total{${NODE_LABELS},source="odl",kind="restconf"}`]: "0x20 0+1x15",
    },
    quietAt: 22,
    firesAt: 36,
    labels: { ...NODE, source: "odl", kind: "restconf" },
    summary: "Source odl of Gazetteer a:8181 was restarted 15 times in 15 minutes.",
  },
  GazetteerRecordsRefused: {
    series: { [`gazetteer_records_refused_total{${NODE_LABELS},source="odl"}`]: "0x20 3x10" },
    quietAt: 20,
    firesAt: 22,
    labels: { ...NODE, source: "odl" },
    summary: "Source odl of Gazetteer a:8181 reports records that are not valid.",
  },
  GazetteerDevicesUnavailable: {
    series: problems("device-unavailable", "critical", "0x5 2x10"),
    quietAt: 7,
    firesAt: 9,
    labels: NETWORK,
    summary: "2 devices are unavailable.",
  },
  GazetteerCutOff: {
    series: {
      ...problems("link-lost", "critical", "0x5 1x10"),
      ...problems("link-inactive", "major", "3x15"),
    },
    quietAt: 7,
    firesAt: 9,
    labels: NETWORK,
    summary: "Lost or inactive links cut off a part of the network.",
  },
  GazetteerLinksDown: {
    series: {
      ...problems("link-inactive", "major", "0x5 2x10"),
      ...problems("link-lost", "critical", "0x5 1x10"),
    },
    quietAt: 7,
    firesAt: 9,
    labels: NETWORK,
    summary: "3 links are lost or inactive.",
  },
  GazetteerLinksOneSided: {
    series: problems("link-one-sided", "major", "0x5 1x20"),
    quietAt: 15,
    firesAt: 17,
    labels: NETWORK,
    summary: "1 links are known in one direction only.",
  },
  GazetteerConflicts: {
    series: {
      ...problems("conflict", "minor", "0x5 1x30"),
      ...problems("host-duplicated", "minor", "0x5 2x30"),
    },
    quietAt: 20,
    firesAt: 22,
    labels: NETWORK,
    summary: "Sources contradict each other about 3 devices, ports, links or hosts.",
  },
  GazetteerDevicesUnknown: {
    series: problems("device-unknown", "warning", "0x5 1x30"),
    quietAt: 20,
    firesAt: 22,
    labels: NETWORK,
    summary: "Links or hosts refer to 1 devices that no source reports.",
  },
  GazetteerSourceAbandoned: {
    series: problems("source-stale", "warning", "0x5 1x10"),
    quietAt: 10,
    firesAt: 12,
    labels: NETWORK,
    summary: "No node runs 1 sources whose claims are still shown.",
  },
  GazetteerDrift: {
    series: problems("drift", "warning", "0x5 4x80"),
    quietAt: 65,
    firesAt: 67,
    labels: NETWORK,
    summary: "4 devices, ports, links or hosts differ from the plan.",
  },
  GazetteerDevicesGone: {
    series: { [`gazetteer_entities{${NODE_LABELS},kind="devices"}`]: "50x30 24x30" },
    quietAt: 31,
    firesAt: 33,
    labels: NETWORK,
    summary: "More than half of the devices of 15 minutes ago are gone; 24 are left.",
  },
  GazetteerManyChanges: {
    // 80 changes a minute for a day, and then 500 for ten minutes.
    intervalMinutes: 5,
    series: { [`gazetteer_revision{${NODE_LABELS}}`]: "0+400x287 115200+2500x4" },
    quietAt: 1440,
    firesAt: 1450,
    labels: NETWORK,
    summary: "The network has changed 5k times in 10 minutes, five times as often as in the last day.",
  },
  GazetteerNodeStale: {
    series: { [`gazetteer_cluster_stale_seconds{${NODE_LABELS}}`]: "0x5 30 90 150" },
    quietAt: 6,
    firesAt: 7,
    labels: NODE,
    summary: "Node a:8181 serves a view that may be 1m 30s old.",
  },
  GazetteerClusterCondition: {
    series: {
      [`gazetteer_cluster_condition{${NODE_LABELS},condition="unreachable"}`]: "0x5 1x10",
      [`gazetteer_cluster_condition{${NODE_LABELS},condition="disk"}`]: "0x15",
    },
    quietAt: 7,
    firesAt: 9,
    labels: { ...NODE, condition: "unreachable" },
    summary: "Node a:8181 has trouble with the log of the cluster: unreachable.",
  },
  GazetteerReplicasMissing: {
    series: {
      [`gazetteer_cluster_replicas{${NODE_LABELS}}`]: "3x20",
      [`gazetteer_cluster_replicas_current{${NODE_LABELS}}`]: "3x5 2x15",
    },
    quietAt: 10,
    firesAt: 12,
    labels: NETWORK,
    summary: "Only 2 NATS servers have all of the log.",
  },
  GazetteerForeignMessages: {
    series: { [`gazetteer_cluster_foreign_messages_total{${NODE_LABELS},place="log"}`]: "0x10 1x10" },
    quietAt: 10,
    firesAt: 12,
    labels: { ...NODE, place: "log" },
    summary: "Somebody who is no node of the cluster writes to the log in NATS (log).",
  },
};

const file: RuleFile = parse(readFileSync(RULES_FILE, "utf8"));
const rules = file.groups.flatMap((group) => group.rules);

test("each rule has a case, a severity and texts, and uses documented metrics only", () => {
  expect(rules.map(({ alert }) => alert).sort()).toEqual(Object.keys(CASES).sort());
  const documented = documentedMetrics();
  for (const { alert, expr, labels, annotations } of rules) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning)$/)]);
    expect([alert, Object.keys(annotations)]).toEqual([alert, ["summary", "description"]]);
    expect([alert, metricsIn(expr).filter((name) => !documented.has(name))]).toEqual([alert, []]);
  }
});

describe.skipIf(!needs("promtool"))("promtool", () => {
  const promtool = async (...args: string[]) => {
    const child = Bun.spawn(["promtool", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { status, text: out + err };
  };

  test("accepts the file", async () => {
    const { status, text } = await promtool("check", "rules", "--lint-fatal", RULES_FILE);
    expect({ status, text }).toEqual({
      status: 0,
      text: expect.stringContaining(`${rules.length} rules found`),
    });
  });

  test("sees every alert fire when its metrics say so, and not before", async () => {
    const folder = temporaryFolder();
    const paths = rules.flatMap(({ alert, labels, annotations }) => {
      const expected = CASES[alert];
      if (!expected) return [];
      const { intervalMinutes = 1, series, summary } = expected;
      const alertAt = (minutes: number, exp_alerts: unknown[]) => ({
        eval_time: `${minutes}m`,
        alertname: alert,
        exp_alerts,
      });
      const fired = {
        exp_labels: { ...labels, ...expected.labels },
        exp_annotations: { ...annotations, summary },
      };
      const ruleTest = {
        interval: `${intervalMinutes}m`,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [alertAt(expected.quietAt, []), alertAt(expected.firesAt, [fired])],
      };
      const path = join(folder, `${alert}.json`);
      const evaluation_interval = `${intervalMinutes}m`;
      writeFileSync(
        path,
        JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval, tests: [ruleTest] }),
      );
      return [path];
    });
    const { status, text } = await promtool("test", "rules", ...paths);
    expect({ status, text }).toEqual({ status: 0, text: expect.stringContaining("SUCCESS") });
  });
});
