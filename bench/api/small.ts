/**
 * Cases a to h: small and medium bodies, side by side with nginx serving the same bytes, and json-server. Then lists of 1 to
 * 64 MB beside nginx: a size at which bodies are made in another way must not cost much more than the one before.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { median } from "../lib/table.ts";
import { type Nginx, startNginx } from "./nginx.ts";
import { fetchBytes, type Peer, startGazetteer, startJsonServer } from "./peers.ts";
import type { Result } from "./result.ts";
import { load } from "./wrk.ts";

export interface SmallOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
}

interface Case {
  readonly name: string;
  readonly what: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly conditional?: boolean;
  readonly bar: number;
  readonly withJsonServer?: boolean;
}

const GZIP = { "Accept-Encoding": "gzip" };
const CASES: readonly Case[] = [
  { name: "a", what: "topology", path: "topology", bar: 0.8, withJsonServer: true },
  { name: "b", what: "300 devices", path: "devices", bar: 0.65, withJsonServer: true },
  { name: "c", what: "300 devices, gzip", path: "devices", headers: GZIP, bar: 0.8 },
  { name: "d", what: "10,000 hosts", path: "hosts", bar: 0.95 },
  { name: "e", what: "10,000 hosts, gzip", path: "hosts", headers: GZIP, bar: 0.9 },
  { name: "f", what: "304 on devices", path: "devices", conditional: true, bar: 1, withJsonServer: true },
];

export async function measureSmall({ folder, rounds, seconds }: SmallOptions): Promise<Result[]> {
  const shape = { devices: 300, hosts: 10_000 };
  const ours = await startGazetteer(shape);
  const nginx = await startNginx(join(folder, "nginx"), 18_901);
  const others: Peer[] = [];
  try {
    const data: Record<string, unknown> = {};
    for (const path of ["topology", "devices", "hosts"]) {
      const { bytes } = await fetchBytes(`${ours.url}/${path}`);
      const { bytes: gzip } = await fetchBytes(`${ours.url}/${path}`, "gzip");
      nginx.put(join("controller/v1", path), bytes, gzip);
      const body = JSON.parse(new TextDecoder().decode(bytes));
      data[path] = Array.isArray(body[path]) ? body[path] : body;
    }
    mkdirSync(join(folder, "json-server"), { recursive: true });
    const json = await startJsonServer(join(folder, "json-server"), 18_902, data);
    others.push(json);
    const churning = {
      g: await startGazetteer({ ...shape, churn: "devices", perSecond: 100 }),
      h: await startGazetteer({ ...shape, churn: "hosts", perSecond: 100 }),
    };
    others.push(churning.g, churning.h);
    const samples = new Map<string, number[]>();
    const sample = async (key: string, url: string, testCase: Case) => {
      const tag = testCase.conditional ? { "If-None-Match": (await fetchBytes(url)).etag } : {};
      const { requestsPerSecond } = await load(url, { seconds, headers: { ...testCase.headers, ...tag } });
      samples.set(key, [...(samples.get(key) ?? []), requestsPerSecond]);
    };
    for (const peer of Object.values(churning)) peer.send("pause\n");
    const sampleChurning = async (name: "g" | "h", path: string, testCase: Case) => {
      churning[name].send("resume\n");
      await sample(`${name} gazetteer`, `${churning[name].url}/${path}`, testCase);
      churning[name].send("pause\n");
    };
    for (let round = 0; round < rounds; round++) {
      for (const testCase of CASES) {
        await sample(`${testCase.name} gazetteer`, `${ours.url}/${testCase.path}`, testCase);
        await sample(`${testCase.name} nginx`, `${nginx.url}/controller/v1/${testCase.path}`, testCase);
        if (testCase.withJsonServer)
          await sample(`${testCase.name} json-server`, `${json.url}/${testCase.path}`, testCase);
        if (testCase.name === "b") await sampleChurning("g", "devices", testCase);
        if (testCase.name === "d") await sampleChurning("h", "hosts", testCase);
      }
    }
    const of = (key: string) => median(samples.get(key) ?? []);
    const results: Result[] = CASES.map((testCase) => ({
      name: testCase.name,
      what: testCase.what,
      unit: "requests/s",
      ours: of(`${testCase.name} gazetteer`),
      against: { nginx: of(`${testCase.name} nginx`) },
      bar: testCase.bar,
    }));
    for (const [name, base, what] of [
      ["g", "b", "300 devices, 100 changes/s to them"],
      ["h", "d", "10,000 hosts, 100 changes/s to them"],
    ] as const) {
      const against = { "without changes": of(`${base} gazetteer`) };
      results.push({ name, what, unit: "requests/s", ours: of(`${name} gazetteer`), against, bar: 0.8 });
    }
    for (const testCase of CASES.filter((some) => some.withJsonServer)) {
      const against = { "json-server": of(`${testCase.name} json-server`) };
      const ours = of(`${testCase.name} gazetteer`);
      results.push({
        name: `${testCase.name}/json-server`,
        what: testCase.what,
        unit: "requests/s",
        ours,
        against,
        bar: 10,
      });
    }
    const rss = ours.rssBytes() / 1e6;
    const idle = await idleMemoryMb();
    results.push({ name: "m/rest", what: "memory when idle, 300 devices", unit: "MB", ours: idle, max: 120 });
    results.push({ name: "m/loaded", what: "memory after cases a to f", unit: "MB", ours: rss });
    for (const megabytes of BODY_MEGABYTES)
      results.push(await measureBody(nginx, megabytes, { rounds, seconds }));
    return results;
  } finally {
    for (const peer of [ours, nginx, ...others]) await peer.stop();
  }
}

const BODY_MEGABYTES = [1, 2, 5, 16, 64];
const HOSTS_PER_MEGABYTE = 2_400;

async function measureBody(
  nginx: Nginx,
  megabytes: number,
  { rounds, seconds }: Pick<SmallOptions, "rounds" | "seconds">,
): Promise<Result> {
  const ours = await startGazetteer({ devices: 300, hosts: megabytes * HOSTS_PER_MEGABYTE });
  try {
    const path = `controller/v1/hosts-${megabytes}`;
    nginx.put(path, (await fetchBytes(`${ours.url}/hosts`)).bytes);
    const samples: { readonly gazetteer: number[]; readonly nginx: number[] } = { gazetteer: [], nginx: [] };
    for (let round = 0; round < rounds; round++) {
      samples.gazetteer.push((await load(`${ours.url}/hosts`, { seconds })).bytesPerSecond / 1e6);
      samples.nginx.push((await load(`${nginx.url}/${path}`, { seconds })).bytesPerSecond / 1e6);
    }
    return {
      name: `${megabytes} MB`,
      what: `hosts, ${megabytes} MB`,
      unit: "MB/s",
      ours: median(samples.gazetteer),
      against: { nginx: median(samples.nginx) },
    };
  } finally {
    await ours.stop();
  }
}

async function idleMemoryMb(): Promise<number> {
  const peer = await startGazetteer({ devices: 300, hosts: 0 });
  await fetchBytes(`${peer.url}/devices`);
  const mb = peer.rssBytes() / 1e6;
  await peer.stop();
  return mb;
}
