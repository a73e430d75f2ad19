/** The measured controllers, each a process: the links it has reported, when, and the CPU time it used. */
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
const CPU_TICKS_PER_SECOND = 100;

/** The links that a controller has reported. */
class LinkFeed {
  readonly current = new Set<string>();
  readonly seen = new Set<string>();
  #check: ((at: number) => void) | undefined;

  record(link: string, exists: boolean, at: number): void {
    if (exists) {
      this.current.add(link);
      this.seen.add(link);
    } else this.current.delete(link);
    this.#check?.(at);
  }

  reset(): void {
    this.current.clear();
    this.seen.clear();
  }

  /** Returns the time at which the condition became true, or undefined after the timeout. */
  async when(condition: () => boolean, deadlineMs: number): Promise<number | undefined> {
    const becameTrue = new Promise<number>((resolve) => {
      this.#check = (at) => {
        if (condition()) resolve(at);
      };
      this.#check(performance.timeOrigin + performance.now());
    });
    const at = await Promise.race([becameTrue, Bun.sleep(deadlineMs)]);
    this.#check = undefined;
    return at ?? undefined;
  }
}

function processStats(pid: number): Pick<ControllerProcess, "cpuSeconds" | "residentMiB"> {
  return {
    cpuSeconds() {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) / CPU_TICKS_PER_SECOND;
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
  throw new Error(`no listener on port ${port}`);
}

/** The complete service of a checkout. Links are read from its public event stream. */
export async function startGazetteer(checkout = root): Promise<ControllerProcess> {
  const port = await freePort();
  const web = await freePort();
  const config = join(process.env.TMPDIR ?? "/tmp", `gazetteer-bench-${port}.yaml`);
  await Bun.write(
    config,
    `sources:\n  - ${JSON.stringify({ type: "openflow", listen: `127.0.0.1:${port}`, forwarding: "bridge" })}\n`,
  );
  const child = Bun.spawn(
    [
      process.execPath,
      join(checkout, "src/main.ts"),
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
 * Both controllers report links as server-sent events over HTTP and differ in the name of a link. The socket is read
 * directly, because `fetch` would add the scheduling of a thread to every value. Both send complete records in each chunk,
 * so the lines of the chunked encoding never split a record; they are skipped.
 */
async function readEventStream<T>(
  port: number,
  path: string,
  feed: LinkFeed,
  name: (data: T) => string,
): Promise<{ end(): void }> {
  const responseReceived = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let text = "";
  let event = "";
  const handleLine = (line: string, at: number) => {
    if (line.startsWith("HTTP/1.1 ")) {
      if (line.startsWith("HTTP/1.1 200")) responseReceived.resolve();
      else responseReceived.reject(new Error(`no event stream: ${line}`));
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
        const completeLines = (text + decoder.decode(chunk, { stream: true })).split("\n");
        text = completeLines.pop() ?? "";
        for (const line of completeLines) handleLine(line, at);
      },
    },
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${btoa("bench:bench")}\r\n\r\n`,
  );
  await responseReceived.promise;
  return socket;
}

interface OskenPort {
  readonly dpid: string;
  readonly port_no: string;
}

/** `of:DPID/PORT`. os-ken has port numbers as hex text. */
const formatOskenPort = ({ dpid, port_no: port }: OskenPort): string =>
  `of:${dpid}/${Number.parseInt(port, 16)}`;

/** os-ken with its own link discovery. The application in this folder streams its links. */
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
  const name = ({ src, dst }: { src: OskenPort; dst: OskenPort }) =>
    `${formatOskenPort(src)}-${formatOskenPort(dst)}`;
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
