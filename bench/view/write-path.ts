/**
 * The write path alone: the time to load a network, changes per second, the time of a restart, and memory, for networks
 * of growing size.
 *
 *   bun bench/view/write-path.ts [HOSTS...]      default: 10000 100000 1000000
 *
 * Each measurement runs in its own process, so that none is influenced by the memory of another. Seconds are wall-clock
 * time; on a busy machine the `cpu` seconds beside them are the more stable figure.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Log } from "../../src/log/log.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { restoreView } from "../../src/view/restore.ts";
import { snapshotOf, View } from "../../src/view/view.ts";
import { ClaimGenerator } from "../lib/claim-generator.ts";

const SOURCE = "bench";
const CHANGES_PER_BATCH = 1000;
const BATCHES = 60;

/** Wall-clock and CPU seconds of `work`. */
async function timed(work: () => Promise<void>): Promise<{ seconds: number; cpu: number }> {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}

const rssMiB = () => Math.round(process.memoryUsage().rss / 2 ** 20);

async function measure(phase: string, hosts: number, path: string): Promise<Record<string, number>> {
  const log = openEmbeddedLog(path);
  try {
    return await measureWith(log, phase, hosts);
  } finally {
    // Its thread would keep the process alive.
    await log.close();
  }
}

async function measureWith(log: Log, phase: string, hosts: number): Promise<Record<string, number>> {
  const network = new ClaimGenerator(hosts);
  let view = new View();
  const restart = await timed(async () => {
    view = restoreView(log).view;
  });
  const committer = new Committer(view, log, systemClock, observedSources([SOURCE]));
  const ingest = new ClaimIngest(committer, SOURCE, silentLogger);
  if (phase === "load") {
    const load = await timed(() => ingest.replace(network.claims()));
    const snapshot = await timed(() => log.writeSnapshot(runToEnd(snapshotOf(view.capture()))));
    const { bytes } = log.stats();
    return { load: load.seconds, loadCpu: load.cpu, snapshot: snapshot.seconds, logMiB: bytes / 2 ** 20 };
  }
  // Freed memory returns to the system after a delay.
  Bun.gc(true);
  await Bun.sleep(3000);
  const restartRss = rssMiB();
  const changes = await timed(async () => {
    for (let batch = 0; batch < BATCHES; batch++) {
      const batchChanges: ClaimChange[] = [];
      for (let i = 0; i < CHANGES_PER_BATCH; i++) {
        const n = Math.floor(Math.random() * hosts);
        batchChanges.push({ op: "set", kind: "hosts", claim: network.host(n, batch + 1) });
      }
      await ingest.apply(batchChanges);
    }
  });
  await ingest.replace(network.claims());
  const repeat = await timed(() => ingest.replace(network.claims()));
  const total = CHANGES_PER_BATCH * BATCHES;
  return {
    restart: restart.seconds,
    restartCpu: restart.cpu,
    restartRss,
    changes: total / changes.seconds,
    changesCpu: total / changes.cpu,
    repeat: repeat.seconds,
    repeatCpu: repeat.cpu,
    endRss: rssMiB(),
  };
}

async function inOwnProcess(phase: string, hosts: number, path: string): Promise<Record<string, number>> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--phase", phase, String(hosts), path]);
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`measuring ${phase} of ${hosts} hosts failed`);
  return JSON.parse(output);
}

async function main(sizes: readonly number[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-bench-"));
  const rows: Record<string, string>[] = [];
  try {
    for (const hosts of sizes) {
      const path = join(folder, `${hosts}.db`);
      const load = await inOwnProcess("load", hosts, path);
      const run = await inOwnProcess("restart", hosts, path);
      const n = (value: number | undefined, digits = 1) => (value ?? 0).toFixed(digits);
      rows.push({
        hosts: String(hosts),
        "load s (cpu)": `${n(load.load)} (${n(load.loadCpu)})`,
        "snapshot s": n(load.snapshot),
        "log MiB": n(load.logMiB, 0),
        "restart s (cpu)": `${n(run.restart)} (${n(run.restartCpu)})`,
        "RSS MiB": n(run.restartRss, 0),
        "changes/s (cpu)": `${n(run.changes, 0)} (${n(run.changesCpu, 0)})`,
        "same claims again s (cpu)": `${n(run.repeat)} (${n(run.repeatCpu)})`,
        "RSS MiB at end": n(run.endRss, 0),
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.table(rows);
}

const [first, phase = "", hosts = "", path = ""] = process.argv.slice(2);
if (first === "--phase") console.log(JSON.stringify(await measure(phase, Number(hosts), path)));
else {
  const sizes = process.argv.slice(2).map(Number);
  await main(sizes.length > 0 ? sizes : [10_000, 100_000, 1_000_000]);
}
