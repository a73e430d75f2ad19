/**
 * `npm run bench`: all benchmarks, side by side with peers, as one table of medians and ratios, also written to
 * `bench/results.json`. `npm run bench -- small streams large map layout openflow growth sources` runs only
 * those. Queries and
 * the write path alone have scripts of their own: `bench/query.ts`, `bench/view/write-path.ts`.
 *
 *   --quick              shorter, without writing the results
 *
 * `npm run bench -- fairness`, which runs only when it is named, prints its own table and has options of its own:
 *   --large              10,000 devices and 1,000,000 hosts instead of 2,000 and 50,000
 *   --rows A,B           only these attacks
 *   --columns A,B        only these of now, readers-2, before
 *   --before REVISION    the commit to compare with; `none` for no comparison
 *
 * `npm run bench -- cluster`, too: nodes and NATS servers on this machine; `nats-server` must be installed.
 *
 * `npm run bench -- compare`, too: 1,000,000 hosts with one source, beside an earlier commit (--before REVISION).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPeers } from "../scripts/peers.ts";
import { BEFORE_MERGING, measureCompare } from "./api/compare.ts";
import { measureGrowth } from "./api/growth.ts";
import { measureLarge } from "./api/large.ts";
import { passed, type Result, ratioOf } from "./api/result.ts";
import { measureSmall } from "./api/small.ts";
import { measureStreams } from "./api/streams.ts";
import { measureCluster } from "./cluster/cluster.ts";
import { DEFAULT_BEFORE, measureFairness } from "./fairness/fairness.ts";
import { shown, table } from "./lib/table.ts";
import { measureOpenflow } from "./openflow/openflow.ts";
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
  },
  allowPositionals: true,
});
/** Suites that take long and need a git checkout. */
const ONLY_WHEN_NAMED = ["fairness", "compare", "cluster"];
const WITH_OWN_TABLE = ["fairness"];
const WITHOUT_PEERS = ["fairness", "sources", "cluster", "layout"];
if (selected.length === 0 || selected.some((name) => !WITHOUT_PEERS.includes(name))) await installPeers();
const folder = mkdtempSync(join(tmpdir(), "gazetteer-bench-"));
const { quick } = options;
const rounds = quick ? 1 : 5;
const seconds = quick ? 1 : 3;

const words = (text: string): string[] => text.split(",").filter(Boolean);

const SUITES: Readonly<Record<string, () => Promise<Result[]>>> = {
  small: () => measureSmall({ folder, rounds, seconds }),
  streams: () => measureStreams({ streams: 1000, seconds: quick ? 3 : 15 }),
  large: () =>
    measureLarge({ folder, rounds: Math.min(rounds, 3), seconds, hosts: quick ? 100_000 : 1_000_000 }),
  map: () => measureMap({ rounds: quick ? 1 : 3 }),
  layout: async () => measureLayout({ large: !quick }),
  openflow: () =>
    measureOpenflow({
      sizes: quick ? [100] : [100, 500, 1000],
      rounds: Math.min(rounds, 3),
      held: quick ? 500 : 2000,
      heldSeconds: quick ? 5 : 30,
    }),
  growth: () =>
    measureGrowth({
      folder,
      seconds: 1,
      sizes: quick ? [100, 1000] : [100, 1000, 10_000, 100_000, 1_000_000],
    }),
  sources: () => measureSources({ folder, devices: quick ? 1000 : 10_000, polls: quick ? 3 : 10 }),
  cluster: () => measureCluster({ folder, quick }),
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

const rows = results.map((result) => {
  const [peer, theirs] = Object.entries(result.against ?? {})[0] ?? [];
  const ratio = ratioOf(result);
  const bar = result.bar ?? result.min ?? result.max;
  const verdict = passed(result);
  return [
    result.name,
    result.what,
    `${shown(result.ours)} ${result.unit}`,
    theirs === undefined ? "" : `${peer} ${shown(theirs)}`,
    ratio === undefined ? "" : ratio.toFixed(2),
    bar === undefined ? "" : `${result.max === undefined ? "≥" : "≤"} ${bar}`,
    verdict === undefined ? "" : verdict ? "met" : "NOT MET",
  ];
});
if (rows.length > 0) console.log(table([["case", "what", "gazetteer", "peer", "ratio", "bar", ""], ...rows]));
/** Suites that did not run keep their previous results. */
const file = join(import.meta.dir, "results.json");
if (!quick) {
  const machine = { arch: process.arch, cores: navigator.hardwareConcurrency, runtime: `bun ${Bun.version}` };
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { suites: {} };
  const suites = { ...before.suites, ...measured };
  writeFileSync(file, `${JSON.stringify({ machine, suites }, null, 2)}\n`);
}
