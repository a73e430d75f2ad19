/**
 * The reader whose latency counts, in a process of its own. Requests are sent by the clock (open loop) over several
 * keep-alive connections, and a latency is measured from the time for which the request was scheduled: a stall of the
 * service is seen by every request that should have been sent meanwhile, not by one alone.
 *
 *   bun bench/fairness/reader-process.ts '{"url":…,"authorization":…}'
 *
 * Commands on standard input: `measure` forgets what was measured so far; `report` stops sending, waits for outstanding
 * answers and prints `report JSON`. A request without an answer by then is an error, and its age its latency.
 */
import type { Socket } from "bun";

interface ReaderOptions {
  readonly url: string;
  readonly authorization: string;
  readonly perSecond?: number;
  readonly connections?: number;
}

export interface ReaderReport {
  readonly requests: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The longest time by which this process itself was late to send, for example because the machine was busy. */
  readonly ownDelay: number;
}

const TICK_MS = 1;
const LAST_ANSWERS_MS = 20_000;
const HEAD_END = Buffer.from("\r\n\r\n");

const options: ReaderOptions = JSON.parse(process.argv[2] ?? "{}");
const { perSecond = 200, connections = 16 } = options;
const target = new URL(options.url);
const REQUEST = `GET ${target.pathname} HTTP/1.1\r\nHost: ${target.host}\r\nAuthorization: ${options.authorization}\r\n\r\n`;

let latencies: number[] = [];
let errors = 0;
/** The times for which requests without a connection are scheduled, oldest first. */
const waiting: number[] = [];
let measuredFrom = 0;

/** One connection, with at most one request at a time. */
class Connection {
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  /** When the request in flight was scheduled. */
  scheduledAt: number | undefined;

  async open(): Promise<void> {
    try {
      this.#socket = await Bun.connect({
        hostname: target.hostname,
        port: Number(target.port),
        socket: {
          data: (_, chunk) => this.#receive(chunk),
          close: () => this.#lose(),
          error: () => {},
        },
      });
      sendWaiting();
    } catch {
      setTimeout(() => void this.open(), 50);
    }
  }

  get free(): boolean {
    return this.#socket !== undefined && this.scheduledAt === undefined;
  }

  send(scheduledAt: number): void {
    this.scheduledAt = scheduledAt;
    this.#socket?.write(REQUEST);
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headBytes = this.#received.indexOf(HEAD_END) + HEAD_END.length;
    if (headBytes < HEAD_END.length) return;
    const head = this.#received.toString("latin1", 0, headBytes);
    const bodyBytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headBytes + bodyBytes) return;
    this.#received = Buffer.alloc(0);
    this.#finish(head.startsWith("HTTP/1.1 200 "));
    sendWaiting();
  }

  #lose(): void {
    this.#socket = undefined;
    this.#received = Buffer.alloc(0);
    // An idle connection that the service closes is no error.
    if (this.scheduledAt !== undefined) this.#finish(false);
    void this.open();
  }

  #finish(ok: boolean): void {
    if (this.scheduledAt !== undefined && this.scheduledAt >= measuredFrom) {
      latencies.push(performance.now() - this.scheduledAt);
      if (!ok) errors++;
    }
    this.scheduledAt = undefined;
  }
}

const pool = Array.from({ length: connections }, () => new Connection());

function sendWaiting(): void {
  for (const connection of pool) {
    if (waiting.length === 0) return;
    if (connection.free) connection.send(waiting.shift() ?? 0);
  }
}

await Promise.all(pool.map((connection) => connection.open()));
const beganMs = performance.now();
let scheduled = 0;
let lastTickMs = beganMs;
let ownDelay = 0;
const timer = setInterval(() => {
  const now = performance.now();
  ownDelay = Math.max(ownDelay, now - lastTickMs - TICK_MS);
  lastTickMs = now;
  for (; ; scheduled++) {
    const at = beganMs + (scheduled * 1000) / perSecond;
    if (at > now) break;
    waiting.push(at);
  }
  sendWaiting();
}, TICK_MS);
console.log("started");

async function report(): Promise<ReaderReport> {
  clearInterval(timer);
  const outstanding = () => [...waiting, ...pool.flatMap(({ scheduledAt }) => scheduledAt ?? [])];
  const end = performance.now() + LAST_ANSWERS_MS;
  while (outstanding().length > 0 && performance.now() < end) await Bun.sleep(10);
  const lost = outstanding().filter((at) => at >= measuredFrom);
  const all = [...latencies, ...lost.map((at) => performance.now() - at)].sort((a, b) => a - b);
  const at = (share: number) => all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0;
  return {
    requests: all.length,
    errors: errors + lost.length,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    ownDelay,
  };
}

for await (const line of console) {
  if (line === "measure") {
    latencies = [];
    errors = 0;
    ownDelay = 0;
    measuredFrom = performance.now();
  } else if (line === "report") {
    console.log(`report ${JSON.stringify(await report())}`);
    break;
  }
}
process.exit(0);
