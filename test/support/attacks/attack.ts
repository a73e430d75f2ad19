/**
 * What an attack is: a client, switch or file that tries to spoil the service for others. `start` resolves once the
 * attack is under way; the returned function ends it, releases everything and may return a remark for the report. The
 * attacks run against any service that `Target` describes, so that the measurements (`bench/fairness`), the soak test
 * and the tests in `test/hostile` share them.
 */
import { connect, type Socket } from "node:net";

export interface Target {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  readonly pid: number;
  /** The `Authorization` of the attacking user. */
  readonly authorization: string;
  /** `Authorization` values of users that have not logged in yet. */
  readonly newcomers: readonly string[];
  readonly openflowPort: number;
  /** The configuration file. The service reads it again on SIGHUP. */
  readonly configFile: string;
  /** The files of two sources of type `file`. */
  readonly files: readonly [string, string];
  /** Ids of devices of the network, at least 100. */
  readonly devices: readonly string[];
}

export type Stop = () => Promise<string | undefined>;

export interface Attack {
  readonly name: string;
  readonly what: string;
  start(target: Target): Promise<Stop>;
}

/** Runs `step` again and again, in `parallel` loops, until stopped. A step that fails is tried again after a pause. */
export function repeat(step: (signal: AbortSignal, loop: number) => Promise<void>, parallel = 1): Stop {
  const controller = new AbortController();
  const { signal } = controller;
  const loops = Array.from({ length: parallel }, async (_, loop) => {
    while (!signal.aborted) {
      try {
        await step(signal, loop);
      } catch {
        // Refused or closed by the service, which is what some attacks provoke.
        await sleep(50, signal);
      }
    }
  });
  return async () => {
    controller.abort();
    await Promise.all(loops);
    return undefined;
  };
}

/** Resolves after `ms` or when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}

export interface OpenOptions {
  /** The address to connect from, such as 127.1.2.3. */
  readonly from?: string;
}

/** A connected socket. Errors after that only close it. */
export function openSocket({ url }: Pick<Target, "url">, { from }: OpenOptions = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      ...(from === undefined ? {} : { localAddress: from }),
    });
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Writes the bytes as fast as the peer takes them, until the socket closes or the signal aborts. */
export async function flood(socket: Socket, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  while (!signal.aborted && !socket.destroyed) {
    if (socket.write(bytes)) await Bun.sleep(0);
    else await Promise.race([new Promise<void>((resolve) => socket.once("drain", resolve)), closed, aborted]);
  }
  socket.destroy();
}

export function requestText(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`;
}
