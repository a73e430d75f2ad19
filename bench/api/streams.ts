/**
 * Case l: 1,000 streams under 100 changes a second, once all reading and once half of them never reading. Latency is
 * from the commit of a change (the event's time) to its arrival at the client.
 */
import { connect, type Socket } from "node:net";
import { type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { AUTHORIZATION } from "./wrk.ts";

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
    for (let i = 0; i < stalled; i++) {
      const socket = await open(peer);
      socket.pause();
      sockets.push(socket);
    }
    const readers: Reader[] = [];
    for (let i = 0; i < reading; i++) {
      const socket = await open(peer);
      sockets.push(socket);
      readers.push(new Reader(socket));
    }
    const before = peer.cpuSeconds();
    const rssBefore = peer.rssBytes();
    for (const reader of readers) reader.startMeasuring();
    await Bun.sleep(seconds * 1000);
    const cpu = (peer.cpuSeconds() - before) / seconds;
    const latencies = readers.flatMap((reader) => reader.latencies).sort((a, b) => a - b);
    const missed = readers.reduce((sum, reader) => sum + reader.missed, 0);
    const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    const title = `${reading + stalled} streams, 100 changes/s, ${what}`;
    return [
      { name: `${name}/p50`, what: `${title}: latency`, unit: "ms", ours: at(0.5) },
      { name: `${name}/p99`, what: `${title}: latency`, unit: "ms", ours: at(0.99) },
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
    for (const socket of sockets) socket.destroy();
    await peer.stop();
  }
}

function open(peer: Peer): Promise<Socket> {
  const { hostname, port, pathname } = new URL(peer.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const since = `${pathname}/devices?format=events&since=0`.replace("&since=0", "");
      socket.write(`GET ${since} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`);
      resolve(socket);
    });
    socket.on("error", reject);
  });
}

/** Reads one stream: the latency of each change, and gaps in the revisions (only devices change here). */
class Reader {
  readonly latencies: number[] = [];
  missed = 0;
  #last: number | undefined;
  #rest = "";
  #measuring = false;

  constructor(socket: Socket) {
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => this.#parse(chunk));
  }

  startMeasuring(): void {
    this.#measuring = true;
  }

  #parse(chunk: string): void {
    const now = Date.now();
    const text = this.#rest + chunk;
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
