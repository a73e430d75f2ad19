/**
 * What a large polled source costs the service: its first load, and polls in which nothing has changed. Reading, parsing
 * and comparing happen in the thread of the source, so the event loop must not notice the polls, and no revision is
 * committed.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import type { Result } from "../api/result.ts";
import { type Running, startAnywhere } from "../lib/process.ts";
import type { LoopStats } from "./loop-probe.ts";

export interface SourcesShape {
  readonly folder: string;
  readonly devices: number;
  readonly polls: number;
}

const PORTS_PER_DEVICE = 5;
const HOSTS_PER_DEVICE = 20;
const MAX_DELAY_P99_MS = 10;
const MAX_DELAY_MS = 50;
const DEADLINE_MS = 10 * 60_000;
const root = join(import.meta.dir, "../..");

export async function measureSources({ folder, devices, polls }: SourcesShape): Promise<Result[]> {
  const bun = join(root, "node_modules/bun/bin/bun.exe");
  const sizes = [devices, PORTS_PER_DEVICE, HOSTS_PER_DEVICE].map(String);
  const peer = startAnywhere([bun, join(import.meta.dir, "document-server.ts"), ...sizes]);
  const [, origin] = await peer.line(/^listening on (\S+)$/);
  const config = join(folder, "sources.json");
  const entry = { type: "http", name: "large", url: `${origin}/network.json`, intervalSeconds: 1 };
  writeFileSync(
    config,
    JSON.stringify({ data: join(folder, "data"), port: 0, logLevel: "warn", sources: [entry] }),
  );
  const probe = join(import.meta.dir, "loop-probe.ts");
  const command = [bun, "--preload", probe, join(root, "src/main.ts"), "serve", "--config", config];
  const started = performance.now();
  const service = startAnywhere(command, { GAZETTEER_CREDENTIALS: "reader:measured" });
  try {
    const [, url = ""] = await service.line(/^listening on (\S+)\/controller\/v1$/);
    // What came before is the start of the process.
    await loopStats(service);
    const readiness = async () =>
      (
        await fetch(`${url}/readyz`, { headers: { Authorization: `Basic ${btoa("reader:measured")}` } })
      ).json();
    await until(async () => (await readiness()).status === "ready", {
      what: "the first load",
      deadlineMs: DEADLINE_MS,
      everyMs: 200,
    });
    const loadSeconds = (performance.now() - started) / 1000;
    const load = await loopStats(service);
    const before = await readiness();
    await nextRequests(peer, polls);
    const poll = await loopStats(service);
    const after = await readiness();
    const revisions = after.revision - before.revision;
    if (after.status !== "ready") throw new Error(`the service is ${JSON.stringify(after)}`);
    return results(devices, { loadSeconds, load, poll, revisions, rssBytes: service.rssBytes() });
  } finally {
    await service.stop();
    await peer.stop();
  }
}

async function loopStats(service: Running): Promise<LoopStats> {
  process.kill(service.pid, "SIGUSR2");
  const [, json = ""] = await service.line(/^loop (.+)$/);
  return JSON.parse(json);
}

/** Waits until the peer has been read so many times more. */
async function nextRequests(peer: Running, count: number): Promise<void> {
  const seen = async () => Number((await peer.line(/^request (\d+)$/))[1]);
  const first = await seen();
  while ((await seen()) < first + count);
}

interface Measured {
  readonly loadSeconds: number;
  readonly load: LoopStats;
  readonly poll: LoopStats;
  readonly revisions: number;
  readonly rssBytes: number;
}

function results(devices: number, { loadSeconds, load, poll, revisions, rssBytes }: Measured): Result[] {
  const name = `${devices} devices`;
  const ms = (what: string, ours: number, max?: number): Result => ({
    name,
    what,
    unit: "ms",
    ours,
    ...(max !== undefined && { max }),
  });
  return [
    { name, what: "revisions of polls without a change", unit: "", ours: revisions, max: 0 },
    ms("polls: loop delay p99", poll.delayP99Ms, MAX_DELAY_P99_MS),
    ms("polls: loop delay max", poll.delayMaxMs, MAX_DELAY_MS),
    ms("polls: longest work of the loop", poll.workMaxMs),
    { name, what: "first load", unit: "s", ours: loadSeconds },
    ms("first load: loop delay p99", load.delayP99Ms, MAX_DELAY_P99_MS),
    ms("first load: loop delay max", load.delayMaxMs, MAX_DELAY_MS),
    ms("first load: longest work of the loop", load.workMaxMs),
    { name, what: "memory after the polls", unit: "MB", ours: rssBytes / 1e6 },
  ];
}
