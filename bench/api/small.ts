/**
 * Cases a to h: processor time of small and medium bodies, side by side with nginx serving the same bytes, and json-server;
 * two of them with TLS, too. Draws requests.svg. `bodies` are lists of 1 to 64 MB beside nginx: a size at which bodies are made in another way
 * must not cost much more than the one before.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificates } from "../../test/support/certificates.ts";
import { barChart, type ChartTarget } from "../lib/chart.ts";
import type { Running } from "../lib/process.ts";
import { median, shown } from "../lib/table.ts";
import { type Nginx, startNginx } from "./nginx.ts";
import { fetchBytes, type Peer, startGazetteer, startJsonServer } from "./peers.ts";
import type { Result } from "./result.ts";
import { microsPerRequest } from "./wrk.ts";

export interface SmallOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly chart: ChartTarget;
}

interface Case {
  readonly name: string;
  readonly what: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly conditional?: boolean;
  readonly bar: number;
  readonly withJsonServer?: boolean;
  readonly withTls?: boolean;
}

const GZIP = { "Accept-Encoding": "gzip" };
const CASES: readonly Case[] = [
  { name: "a", what: "topology", path: "topology", bar: 0.8, withJsonServer: true, withTls: true },
  { name: "b", what: "300 devices", path: "devices", bar: 0.8, withJsonServer: true, withTls: true },
  { name: "c", what: "300 devices, gzip", path: "devices", headers: GZIP, bar: 0.8 },
  { name: "d", what: "10,000 hosts", path: "hosts", bar: 0.95 },
  { name: "e", what: "10,000 hosts, gzip", path: "hosts", headers: GZIP, bar: 0.9 },
  { name: "f", what: "304 on devices", path: "devices", conditional: true, bar: 1, withJsonServer: true },
];

const SHAPE = { devices: 300, hosts: 10_000 };
const TLS_BAR = 0.8;
const WARM_UP_SECONDS = 1;

interface Server extends Running {
  readonly url: string;
}

export async function measureSmall({ folder, rounds, seconds, chart }: SmallOptions): Promise<Result[]> {
  const stack: Running[] = [];
  const started = <Each extends Running>(each: Each): Each => {
    stack.push(each);
    return each;
  };
  try {
    const ours = started(await startGazetteer(SHAPE));
    const nginx = started(await startNginx(join(folder, "nginx"), 18_901));
    createCertificates(folder, ["server"]);
    const tls = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
    const oursTls = started(await startGazetteer({ ...SHAPE, tls }));
    const nginxTls = started(await startNginx(join(folder, "nginx-tls"), 18_904, tls));
    const data = await copyBodies(ours, [nginx, nginxTls]);
    mkdirSync(join(folder, "json-server"), { recursive: true });
    const json = started(await startJsonServer(join(folder, "json-server"), 18_902, data));
    const churning = {
      b: started(await startGazetteer({ ...SHAPE, churn: "devices", perSecond: 100 })),
      d: started(await startGazetteer({ ...SHAPE, churn: "hosts", perSecond: 100 })),
    };
    for (const peer of Object.values(churning)) peer.send("pause\n");

    const samples = new Map<string, number[]>();
    const sample = async (key: string, server: Server, base: string, testCase: Case) => {
      const url = `${base}/${testCase.path}`;
      const tag = testCase.conditional ? { "If-None-Match": (await fetchBytes(url)).etag } : {};
      const headers = { ...testCase.headers, ...tag };
      const before = samples.get(key);
      const micros = await microsPerRequest(server, url, {
        seconds: before ? seconds : WARM_UP_SECONDS,
        headers,
      });
      samples.set(key, before ? [...before, micros] : []);
    };
    // The first round is not counted: the runtime still compiles.
    for (let round = 0; round <= rounds; round++) {
      for (const testCase of CASES) {
        const { name } = testCase;
        await sample(`${name} gazetteer`, ours, ours.url, testCase);
        await sample(`${name} nginx`, nginx, `${nginx.url}/controller/v1`, testCase);
        if (testCase.withTls) {
          await sample(`${name} gazetteer TLS`, oursTls, oursTls.url, testCase);
          await sample(`${name} nginx TLS`, nginxTls, `${nginxTls.url}/controller/v1`, testCase);
        }
        if (testCase.withJsonServer) await sample(`${name} json-server`, json, json.url, testCase);
        if (name !== "b" && name !== "d") continue;
        churning[name].send("resume\n");
        await sample(`${name} changing`, churning[name], churning[name].url, testCase);
        churning[name].send("pause\n");
      }
    }
    const of = (key: string) => median(samples.get(key) ?? []);
    const compared = (
      name: string,
      what: string,
      key: string,
      peer: string,
      peerKey: string,
      bar: number,
    ): Result => ({
      name,
      what,
      unit: "µs",
      ours: of(key),
      against: { [peer]: of(peerKey) },
      isCost: true,
      bar,
    });
    const results: Result[] = [
      ...CASES.map(({ name, what, bar }) =>
        compared(name, what, `${name} gazetteer`, "nginx", `${name} nginx`, bar),
      ),
      ...CASES.filter((each) => each.withTls).map(({ name, what }) =>
        compared(
          `${name}/tls`,
          `${what}, TLS`,
          `${name} gazetteer TLS`,
          "nginx",
          `${name} nginx TLS`,
          TLS_BAR,
        ),
      ),
      compared(
        "g",
        "300 devices, 100 changes/s to them",
        "b changing",
        "without changes",
        "b gazetteer",
        0.8,
      ),
      compared(
        "h",
        "10,000 hosts, 100 changes/s to them",
        "d changing",
        "without changes",
        "d gazetteer",
        0.8,
      ),
      ...CASES.filter((each) => each.withJsonServer).map(({ name, what }) =>
        compared(`${name}/json-server`, what, `${name} gazetteer`, "json-server", `${name} json-server`, 10),
      ),
      { name: "m/loaded", what: "memory after cases a to f", unit: "MB", ours: ours.rssBytes() / 1e6 },
      {
        name: "m/rest",
        what: "memory when idle, 300 devices",
        unit: "MB",
        ours: await idleMemoryMb(),
        max: 120,
      },
    ];
    writeFileSync(join(chart.folder, "requests.svg"), chartOf(results, chart.source));
    return results;
  } finally {
    for (const each of stack) await each.stop();
  }
}

const chartOf = (results: readonly Result[], source: string): string =>
  barChart(
    {
      title: "Processor time of a request beside nginx",
      subtitle: "Blue: this service. Grey: nginx with the same bytes in a file. Shorter is better.",
      source,
    },
    results.flatMap(({ what, ours, against }) => {
      const peer = against?.nginx;
      const words = `${shown(ours)} µs, nginx ${shown(peer ?? 0)} µs`;
      return peer === undefined ? [] : [{ name: what, ours, peer, words }];
    }),
  );

/** Has nginx serve the bodies of the service. Returns them as data for json-server. */
async function copyBodies(ours: Peer, servers: readonly Nginx[]): Promise<Record<string, unknown>> {
  const data: Record<string, unknown> = {};
  for (const path of ["topology", "devices", "hosts"]) {
    const { bytes } = await fetchBytes(`${ours.url}/${path}`);
    const { bytes: gzip } = await fetchBytes(`${ours.url}/${path}`, "gzip");
    for (const server of servers) server.put(join("controller/v1", path), bytes, gzip);
    const body = JSON.parse(new TextDecoder().decode(bytes));
    data[path] = Array.isArray(body[path]) ? body[path] : body;
  }
  return data;
}

const BODY_MEGABYTES = [1, 2, 5, 16, 64];
const HOSTS_PER_MEGABYTE = 2_400;
const BODY_BAR = 0.75;

export async function measureBodies({
  folder,
  rounds,
  seconds,
}: Omit<SmallOptions, "chart">): Promise<Result[]> {
  const nginx = await startNginx(join(folder, "nginx-bodies"), 18_901);
  const results: Result[] = [];
  try {
    for (const megabytes of BODY_MEGABYTES) {
      const ours = await startGazetteer({ devices: 300, hosts: megabytes * HOSTS_PER_MEGABYTE });
      try {
        const path = `controller/v1/hosts-${megabytes}`;
        nginx.put(path, (await fetchBytes(`${ours.url}/hosts`)).bytes);
        const [mine, theirs]: [number[], number[]] = [[], []];
        await microsPerRequest(ours, `${ours.url}/hosts`, { seconds: WARM_UP_SECONDS });
        for (let round = 0; round < rounds; round++) {
          mine.push(await microsPerRequest(ours, `${ours.url}/hosts`, { seconds }));
          theirs.push(await microsPerRequest(nginx, `${nginx.url}/${path}`, { seconds }));
        }
        results.push({
          name: `${megabytes} MB`,
          what: `hosts, ${megabytes} MB`,
          unit: "µs",
          ours: median(mine),
          against: { nginx: median(theirs) },
          isCost: true,
          bar: BODY_BAR,
        });
      } finally {
        await ours.stop();
      }
    }
    return results;
  } finally {
    await nginx.stop();
  }
}

async function idleMemoryMb(): Promise<number> {
  const peer = await startGazetteer({ devices: 300, hosts: 0 });
  await fetchBytes(`${peer.url}/devices`);
  const mb = peer.rssBytes() / 1e6;
  await peer.stop();
  return mb;
}
