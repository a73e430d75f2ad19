/** Cases i, j, k, m, n: a million hosts. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../lib/process.ts";
import { median } from "../lib/table.ts";
import { hostAddress } from "./network.ts";
import { startNginx } from "./nginx.ts";
import { fetchBytes, type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { CREDENTIALS, load } from "./wrk.ts";

const DEVICES = 10_000;

export interface LargeOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly hosts: number;
}

export async function measureLarge({ folder, rounds, seconds, hosts }: LargeOptions): Promise<Result[]> {
  const data = join(folder, "million");
  const shape = { devices: DEVICES, hosts, data };
  const results: Result[] = [];
  const of = (n: number) => n.toLocaleString("en-US");

  // Fill the log, then measure a start from it.
  const first = await startGazetteer(shape);
  await first.stop();
  const startedMs = performance.now();
  const ours = await startGazetteer(shape);
  const startMs = performance.now() - startedMs;
  const startRss = ours.rssBytes() / 1024 ** 2;
  results.push({
    name: "m/start",
    what: `start-up from a log of ${of(hosts)} hosts`,
    unit: "s",
    ours: startMs / 1000,
  });
  results.push({
    name: "m/rss",
    what: "memory after that start",
    unit: "MiB",
    ours: startRss,
    max: 1.2 * 1024,
  });

  const nginx = await startNginx(join(folder, "nginx-large"), 18_903);
  try {
    results.push(...(await lookups(ours, nginx.url, nginx.put, folder, { rounds, seconds, hosts })));
    results.push(...(await whole(ours, nginx.url, nginx.put, rounds, hosts)));
    ours.send("apply 100000\n");
    const [, ms = "0"] = await ours.line(/^applied ([\d.]+)$/);
    const perSecond = 100_000 / (Number(ms) / 1000);
    const what = `changes into ${of(hosts)} hosts, in batches of 1,000`;
    results.push({ name: "n", what, unit: "changes/s", ours: perSecond, min: 20_000 });
    return results;
  } finally {
    await ours.stop();
    await nginx.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

type Put = (path: string, bytes: Uint8Array, gzip?: Uint8Array) => void;

async function lookups(
  ours: Peer,
  nginxUrl: string,
  put: Put,
  folder: string,
  { rounds, seconds, hosts }: { rounds: number; seconds: number; hosts: number },
): Promise<Result[]> {
  const script = join(folder, "lookup.lua");
  writeFileSync(script, lookupScript(hosts));
  const probe = await fetchBytes(`${ours.url}/hosts?ip=${hostAddress(hosts >> 1)}`);
  if (!new TextDecoder().decode(probe.bytes).includes(hostAddress(hosts >> 1)))
    throw new Error("the look-up finds nothing");
  const page = await fetchBytes(`${ours.url}/hosts?limit=1000`);
  put("controller/v1/page", page.bytes);
  const samples = { a: [] as number[], i: [] as number[], k: [] as number[], page: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    samples.a.push((await load(`${ours.url}/topology`, { seconds })).requestsPerSecond);
    samples.i.push((await load(`${ours.url}/hosts`, { seconds, script })).requestsPerSecond);
    samples.k.push((await load(`${ours.url}/hosts?limit=1000`, { seconds })).requestsPerSecond);
    samples.page.push((await load(`${nginxUrl}/controller/v1/page`, { seconds })).requestsPerSecond);
  }
  const [a, i, k, file] = [samples.a, samples.i, samples.k, samples.page].map(median);
  return [
    {
      name: "i",
      what: "hosts?ip=, another address each time",
      unit: "requests/s",
      ours: i ?? 0,
      against: { "case a": a ?? 0 },
      bar: 0.7,
    },
    {
      name: "k",
      what: "a page of 1,000 hosts",
      unit: "requests/s",
      ours: k ?? 0,
      against: { nginx: file ?? 0 },
    },
  ];
}

/** A wrk script that requests another host each time, numbered as in `hostAddress`. */
export const lookupScript = (hosts: number): string => `
local n = 0
request = function()
  n = (n + 7919) % ${hosts}
  local ip = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  return wrk.format("GET", wrk.path .. "?ip=" .. ip)
end
`;

async function whole(
  ours: Peer,
  nginxUrl: string,
  put: Put,
  rounds: number,
  hosts: number,
): Promise<Result[]> {
  const { bytes } = await fetchBytes(`${ours.url}/hosts`);
  const { bytes: gzip } = await fetchBytes(`${ours.url}/hosts`, "gzip");
  put("controller/v1/hosts", bytes, gzip);
  const results: Result[] = [];
  for (const [coding, bar] of [
    ["identity", 0.6],
    ["gzip", undefined],
  ] as const) {
    const mine: Download[] = [];
    const theirs: Download[] = [];
    for (let round = 0; round < rounds; round++) {
      mine.push(await download(`${ours.url}/hosts`, coding));
      theirs.push(await download(`${nginxUrl}/controller/v1/hosts`, coding));
    }
    const what = `all ${hosts.toLocaleString("en-US")} hosts, ${coding}`;
    const rate = (all: Download[]) => median(all.map((download) => download.megabytesPerSecond));
    const first = (all: Download[]) => median(all.map((download) => download.firstByteMs));
    results.push({
      name: `j/${coding}`,
      what,
      unit: "MB/s",
      ours: rate(mine),
      against: { nginx: rate(theirs) },
      ...(bar !== undefined && { bar }),
    });
    results.push({
      name: `j/${coding}/first byte`,
      what,
      unit: "ms",
      ours: first(mine),
      against: { nginx: first(theirs) },
    });
  }
  return results;
}

interface Download {
  readonly firstByteMs: number;
  readonly megabytesPerSecond: number;
}

async function download(url: string, coding: string): Promise<Download> {
  const { user, password } = CREDENTIALS;
  const out = await run([
    "curl", "-s", "-o", "/dev/null", "-u", `${user}:${password}`, "-H", `Accept-Encoding: ${coding}`,
    "-w", "%{time_starttransfer} %{time_total} %{size_download}", url,
  ]); // biome-ignore format: a command line
  const [first = 0, total = 1, size = 0] = out.split(" ").map(Number);
  return { firstByteMs: first * 1000, megabytesPerSecond: size / 1e6 / (total - first || total) };
}
