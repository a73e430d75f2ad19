/**
 * `--readers 2` beside one process: the processor time of a request in all processes together, and the time from a change to
 * its event at a client of any of them. The whole service runs as a user starts it.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { cpuOf, type Running, SERVER_CORE, start } from "../lib/process.ts";
import { median } from "../lib/table.ts";
import { openEventStream, reportLatencies } from "./event-stream.ts";
import { fetchBytes, type Peer, ROOT, revisionOf } from "./peers.ts";
import type { Result } from "./result.ts";
import { CREDENTIALS, microsPerRequest } from "./wrk.ts";

const DEVICES = 300;
const HOSTS = 10_000;
/** Each change is a revision of its own, because the demo makes one batch every 50 ms. */
const CHANGES_PER_SECOND = 20;
/** Enough connections for each process to have some: the kernel chooses the process. */
const STREAMS = 16;
const WARM_UP_SECONDS = 2;
/**
 * At first the demo reboots devices, each of which is one change of a hundred entities, until as many are down as it allows. They
 * return after 40 seconds at the earliest. Meanwhile a change is one of a host or a cable.
 */
const CHANGE_WARM_UP_SECONDS = 15;
const BAR = 0.95;

export interface ReadersOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
}

export async function measureReaders({ folder, rounds, seconds }: ReadersOptions): Promise<Result[]> {
  const paths = { topology: "topology, 75 bytes", devices: "300 devices" } as const;
  const one = await startService(1, 0, folder);
  const two = await startService(2, 0, folder);
  const results: Result[] = [];
  try {
    for (const [path, what] of Object.entries(paths)) {
      const samples: Record<"one" | "two", number[]> = { one: [], two: [] };
      for (let round = 0; round <= rounds; round++)
        for (const [name, service] of Object.entries({ one, two } as const)) {
          const options = { seconds: round === 0 ? WARM_UP_SECONDS : seconds };
          const micros = await microsPerRequest(service, `${service.url}/${path}`, options);
          if (round > 0) samples[name === "one" ? "one" : "two"].push(micros);
        }
      results.push({
        name: `readers/${path}`,
        what: `${what}, --readers 2`,
        unit: "µs",
        ours: median(samples.two),
        against: { "one process": median(samples.one) },
        isCost: true,
        bar: BAR,
      });
    }
  } finally {
    await one.stop();
    await two.stop();
  }
  const what = "from a change to a client of the slowest process: p99";
  results.push({ name: "readers/change", what, unit: "ms", ours: await changeToReaderMs(folder), max: 10 });
  return results;
}

async function startService(readers: number, churn: number, folder: string): Promise<Peer> {
  const demo = `devices=${DEVICES},hosts=${HOSTS},churn=${churn},seed=1`;
  const data = join(folder, `readers-${readers}-${churn}`);
  const flags = ["--port", "0", "--data", data, "--readers", String(readers), "--demo", demo];
  const { user, password } = CREDENTIALS;
  const service = start([join(ROOT, "bin/gazetteer"), "serve", ...flags], SERVER_CORE, {
    GAZETTEER_CREDENTIALS: `${user}:${password}`,
  });
  const [, url = ""] = await service.line(/^listening on (\S+)$/);
  const peer = { ...service, url, cpuSeconds: () => cpuOfAll(service) };
  while (!(await isLoaded(peer))) await Bun.sleep(200);
  return peer;
}

const isLoaded = async ({ url }: Peer): Promise<boolean> =>
  fetchBytes(`${url}/topology`).then(
    ({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)).hosts >= HOSTS * 0.99,
    () => false,
  );

/** The processor time of the service and its readers. */
function cpuOfAll({ pid }: Running): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  return [pid, ...children.map(Number)].reduce((sum, each) => sum + cpuOf(each), 0);
}

/**
 * The p99 of the slowest of some streams, which are spread over the processes. They have all changes, because devices change
 * too rarely for a p99 (the demo only reboots them), and no snapshot, which the clients would still read when the measurement
 * begins.
 */
async function changeToReaderMs(folder: string): Promise<number> {
  const service = await startService(2, CHANGES_PER_SECOND, folder);
  const latencies: number[][] = [];
  const sockets: Socket[] = [];
  try {
    const target = `topology?format=events&since=${await revisionOf(service)}`;
    for (let i = 0; i < STREAMS; i++) {
      const own: number[] = [];
      latencies.push(own);
      const socket = await openEventStream(service, target);
      sockets.push(socket);
      reportLatencies(socket, (ms) => own.push(ms));
    }
    await Bun.sleep(CHANGE_WARM_UP_SECONDS * 1000);
    for (const own of latencies) own.length = 0;
    await Bun.sleep(10_000);
    return Math.max(
      ...latencies.map((own) => own.sort((a, b) => a - b)[Math.floor(own.length * 0.99)] ?? Number.NaN),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
    await service.stop();
  }
}
