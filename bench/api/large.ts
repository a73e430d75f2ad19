/** Cases i, j, k, m, n: a million hosts. Costs are processor time. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Running, run } from "../lib/process.ts";
import { median } from "../lib/table.ts";
import { hostAddress } from "./network.ts";
import { type Nginx, startNginx } from "./nginx.ts";
import { fetchBytes, type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { CREDENTIALS, distinctLookups, microsPerRequest } from "./wrk.ts";

const DEVICES = 10_000;
const CHANGES = 100_000;
const FEWER_HOSTS = 10_000;
/** Of a look-up among all hosts, compared with one among 10,000. */
const MAX_MICROS_MORE = 4;

/** The runtime collects garbage when it is idle, and returns memory to the system some seconds later. */
const REST_MS = 10_000;
const MEBIBYTE = 1024 ** 2;

const mebibytes = (server: Running): number => server.rssBytes() / MEBIBYTE;

export interface LargeOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly hosts: number;
}

export async function measureLarge(options: LargeOptions): Promise<Result[]> {
  const { folder, hosts } = options;
  const data = join(folder, "million");
  const shape = { devices: DEVICES, hosts, data };
  const results: Result[] = [];
  const of = (n: number) => n.toLocaleString("en-US");

  const first = await startGazetteer(shape);
  results.push({
    name: "m/load",
    what: `first load of ${of(hosts)} hosts`,
    unit: "s of CPU",
    ours: first.cpuSeconds(),
    max: 15,
  });
  results.push({
    name: "m/load/peak",
    what: "highest memory of that load",
    unit: "MiB",
    ours: first.peakRssBytes() / MEBIBYTE,
  });
  await Bun.sleep(REST_MS);
  results.push({
    name: "m/load/rss",
    what: `memory ${REST_MS / 1000} s after it, when the runtime has collected its garbage`,
    unit: "MiB",
    ours: mebibytes(first),
    max: 850,
  });
  await first.stop();
  const startedMs = performance.now();
  const ours = await startGazetteer(shape);
  const startMs = performance.now() - startedMs;
  results.push({
    name: "m/start",
    what: `start from the log of ${of(hosts)} hosts`,
    unit: "s of CPU",
    ours: ours.cpuSeconds(),
    max: 5,
  });
  results.push({ name: "m/start/clock", what: "the same by the clock", unit: "s", ours: startMs / 1000 });
  results.push({
    name: "m/rss",
    what: "memory after that start",
    unit: "MiB",
    ours: mebibytes(ours),
    max: 650,
  });

  const nginx = await startNginx(join(folder, "nginx-large"), 18_903);
  try {
    results.push(...(await reads(ours, nginx, options)));
    results.push(...(await whole(ours, nginx, options)));
    results.push(...(await changes(ours, options)));
    return results;
  } finally {
    await ours.stop();
    await nginx.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function changes(ours: Peer, { rounds, hosts }: LargeOptions): Promise<Result[]> {
  const samples = { cpu: [] as number[], clock: [] as number[] };
  // In the first round the runtime still compiles.
  for (let round = 0; round <= rounds; round++) {
    const cpu = ours.cpuSeconds();
    ours.send(`apply ${CHANGES}\n`);
    const [, ms = "0"] = await ours.line(/^applied ([\d.]+)$/);
    if (round === 0) continue;
    samples.cpu.push(CHANGES / (ours.cpuSeconds() - cpu));
    samples.clock.push(CHANGES / (Number(ms) / 1000));
  }
  const what = `changes into ${hosts.toLocaleString("en-US")} hosts, in batches of 1,000`;
  const rate = { unit: "changes/s", min: 35_000 };
  return [
    { name: "n", what: `${what}, by processor time`, ...rate, ours: median(samples.cpu) },
    { name: "n/clock", what: `${what}, by the clock`, ...rate, ours: median(samples.clock) },
  ];
}

/** Pages beside nginx, and look-ups beside those among 10,000 hosts. */
async function reads(
  ours: Peer,
  nginx: Nginx,
  { folder, rounds, seconds, hosts }: LargeOptions,
): Promise<Result[]> {
  const probe = await fetchBytes(`${ours.url}/hosts?ip=${hostAddress(hosts >> 1)}`);
  if (!new TextDecoder().decode(probe.bytes).includes(hostAddress(hosts >> 1)))
    throw new Error("the look-up finds nothing");
  nginx.put("controller/v1/page", (await fetchBytes(`${ours.url}/hosts?limit=1000`)).bytes);
  const fewer = await startGazetteer({ devices: FEWER_HOSTS / 100, hosts: FEWER_HOSTS });
  try {
    const lookups = [distinctLookups(folder, hosts), distinctLookups(folder, FEWER_HOSTS)] as const;
    const samples = { many: [] as number[], few: [] as number[], page: [] as number[], file: [] as number[] };
    // In the first round the runtime still compiles.
    for (let round = 0; round <= rounds; round++) {
      const [many, few, page, file] = [
        await microsPerRequest(ours, `${ours.url}/hosts`, { seconds, distinct: lookups[0] }),
        await microsPerRequest(fewer, `${fewer.url}/hosts`, { seconds, distinct: lookups[1] }),
        await microsPerRequest(ours, `${ours.url}/hosts?limit=1000`, { seconds }),
        await microsPerRequest(nginx, `${nginx.url}/controller/v1/page`, { seconds }),
      ];
      if (round === 0) continue;
      samples.many.push(many);
      samples.few.push(few);
      samples.page.push(page);
      samples.file.push(file);
    }
    const few = median(samples.few);
    return [
      { name: "i/10,000", what: "hosts?ip= among 10,000, each time another", unit: "µs", ours: few, max: 18 },
      {
        name: "i",
        what: `the same among ${hosts.toLocaleString("en-US")}`,
        unit: "µs",
        ours: median(samples.many),
        against: { "among 10,000": few },
        isCost: true,
        max: few + MAX_MICROS_MORE,
      },
      {
        name: "k",
        what: "a page of 1,000 hosts",
        unit: "µs",
        ours: median(samples.page),
        against: { nginx: median(samples.file) },
        isCost: true,
        bar: 0.75,
      },
    ];
  } finally {
    await fewer.stop();
  }
}

async function whole(ours: Peer, nginx: Nginx, { rounds, hosts }: LargeOptions): Promise<Result[]> {
  const { bytes } = await fetchBytes(`${ours.url}/hosts`);
  const { bytes: gzip } = await fetchBytes(`${ours.url}/hosts`, "gzip");
  nginx.put("controller/v1/hosts", bytes, gzip);
  const results: Result[] = [];
  for (const [coding, bar] of [
    ["identity", 0.6],
    ["gzip", undefined],
  ] as const) {
    const mine: Download[] = [];
    const theirs: Download[] = [];
    for (let round = 0; round < rounds; round++) {
      mine.push(await download(ours, `${ours.url}/hosts`, coding));
      theirs.push(await download(nginx, `${nginx.url}/controller/v1/hosts`, coding));
    }
    const compared = (what: string, value: keyof Download): Result => ({
      name: `j/${coding}/${what}`,
      what: `all ${hosts.toLocaleString("en-US")} hosts, ${coding}: ${what}`,
      unit: "ms",
      ours: median(mine.map((each) => each[value])),
      against: { nginx: median(theirs.map((each) => each[value])) },
      isCost: true,
    });
    results.push({ ...compared("processor time", "cpuMs"), ...(bar !== undefined && { bar }) });
    results.push(compared("first byte", "firstByteMs"));
  }
  return results;
}

interface Download {
  readonly firstByteMs: number;
  readonly cpuMs: number;
}

async function download(server: Running, url: string, coding: string): Promise<Download> {
  const { user, password } = CREDENTIALS;
  const before = server.cpuSeconds();
  const out = await run([
    "curl", "-s", "-o", "/dev/null", "-u", `${user}:${password}`, "-H", `Accept-Encoding: ${coding}`,
    "-w", "%{time_starttransfer}", url,
  ]); // biome-ignore format: a command line
  return { firstByteMs: Number(out) * 1000, cpuMs: (server.cpuSeconds() - before) * 1000 };
}
