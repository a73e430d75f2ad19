/**
 * `npm run bench -- cpu --before COMMIT`: processor time per request, per change and per event of a stream, this code beside
 * an earlier commit of it, in about two minutes. Three rounds, in which both run in turn, so that a change of the machine's
 * load meets both; values are medians. Processor time is what the service's process used, so that the load generator and
 * most other work do not count. Run it before a change of the way of a request or of a change is merged.
 */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { checkOut } from "../fairness/checkout.ts";
import { median } from "../lib/table.ts";
import { lookupScript } from "./large.ts";
import { fetchBytes, type Peer, ROOT, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { AUTHORIZATION, load } from "./wrk.ts";

/** A case whose ratio is above this in two runs has become slower. */
const MAX_RATIO = 1.05;
const SIZE = { devices: 300, hosts: 10_000 };
const CHANGES_PER_SECOND = 200;
const STREAMS = 50;
const CONNECTIONS = 16;
const LOAD_SECONDS = 1;
const CHANGES_MS = 2000;

export interface CpuOptions {
  readonly folder: string;
  readonly before: string;
  readonly rounds: number;
}

interface Case {
  readonly what: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly script?: string;
}

type Samples = Map<string, number[]>;

export async function measureCpu({ folder, before, rounds }: CpuOptions): Promise<Result[]> {
  using earlier = checkOut(before);
  const roots = { before: earlier.root, now: ROOT };
  const samples = { before: new Map(), now: new Map() } satisfies Record<keyof typeof roots, Samples>;
  const sides = ["before", "now"] as const;
  const services = {
    before: [await startGazetteer(SIZE, roots.before), await startChanging(roots.before)],
    now: [await startGazetteer(SIZE, roots.now), await startChanging(roots.now)],
  } as const;
  try {
    const cases = {
      before: await casesOf(services.before[0], folder),
      now: await casesOf(services.now[0], folder),
    };
    // The first round compiles the code and is left out.
    for (let round = 0; round <= rounds; round++) {
      for (const [i] of cases.now.entries())
        for (const side of sides) {
          const each = cases[side][i];
          if (!each) continue;
          const micros = await microsPerRequest(services[side][0], each);
          if (round > 0) add(samples[side], each.what, micros);
        }
      for (const side of sides) {
        const changing = services[side][1];
        changing.send("resume\n");
        const { change, event } = await microsPerChange(changing);
        changing.send("pause\n");
        if (round === 0) continue;
        add(samples[side], "one change", change);
        add(samples[side], `one event of ${STREAMS} streams`, event);
      }
    }
  } finally {
    for (const side of sides) for (const service of services[side]) await service.stop();
  }
  return [...samples.now].map(([what, values]) => {
    const theirs = median(samples.before.get(what) ?? []);
    const ours = median(values);
    return { name: "cpu", what, unit: "µs", ours, against: { [before]: theirs }, max: theirs * MAX_RATIO };
  });
}

const add = (samples: Samples, what: string, value: number): void => {
  samples.set(what, [...(samples.get(what) ?? []), value]);
};

async function startChanging(root: string): Promise<Peer> {
  const peer = await startGazetteer({ ...SIZE, churn: "devices", perSecond: CHANGES_PER_SECOND }, root);
  peer.send("pause\n");
  return peer;
}

async function casesOf({ url }: Peer, folder: string): Promise<readonly Case[]> {
  const lookups = join(folder, "lookups.lua");
  await Bun.write(lookups, lookupScript(SIZE.hosts));
  const { hosts }: { hosts: { id: string }[] } = JSON.parse(
    new TextDecoder().decode((await fetchBytes(`${url}/hosts?limit=${SIZE.hosts}&fields=id`)).bytes),
  );
  const items = join(folder, "items.lua");
  await Bun.write(items, itemScript(hosts.map(({ id }) => id)));
  const { etag } = await fetchBytes(`${url}/devices`);
  return [
    { what: "topology, 75 bytes", path: "topology" },
    { what: "300 devices, 148 kB", path: "devices" },
    { what: "the same, gzip", path: "devices", headers: { "Accept-Encoding": "gzip" } },
    { what: "304", path: "devices", headers: { "If-None-Match": etag } },
    { what: "10,000 hosts, 5 MB", path: "hosts" },
    { what: "page of 100", path: "hosts?limit=100" },
    { what: "hosts?ip=, another address each time", path: "hosts", script: lookups },
    { what: "one host by id, another each time", path: "hosts", script: items },
  ];
}

/** Requests another one of the ids each time, in an order in which neighbours do not follow each other. */
const itemScript = (ids: readonly string[]): string => `
local ids = {${ids.map((id) => `"${encodeURIComponent(id)}"`).join(",")}}
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/controller/v1/hosts/" .. ids[(n * 7919) % #ids + 1])
end
`;

async function microsPerRequest(service: Peer, { path, headers, script }: Case): Promise<number> {
  const before = service.cpuSeconds();
  const options = {
    seconds: LOAD_SECONDS,
    connections: CONNECTIONS,
    ...(headers && { headers }),
    ...(script && { script }),
  };
  const { requestsPerSecond } = await load(`${service.url}/${path}`, options);
  return ((service.cpuSeconds() - before) * 1e6) / (requestsPerSecond * LOAD_SECONDS);
}

/** Measures changes without a stream, then with streams; the difference is the cost of their events. */
async function microsPerChange(service: Peer): Promise<{ change: number; event: number }> {
  const change = await measureChanges(service);
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(service)));
  try {
    const withStreams = await measureChanges(service);
    return { change, event: (withStreams - change) / STREAMS };
  } finally {
    for (const stream of streams) stream.destroy();
  }
}

async function measureChanges(service: Peer): Promise<number> {
  const [revision, cpu] = [await revisionOf(service), service.cpuSeconds()];
  await Bun.sleep(CHANGES_MS);
  return ((service.cpuSeconds() - cpu) * 1e6) / ((await revisionOf(service)) - revision);
}

async function revisionOf({ url }: Peer): Promise<number> {
  const response = await fetch(`${url}/topology`, { headers: { Authorization: AUTHORIZATION } });
  await response.arrayBuffer();
  return Number(response.headers.get("gazetteer-revision"));
}

/** Resolves when the snapshot of the stream has begun. */
function openStream({ url }: Peer): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const target = `${pathname}/devices?format=events`;
      socket.write(`GET ${target} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`);
    });
    socket.on("error", reject);
    socket.on("data", () => resolve(socket));
  });
}
