/**
 * `npm run soak -- --minutes N`: a real service with a demo network, a file and emulated switches, under changes, bad
 * clients and readers, for N minutes (2 when absent). Stream followers keep copies of the network. At the end the
 * attacks and changes stop, and it must hold: every copy equals the lists of the service, no handles are left over, no
 * memory is held for responses, and what is live after a garbage collection is within its bound. The exit status is 1
 * when something does not. Latencies and the resident memory are only reported: they depend on the machine, and their
 * limits are in `npm run bench -- fairness`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../../src/client/client.ts";
import { until } from "../../test/support/until.ts";
import { type Measured, measureRow } from "../fairness/row.ts";
import { type ServiceUnderAttack, startUnderAttack } from "../fairness/service.ts";
import { startChurn } from "./churn.ts";
import { FOLLOWED, Follower } from "./follower.ts";
import { handlesOf, memorySlope, type Sample } from "./samples.ts";

/** Bad clients, one after the other. Those that change the files of the service or leave devices behind are left out. */
const BAD_CLIENTS = [
  "nothing",
  "graphml",
  "pipelined",
  "around",
  "csv-br",
  "one-byte-chunks",
  "q",
  "diff",
  "trailers",
  "since-streams",
  "svg",
  "body",
  "slow-readers",
  "onos-hosts",
  "guessing",
  "around-streams",
  "sort-repeated",
] as const;
const ROUND_SECONDS = 2;
const NETWORK = { devices: 200, hosts: 2000, changesPerSecond: 20 };
const SAMPLE_MS = 500;
const RESUME_MS = 4000;
const SETTLE_DEADLINE_MS = 120_000;
/** Connections of the runtime that come and go, such as those of one request of the followers. */
const MAX_EXTRA_HANDLES = 24;
/** What may stay: warm caches, recent changes and compiled code. */
const MAX_GROWTH_BYTES = 256 * 1024 ** 2;
/** Applied to runs that are long enough for the slope to mean something. */
const SLOPE_MINUTES = 10;
const MAX_SLOPE_BYTES = 4 * 1024 ** 2;

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { minutes: { type: "string", default: "2" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes}: must be a number above 0`);

const MiB = (bytes: number): number => Math.round(bytes / 1024 ** 2);

async function attackUntil(endMs: number, service: ServiceUnderAttack): Promise<[string, Measured][]> {
  const rounds: [string, Measured][] = [];
  for (let n = 0, last = false; !last; n++) {
    last = performance.now() >= endMs;
    const name = (last ? undefined : BAD_CLIENTS[n % BAD_CLIENTS.length]) ?? "nothing";
    const measured = await measureRow(service, name, ROUND_SECONDS);
    rounds.push([name, measured]);
    const { p50, p99, max, errors, peakMiB } = measured;
    const latency = [p50, p99, max].map((each) => each.toFixed(1)).join("/");
    console.log(`${name}: p50/p99/max ${latency} ms, ${errors} errors, peak ${peakMiB.toFixed(0)} MiB`);
  }
  return rounds;
}

async function soak(service: ServiceUnderAttack): Promise<string[]> {
  const { target, credentials } = service;
  const client = createClient({ url: target.url, credentials });
  const followers = [
    ...FOLLOWED.map((kind) => new Follower(client, kind)),
    ...FOLLOWED.map((kind) => new Follower(client, kind, RESUME_MS)),
  ];
  for (const follower of followers) follower.start();
  await until(() => followers.every(({ cache }) => cache.revision !== undefined), {
    what: "the first copies",
  });
  const stopChurn = await startChurn(target);
  const before = {
    residentBytes: service.residentBytes(),
    liveBytes: await service.liveBytes(),
    handles: handlesOf(target.pid),
  };
  const samples: Sample[] = [];
  const began = performance.now();
  const timer = setInterval(() => {
    const [residentBytes, handles] = [service.residentBytes(), handlesOf(target.pid)];
    samples.push({ atMs: performance.now() - began, residentBytes, handles });
  }, SAMPLE_MS);
  const rounds = await attackUntil(began + minutes * 60_000, service);
  clearInterval(timer);
  const churned = await stopChurn();
  service.pauseChanges();

  const failures: string[] = [];
  const compare = async () => (await Promise.all(followers.map((each) => each.differences()))).flat();
  await until(async () => (await compare()).length === 0, {
    what: "copies that equal the lists",
    deadlineMs: SETTLE_DEADLINE_MS,
    everyMs: 500,
  }).catch(async () => failures.push(...(await compare())));
  const handles = () => handlesOf(target.pid);
  await until(() => handles() <= before.handles + MAX_EXTRA_HANDLES, {
    what: "the end of left-over connections",
    deadlineMs: SETTLE_DEADLINE_MS,
  }).catch(() =>
    failures.push(`${handles()} handles are open; before the attacks there were ${before.handles}`),
  );
  await until(async () => (await service.heldBytes()) === 0, {
    what: "the release of memory that responses hold",
    deadlineMs: SETTLE_DEADLINE_MS,
    everyMs: 500,
  }).catch(async () =>
    failures.push(`responses that nobody waits for hold ${await service.heldBytes()} bytes`),
  );
  const liveBytes = await service.liveBytes();
  if (liveBytes - before.liveBytes > MAX_GROWTH_BYTES)
    failures.push(`live memory grew from ${MiB(before.liveBytes)} to ${MiB(liveBytes)} MiB`);
  const slope = memorySlope(samples.slice(samples.length >> 1));
  if (minutes >= SLOPE_MINUTES && slope > MAX_SLOPE_BYTES)
    failures.push(`memory grows by ${MiB(slope)} MiB a minute`);

  const quiet = rounds.filter(([name]) => name === "nothing").map(([, { p50 }]) => p50);
  const sum = (values: number[]) => values.reduce((total, each) => total + each, 0);
  console.log(
    `changes: ${churned}; ${sum(followers.map(({ events }) => events))} events in ${followers.length} followers,` +
      ` ${sum(followers.map(({ resumes }) => resumes))} resumes, ${sum(followers.map(({ resets }) => resets))} resets`,
  );
  console.log(
    `memory: live ${MiB(before.liveBytes)} MiB before, ${MiB(liveBytes)} MiB after; resident` +
      ` ${MiB(before.residentBytes)} MiB before, ${MiB(service.residentBytes())} MiB after,` +
      ` slope of the second half ${(slope / 1024 ** 2).toFixed(1)} MiB a minute`,
  );
  console.log(
    `handles: ${before.handles} before, ${Math.max(...samples.map((each) => each.handles))} at most, ${handles()} after`,
  );
  console.log(
    `latency without attack: p50 ${quiet[0]?.toFixed(1)} ms first, ${quiet.at(-1)?.toFixed(1)} ms last`,
  );
  await Promise.all(followers.map((follower) => follower.stop()));
  return failures;
}

const folder = mkdtempSync(join(tmpdir(), "gazetteer-soak-"));
let failures: string[];
try {
  const root = join(import.meta.dir, "../..");
  const shape = { root, readers: 1, reportsLiveBytes: true, ...NETWORK };
  const service = await startUnderAttack(join(folder, "service"), shape);
  failures = await soak(service).finally(() => service.stop());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
console.log(failures.length === 0 ? "soak passed" : "soak failed");
process.exit(failures.length === 0 ? 0 : 1);
