/**
 * What a large polled source costs the service: its first load, and polls in which nothing has changed. Reading, parsing
 * and comparing happen in the thread of the source, so the event loop must not notice the polls, and no revision is
 * committed. An idle process is measured in the same way at the same time: what it is late by is the machine's.
 *
 * Then the first load of a much larger network from a file: the processor time of all threads, until everything is visible.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import type { Result } from "../api/result.ts";
import { type Running, startAnywhere } from "../lib/process.ts";
import type { LoopStats } from "./loop-probe.ts";
import { encodeNetwork } from "./network-document.ts";

export interface SourcesShape {
  readonly folder: string;
  readonly devices: number;
  readonly polls: number;
  readonly hostsInFile: number;
}

const PORTS_PER_DEVICE = 5;
const HOSTS_PER_DEVICE = 20;
const MAX_DELAY_P99_MS = 10;
const MAX_DELAY_MS = 50;
const DEADLINE_MS = 10 * 60_000;
const HOSTS_PER_DEVICE_IN_FILE = 100;
/** Processor time per host. */
const MAX_FILE_MICROSECONDS = 30;
const root = join(import.meta.dir, "../..");
const bun = join(root, "node_modules/.bin/bun");
const CREDENTIALS = "reader:measured";

export async function measureSources(shape: SourcesShape): Promise<Result[]> {
  return [...(await measurePolls(shape)), await measureFile(shape)];
}

async function measurePolls({ folder, devices, polls }: SourcesShape): Promise<Result[]> {
  const sizes = [devices, PORTS_PER_DEVICE, HOSTS_PER_DEVICE].map(String);
  const peer = startAnywhere([bun, join(import.meta.dir, "document-server.ts"), ...sizes]);
  const [, origin] = await peer.line(/^listening on (\S+)$/);
  const config = join(folder, "sources.json");
  const entry = { type: "http", name: "large", url: `${origin}/network.json`, intervalSeconds: 1 };
  writeFileSync(config, JSON.stringify({ data: join(folder, "data"), port: 0, sources: [entry] }));
  const probe = join(import.meta.dir, "loop-probe.ts");
  const command = [bun, "--preload", probe, join(root, "src/main.ts"), "serve", "--config", config];
  const idle = startAnywhere([bun, "--preload", probe, "-e", "setInterval(() => {}, 1e6)"]);
  const started = performance.now();
  const service = startAnywhere(command, { GAZETTEER_CREDENTIALS: CREDENTIALS });
  try {
    const url = await urlOf(service);
    // What came before is the start of the process.
    await Promise.all([loopStats(service), loopStats(idle)]);
    await untilReady(url);
    const loadSeconds = (performance.now() - started) / 1000;
    const [load, idleDuringLoad] = await Promise.all([loopStats(service), loopStats(idle)]);
    const before = await readiness(url);
    await nextRequests(peer, polls);
    const [poll, idleDuringPolls] = await Promise.all([loopStats(service), loopStats(idle)]);
    const after = await readiness(url);
    const revisions = after.revision - before.revision;
    if (after.status !== "ready") throw new Error(`the service is ${JSON.stringify(after)}`);
    const rssBytes = service.rssBytes();
    return results(devices, {
      loadSeconds,
      load,
      poll,
      idleDuringLoad,
      idleDuringPolls,
      revisions,
      rssBytes,
    });
  } finally {
    await service.stop();
    await idle.stop();
    await peer.stop();
  }
}

async function measureFile({ folder, hostsInFile }: SourcesShape): Promise<Result> {
  const devices = hostsInFile / HOSTS_PER_DEVICE_IN_FILE;
  const own = join(folder, "file-source");
  const path = `${own}.json`;
  writeFileSync(path, [...encodeNetwork(devices, PORTS_PER_DEVICE, hostsInFile)].join(""));
  const config = `${own}-config.json`;
  const entry = { type: "file", name: "large", path };
  writeFileSync(config, JSON.stringify({ data: own, port: 0, sources: [entry] }));
  const command = [bun, join(root, "src/main.ts"), "serve", "--config", config];
  const service = startAnywhere(command, { GAZETTEER_CREDENTIALS: CREDENTIALS });
  try {
    await untilReady(await urlOf(service));
    return {
      name: `file of ${hostsInFile.toLocaleString("en-US")} hosts`,
      what: "first load, all threads",
      unit: "s of CPU",
      ours: service.cpuSeconds(),
      max: (hostsInFile * MAX_FILE_MICROSECONDS) / 1e6,
    };
  } finally {
    await service.stop();
    for (const left of [own, path, config]) rmSync(left, { recursive: true, force: true });
  }
}

async function urlOf(service: Running): Promise<string> {
  const [, url = ""] = await service.line(/^listening on (\S+)\/controller\/v1$/);
  return url;
}

async function readiness(url: string): Promise<{ readonly status: string; readonly revision: number }> {
  const headers = { Authorization: `Basic ${btoa(CREDENTIALS)}` };
  return (await fetch(`${url}/readyz`, { headers })).json();
}

const untilReady = (url: string) =>
  until(async () => (await readiness(url)).status === "ready", {
    what: "the first load",
    deadlineMs: DEADLINE_MS,
    everyMs: 200,
  });

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
  readonly idleDuringLoad: LoopStats;
  readonly idleDuringPolls: LoopStats;
  readonly revisions: number;
  readonly rssBytes: number;
}

function results(devices: number, measured: Measured): Result[] {
  const name = `${devices} devices`;
  const loop = (phase: string, ours: LoopStats, idle: LoopStats, isBounded: boolean): Result[] => [
    {
      name,
      what: `${phase}: loop delay p99`,
      unit: "ms",
      ours: ours.delayP99Ms,
      against: { idle: idle.delayP99Ms },
      ...(isBounded && { max: MAX_DELAY_P99_MS }),
    },
    {
      name,
      what: `${phase}: loop delay max`,
      unit: "ms",
      ours: ours.delayMaxMs,
      against: { idle: idle.delayMaxMs },
      ...(isBounded && { max: MAX_DELAY_MS }),
    },
    { name, what: `${phase}: longest work of the loop`, unit: "ms", ours: ours.workMaxMs },
  ];
  return [
    { name, what: "revisions of polls without a change", unit: "", ours: measured.revisions, max: 0 },
    ...loop("polls", measured.poll, measured.idleDuringPolls, true),
    { name, what: "first load", unit: "s", ours: measured.loadSeconds },
    ...loop("first load", measured.load, measured.idleDuringLoad, false),
    { name, what: "memory after the polls", unit: "MB", ours: measured.rssBytes / 1e6 },
  ];
}
