/**
 * `npm run bench`: all benchmarks, side by side with peers, as one table of medians and ratios, also written to
 * `bench/results.json`. Names run only those: small bodies streams large readers history map layout openflow growth sources.
 * Queries and the write path alone have scripts of their own: `bench/query.ts`, `bench/view/write-path.ts`.
 *
 * `npm run bench -- table` measures nothing: it prints the kept results as Markdown, beside those that were kept at another
 * commit (--before COMMIT).
 *
 *   --quick              shorter, without writing the results
 *   --max HOSTS          the largest network of `growth`
 *
 * `npm run bench -- fairness`, which runs only when it is named, prints its own table and has options of its own:
 *   --large              10,000 devices and 1,000,000 hosts instead of 2,000 and 50,000
 *   --rows A,B           only these attacks
 *   --columns A,B        only these of now, readers-2, before
 *   --before REVISION    the commit to compare with; `none` for no comparison
 *
 * `npm run bench -- cluster`, too: nodes and NATS servers on this machine; `nats-server` must be installed.
 *
 * `npm run bench -- onos`, too: beside ONOS's own code, which needs Java.
 *
 * `npm run bench -- cpu`, `scans`, `compare`, `openflow`, too: beside an earlier commit (--before REVISION).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPeers } from "../scripts/peers.ts";
import { BEFORE_MERGING, measureCompare } from "./api/compare.ts";
import { BEFORE_SLICES, measureCpu, measureScans } from "./api/cpu.ts";
import { measureGrowth } from "./api/growth.ts";
import { measureHistory } from "./api/history.ts";
import { measureLarge } from "./api/large.ts";
import { measureOnos } from "./api/onos.ts";
import { measureReaders } from "./api/readers.ts";
import { cellsOf, type Result } from "./api/result.ts";
import { measureBodies, measureSmall } from "./api/small.ts";
import { measureStreams } from "./api/streams.ts";
import { measureCluster } from "./cluster/cluster.ts";
import { DEFAULT_BEFORE, measureFairness } from "./fairness/fairness.ts";
import { keepResults, markdownTables, measuredOn } from "./lib/kept-results.ts";
import { table } from "./lib/table.ts";
import { measureOpenflow, measureOpenflowBeside } from "./openflow/openflow.ts";
import { measureSources } from "./sources/sources.ts";
import { measureLayout } from "./web/layout-quality.ts";
import { measureMap } from "./web/map.ts";

const { values: options, positionals: selected } = parseArgs({
  args: process.argv.slice(2),
  options: {
    quick: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
    rows: { type: "string", default: "" },
    columns: { type: "string", default: "" },
    before: { type: "string", default: "" },
    max: { type: "string", default: "1000000" },
  },
  allowPositionals: true,
});
/** Suites that take long and need a git checkout. */
const ONLY_WHEN_NAMED = ["fairness", "compare", "cpu", "scans", "onos", "cluster"];
const WITH_OWN_TABLE = ["fairness"];
/** A comparison of two commits is not a result of one of them. */
const NOT_KEPT = ["cpu", ...(options.before ? ["openflow"] : [])];
const WITHOUT_PEERS = ["fairness", "sources", "cluster", "layout", "history"];
const { quick } = options;
const rounds = quick ? 1 : 3;
const seconds = quick ? 1 : 2;

if (selected.includes("table")) {
  console.log(markdownTables(options.before || undefined));
  process.exit();
}
if (selected.length === 0 || selected.some((name) => !WITHOUT_PEERS.includes(name))) await installPeers();
const folder = mkdtempSync(join(tmpdir(), "gazetteer-bench-"));

const maxHosts = Number(options.max);
/** Only the results and charts of whole runs are kept. */
const isWhole = !quick && maxHosts >= 1_000_000;
const chart = { folder: isWhole ? join(import.meta.dir, "../docs/images") : tmpdir(), source: measuredOn() };

const words = (text: string): string[] => text.split(",").filter(Boolean);

const SUITES: Readonly<Record<string, () => Promise<Result[]>>> = {
  small: () => measureSmall({ folder, rounds, seconds, chart }),
  bodies: () => measureBodies({ folder, rounds, seconds }),
  streams: () => measureStreams({ streams: 1000, seconds: quick ? 3 : 15 }),
  large: () =>
    measureLarge({ folder, rounds: Math.min(rounds, 3), seconds, hosts: quick ? 100_000 : 1_000_000 }),
  readers: () => measureReaders({ folder, rounds, seconds }),
  history: () =>
    measureHistory({ folder, hosts: quick ? 10_000 : 100_000, changes: quick ? 20_000 : 1_000_000 }),
  onos: () => measureOnos({ folder, rounds: quick ? 1 : 5, seconds }),
  map: () => measureMap({ rounds: quick ? 1 : 3 }),
  layout: async () => measureLayout({ large: !quick }),
  openflow: () =>
    options.before
      ? measureOpenflowBeside(options.before, Math.min(rounds, 5))
      : measureOpenflow({
          sizes: quick ? [100] : [100, 500, 1000],
          rounds: Math.min(rounds, 3),
          held: quick ? 500 : 2000,
          heldSeconds: quick ? 5 : 30,
        }),
  growth: () => measureGrowth({ folder, maxHosts, chart }),
  sources: () =>
    measureSources({
      folder,
      devices: quick ? 1000 : 10_000,
      polls: quick ? 3 : 10,
      hostsInFile: quick ? 100_000 : 1_000_000,
    }),
  cluster: () => measureCluster({ folder, quick }),
  cpu: () => measureCpu({ folder, rounds, before: options.before || "HEAD" }),
  scans: () => measureScans({ folder, rounds, before: options.before || BEFORE_SLICES }),
  compare: () =>
    measureCompare({
      folder,
      rounds: Math.min(rounds, 3),
      seconds,
      hosts: quick ? 100_000 : 1_000_000,
      before: options.before || BEFORE_MERGING,
    }),
  fairness: () =>
    measureFairness({
      folder,
      large: options.large,
      seconds: quick ? 3 : 6,
      before: options.before || DEFAULT_BEFORE,
      rows: words(options.rows),
      columns: words(options.columns),
    }),
};
const measured: Record<string, Result[]> = {};
try {
  for (const [name, measure] of Object.entries(SUITES)) {
    const runs = selected.length > 0 ? selected.includes(name) : !ONLY_WHEN_NAMED.includes(name);
    if (!runs) continue;
    process.stderr.write(`measuring ${name}\n`);
    measured[name] = await measure();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const results = Object.entries(measured).flatMap(([name, each]) =>
  WITH_OWN_TABLE.includes(name) ? [] : each,
);

const rows = results.map((result) => [result.name, result.what, ...cellsOf(result)]);
if (rows.length > 0) console.log(table([["case", "what", "gazetteer", "peer", "ratio", "bar", ""], ...rows]));
if (isWhole)
  keepResults(Object.fromEntries(Object.entries(measured).filter(([name]) => !NOT_KEPT.includes(name))));
