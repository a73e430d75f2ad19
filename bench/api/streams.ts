/**
 * Case l: 1,000 streams under 100 changes a second, once all reading and once half of them never reading. Latency is
 * from the commit of a change (the event's time) to its arrival at the client.
 *
 * The first seconds are not counted: the runtime compiles, and the client reads what has arrived while it opened the streams.
 * One process reads all streams, and its own delay is part of each latency; so it is measured too, by a timer.
 */
import type { Socket } from "bun";
import { type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { AUTHORIZATION } from "./wrk.ts";

const WARM_UP_MS = 5000;
const CLIENT_CHECK_MS = 5;

export interface StreamOptions {
  readonly streams: number;
  readonly seconds: number;
}

export async function measureStreams({ streams, seconds }: StreamOptions): Promise<Result[]> {
  return [
    ...(await measure("l", "all reading", streams, 0, seconds)),
    ...(await measure("l/stalled", "half never reading", streams / 2, streams / 2, seconds)),
  ];
}

async function measure(
  name: string,
  what: string,
  reading: number,
  stalled: number,
  seconds: number,
): Promise<Result[]> {
  const peer = await startGazetteer({ devices: 300, hosts: 10_000, churn: "devices", perSecond: 100 });
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < stalled; i++) sockets.push(await open(peer));
    const readers: Reader[] = [];
    for (let i = 0; i < reading; i++) {
      const reader = new Reader();
      readers.push(reader);
      sockets.push(await open(peer, reader));
    }
    await Bun.sleep(WARM_UP_MS);
    const before = peer.cpuSeconds();
    const rssBefore = peer.rssBytes();
    for (const reader of readers) reader.startMeasuring();
    const clientDelays = await delaysDuring(seconds * 1000);
    const cpu = (peer.cpuSeconds() - before) / seconds;
    const latencies = readers.flatMap((reader) => reader.latencies).sort((a, b) => a - b);
    clientDelays.sort((a, b) => a - b);
    const missed = readers.reduce((sum, reader) => sum + reader.missed, 0);
    const at = (share: number, sorted = latencies) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    const title = `${reading + stalled} streams, 100 changes/s, ${what}`;
    return [
      { name: `${name}/p50`, what: `${title}: latency`, unit: "ms", ours: at(0.5) },
      { name: `${name}/p99`, what: `${title}: latency`, unit: "ms", ours: at(0.99) },
      {
        name: `${name}/client-p99`,
        what: `${title}: delay of the client itself`,
        unit: "ms",
        ours: at(0.99, clientDelays),
      },
      { name: `${name}/cpu`, what: `${title}: processor`, unit: "cores", ours: cpu },
      {
        name: `${name}/events`,
        what: `${title}: delivered`,
        unit: "events/s",
        ours: latencies.length / seconds,
      },
      { name: `${name}/missed`, what: `${title}: gaps in revisions`, unit: "events", ours: missed, max: 0 },
      {
        name: `${name}/memory`,
        what: `${title}: growth`,
        unit: "MB",
        ours: (peer.rssBytes() - rssBefore) / 1e6,
      },
    ];
  } finally {
    for (const socket of sockets) socket.terminate();
    await peer.stop();
  }
}

/** How late a timer of this process was, each time. */
async function delaysDuring(ms: number): Promise<number[]> {
  const delays: number[] = [];
  const end = performance.now() + ms;
  for (let last = performance.now(); last < end; ) {
    await Bun.sleep(CLIENT_CHECK_MS);
    const now = performance.now();
    delays.push(now - last - CLIENT_CHECK_MS);
    last = now;
  }
  return delays;
}

/** Uses the sockets of the runtime, because one process reads all streams and those of Node cost more. */
async function open(peer: Peer, reader?: Reader): Promise<Socket> {
  const { hostname, port, pathname } = new URL(peer.url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data: (_, chunk) => reader?.parse(chunk) },
  });
  if (!reader) socket.pause();
  socket.write(
    `GET ${pathname}/devices?format=events HTTP/1.1\r\nHost: bench\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
  );
  return socket;
}

/** Reads one stream: the latency of each change, and gaps in the revisions (only devices change here). */
class Reader {
  readonly latencies: number[] = [];
  missed = 0;
  #last: number | undefined;
  #rest = "";
  #measuring = false;

  startMeasuring(): void {
    this.#measuring = true;
  }

  parse(chunk: Buffer): void {
    const now = Date.now();
    // The revision and the time are ASCII.
    const text = this.#rest + chunk.toString("latin1");
    const end = text.lastIndexOf("\n\n");
    this.#rest = text.slice(end + 2);
    for (const [, revision, time] of text.slice(0, end + 1).matchAll(/"revision":(\d+),"time":(\d+)/g)) {
      const number = Number(revision);
      if (this.#last !== undefined && number !== this.#last + 1) this.missed++;
      this.#last = number;
      if (this.#measuring) this.latencies.push(now - Number(time));
    }
  }
}
