/** Cases a to h: small and middling bodies, side by side with nginx serving the very same bytes, and json-server. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { median } from "../lib/table.ts";
import { startNginx } from "./nginx.ts";
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
  const still: Peer[] = [];
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
    still.push(json);
    const churning = {
      g: await startGazetteer({ ...shape, churn: "devices", perSecond: 100 }),
      h: await startGazetteer({ ...shape, churn: "hosts", perSecond: 100 }),
    };
    still.push(churning.g, churning.h);
    const samples = new Map<string, number[]>();
    const sample = async (key: string, url: string, one: Case) => {
      const tag = one.conditional ? { "If-None-Match": (await fetchBytes(url)).etag } : {};
      const { requestsPerSecond } = await load(url, { seconds, headers: { ...one.headers, ...tag } });
      samples.set(key, [...(samples.get(key) ?? []), requestsPerSecond]);
    };
    for (const peer of Object.values(churning)) peer.say("pause\n");
    const sampleChurning = async (name: "g" | "h", path: string, one: Case) => {
      churning[name].say("resume\n");
      await sample(`${name} gazetteer`, `${churning[name].url}/${path}`, one);
      churning[name].say("pause\n");
    };
    for (let round = 0; round < rounds; round++) {
      for (const one of CASES) {
        await sample(`${one.name} gazetteer`, `${ours.url}/${one.path}`, one);
        await sample(`${one.name} nginx`, `${nginx.url}/controller/v1/${one.path}`, one);
        if (one.withJsonServer) await sample(`${one.name} json-server`, `${json.url}/${one.path}`, one);
        if (one.name === "b") await sampleChurning("g", "devices", one);
        if (one.name === "d") await sampleChurning("h", "hosts", one);
      }
    }
    const of = (key: string) => median(samples.get(key) ?? []);
    const results: Result[] = CASES.map((one) => ({
      name: one.name,
      what: one.what,
      unit: "requests/s",
      ours: of(`${one.name} gazetteer`),
      against: { nginx: of(`${one.name} nginx`) },
      bar: one.bar,
    }));
    for (const [name, base, what] of [
      ["g", "b", "300 devices, 100 changes/s to them"],
      ["h", "d", "10,000 hosts, 100 changes/s to them"],
    ] as const) {
      const against = { "the still case": of(`${base} gazetteer`) };
      results.push({ name, what, unit: "requests/s", ours: of(`${name} gazetteer`), against, bar: 0.8 });
    }
    for (const one of CASES.filter((some) => some.withJsonServer)) {
      const against = { "json-server": of(`${one.name} json-server`) };
      const ours = of(`${one.name} gazetteer`);
      results.push({
        name: `${one.name}/json-server`,
        what: one.what,
        unit: "requests/s",
        ours,
        against,
        bar: 10,
      });
    }
    const rss = ours.rssBytes() / 1e6;
    const idle = await restingMemory();
    results.push({ name: "m/rest", what: "memory at rest, 300 devices", unit: "MB", ours: idle, most: 120 });
    results.push({ name: "m/loaded", what: "memory after cases a to f", unit: "MB", ours: rss });
    return results;
  } finally {
    for (const peer of [ours, nginx, ...still]) await peer.stop();
  }
}

async function restingMemory(): Promise<number> {
  const peer = await startGazetteer({ devices: 300, hosts: 0 });
  await fetchBytes(`${peer.url}/devices`);
  const mb = peer.rssBytes() / 1e6;
  await peer.stop();
  return mb;
}
