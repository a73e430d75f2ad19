/** The two that are measured, each a process of its own: how many links it knows, since when, and what CPU it took. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export interface ControllerProcess {
  readonly name: string;
  readonly port: number;
  readonly feed: LinkFeed;
  cpuSeconds(): number;
  residentMiB(): number;
  stop(): Promise<void>;
}

const root = join(import.meta.dir, "..", "..");
const TICKS_A_SECOND = 100;

/** What a controller has told of its links, and when. */
class LinkFeed {
  readonly current = new Set<string>();
  readonly seen = new Set<string>();
  #check: ((at: number) => void) | undefined;

  record(link: string, there: boolean, at: number): void {
    if (there) {
      this.current.add(link);
      this.seen.add(link);
    } else this.current.delete(link);
    this.#check?.(at);
  }

  /** From here on as if nothing had been told. */
  reset(): void {
    this.current.clear();
    this.seen.clear();
  }

  /** The time at which a condition came true; undefined when it did not before the deadline. */
  async when(condition: () => boolean, deadlineMs: number): Promise<number | undefined> {
    const came = new Promise<number>((resolve) => {
      this.#check = (at) => {
        if (condition()) resolve(at);
      };
      this.#check(performance.timeOrigin + performance.now());
    });
    const at = await Promise.race([came, Bun.sleep(deadlineMs)]);
    this.#check = undefined;
    return at ?? undefined;
  }
}

function processStats(pid: number): Pick<ControllerProcess, "cpuSeconds" | "residentMiB"> {
  return {
    cpuSeconds() {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
    },
    residentMiB() {
      const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      return Number(kib ?? 0) / 1024;
    },
  };
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split("\n");
    text = parts.pop() ?? "";
    yield* parts;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function waitForListener(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const up = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).then(
      (socket) => {
        socket.end();
        return true;
      },
      () => false,
    );
    if (up) return;
    await Bun.sleep(50);
  }
  throw new Error(`nobody listens on ${port}`);
}

/** The whole service; links are counted on its public event stream. */
export async function startGazetteer(options: Record<string, unknown> = {}): Promise<ControllerProcess> {
  const port = await freePort();
  const web = await freePort();
  const config = join(process.env.TMPDIR ?? "/tmp", `gazetteer-bench-${port}.yaml`);
  await Bun.write(
    config,
    `sources:\n  - ${JSON.stringify({ type: "openflow", listen: `127.0.0.1:${port}`, ...options })}\n`,
  );
  const child = Bun.spawn(
    [
      process.execPath,
      join(root, "src/main.ts"),
      "serve",
      "--port",
      String(web),
      "--data",
      ":memory:",
      "--config",
      config,
    ],
    { env: { ...process.env, GAZETTEER_CREDENTIALS: "bench:bench" }, stdout: "ignore", stderr: "ignore" },
  );
  await waitForListener(port);
  await waitForListener(web);
  const feed = new LinkFeed();
  const stream = await readEventStream(
    web,
    "/controller/v1/links?format=events",
    feed,
    ({ value }: LinkEvent) => value.id,
  );
  return {
    name: "gazetteer",
    port,
    feed,
    ...processStats(child.pid),
    async stop() {
      stream.end();
      child.kill("SIGTERM");
      await child.exited;
      await Bun.file(config).delete();
    },
  };
}

interface LinkEvent {
  readonly value: { readonly id: string };
}

/**
 * Both tell of links by server-sent events over HTTP; they differ in how a link is named. Read from the socket itself,
 * where a record is seen when it arrives: `fetch` would add a thread and its scheduling to every figure. Both send whole
 * records in each chunk, so lines are never torn by the chunks' own lines, which are passed over.
 */
async function readEventStream<T>(
  port: number,
  path: string,
  feed: LinkFeed,
  name: (data: T) => string,
): Promise<{ end(): void }> {
  const answered = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let text = "";
  let event = "";
  const take = (line: string, at: number) => {
    if (line.startsWith("HTTP/1.1 ")) {
      if (line.startsWith("HTTP/1.1 200")) answered.resolve();
      else answered.reject(new Error(`no event stream: ${line}`));
    }
    if (line.startsWith("event: ")) event = line.slice("event: ".length);
    if (!line.startsWith("data: ") || (event !== "added" && event !== "removed")) return;
    feed.record(name(JSON.parse(line.slice("data: ".length))), event === "added", at);
  };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        const at = performance.timeOrigin + performance.now();
        const whole = (text + decoder.decode(chunk, { stream: true })).split("\n");
        text = whole.pop() ?? "";
        for (const line of whole) take(line, at);
      },
    },
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${btoa("bench:bench")}\r\n\r\n`,
  );
  await answered.promise;
  return socket;
}

interface OskenEnd {
  readonly dpid: string;
  readonly port_no: string;
}

/** `of:DPID/PORT`; theirs are hex texts. */
const oskenEnd = ({ dpid, port_no: port }: OskenEnd): string => `of:${dpid}/${Number.parseInt(port, 16)}`;

/** os-ken with its own link discovery, and a stream of its links by the application beside this file. */
export async function startOsken(): Promise<ControllerProcess> {
  const port = await freePort();
  const web = await freePort();
  const command = [
    "/usr/bin/python3",
    "/usr/bin/osken-manager",
    "--observe-links",
    "--ofp-tcp-listen-port",
    String(port),
  ];
  const child = Bun.spawn([...command, join(import.meta.dir, "osken_observer.py")], {
    env: { ...process.env, OBSERVER_PORT: String(web) },
    stdout: "ignore",
    stderr: "ignore",
  });
  await waitForListener(port);
  await waitForListener(web);
  const feed = new LinkFeed();
  const name = ({ src, dst }: { src: OskenEnd; dst: OskenEnd }) => `${oskenEnd(src)}-${oskenEnd(dst)}`;
  const stream = await readEventStream(web, "/", feed, name);
  return {
    name: "os-ken",
    port,
    feed,
    ...processStats(child.pid),
    async stop() {
      stream.end();
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

export { lines };
