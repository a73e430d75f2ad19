/**
 * `npm run bench`: all benchmarks, side by side with peers, as one table of medians and ratios, also written to
 * `bench/results.json`. `npm run bench -- small streams large map openflow growth` runs only those. Queries and the write
 * path alone have scripts of their own: `bench/query.ts`, `bench/view/write-path.ts`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPeers } from "../scripts/peers.ts";
import { measureGrowth } from "./api/growth.ts";
import { measureLarge } from "./api/large.ts";
import { passed, type Result, ratioOf } from "./api/result.ts";
import { measureSmall } from "./api/small.ts";
import { measureStreams } from "./api/streams.ts";
import { shown, table } from "./lib/table.ts";
import { measureOpenflow } from "./openflow/openflow.ts";
import { measureMap } from "./web/map.ts";

await installPeers();
const folder = mkdtempSync(join(tmpdir(), "gazetteer-bench-"));
const quick = process.argv.includes("--quick");
const rounds = quick ? 1 : 5;
const seconds = quick ? 1 : 3;

const SUITES: Readonly<Record<string, () => Promise<Result[]>>> = {
  small: () => measureSmall({ folder, rounds, seconds }),
  streams: () => measureStreams({ streams: 1000, seconds: quick ? 3 : 15 }),
  large: () =>
    measureLarge({ folder, rounds: Math.min(rounds, 3), seconds, hosts: quick ? 100_000 : 1_000_000 }),
  map: () => measureMap({ rounds: quick ? 1 : 3 }),
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
};

const selected = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const measured: Record<string, Result[]> = {};
try {
  for (const [name, measure] of Object.entries(SUITES)) {
    if (selected.length > 0 && !selected.includes(name)) continue;
    process.stderr.write(`measuring ${name}\n`);
    measured[name] = await measure();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const results = Object.values(measured).flat();

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
console.log(table([["case", "what", "gazetteer", "peer", "ratio", "bar", ""], ...rows]));
/** Suites that did not run keep their previous results. */
const file = join(import.meta.dir, "results.json");
if (!quick) {
  const machine = { arch: process.arch, cores: navigator.hardwareConcurrency, runtime: `bun ${Bun.version}` };
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { suites: {} };
  const suites = { ...before.suites, ...measured };
  writeFileSync(file, `${JSON.stringify({ machine, suites }, null, 2)}\n`);
}
