/** NATS servers with JetStream on loopback, as child processes, outside the test runner. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { endWithRunner } from "../end-with-runner.ts";

const SEARCH_PATH = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin`;
const START_TIMEOUT_MS = 60_000;

/** Undefined when it is not installed. */
export const findNatsServer = (): string | undefined =>
  Bun.which(process.env.NATS_SERVER ?? "nats-server", { PATH: SEARCH_PATH }) ?? undefined;

export interface Servers {
  readonly urls: readonly string[];
  /** The `cluster.secretFile` of nodes on these servers; the one that the folder has already is kept. */
  readonly secretFile: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

export interface ServersOptions {
  readonly binary: string;
  readonly count: number;
  /** Configurations, data and output go there. */
  readonly folder: string;
}

/** Resolves when JetStream can be used: for several servers, when they have a leader. */
export async function startServers({ binary, count, folder }: ServersOptions): Promise<Servers> {
  const ports = await freePorts(3 * count);
  const portOf = (n: number, role: number): number => ports[role * count + n] ?? 0;
  const indices = Array.from({ length: count }, (_, n) => n);
  const routes = indices.map((n) => `nats://127.0.0.1:${portOf(n, 1)}`);
  const children = indices.map((n) => {
    const path = join(folder, `nats-${n + 1}`);
    mkdirSync(path, { recursive: true });
    const cluster = `cluster { name: gazetteer, listen: "127.0.0.1:${portOf(n, 1)}", routes: ${JSON.stringify(routes)} }`;
    const config = `server_name: n${n + 1}
listen: "127.0.0.1:${portOf(n, 0)}"
http: "127.0.0.1:${portOf(n, 2)}"
jetstream { store_dir: ${JSON.stringify(path)} }
${count > 1 ? cluster : ""}
`;
    writeFileSync(join(path, "nats.conf"), config);
    const output = Bun.file(join(path, "output.txt"));
    // Not of the terminal's process group: Ctrl-C stops the nodes first.
    const child = Bun.spawn([binary, "-c", join(path, "nats.conf")], {
      stdio: ["ignore", output, output],
      detached: true,
    });
    endWithRunner(child);
    return child;
  });
  const secretFile = join(folder, "cluster.secret");
  if (!existsSync(secretFile))
    writeFileSync(secretFile, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const stop = async () => {
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.exited));
  };
  try {
    await Promise.all(indices.map((n) => untilReady(`http://127.0.0.1:${portOf(n, 2)}/jsz`, count > 1)));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls: indices.map((n) => `nats://127.0.0.1:${portOf(n, 0)}`),
    secretFile,
    pids: children.map(({ pid }) => pid),
    stop,
  };
}

async function untilReady(url: string, needsLeader: boolean): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < end) {
    try {
      const state = await (await fetch(url)).text();
      if (!needsLeader || /"leader":\s*"[^"]+"/.test(state)) return;
    } catch {
      // It does not listen yet.
    }
    await Bun.sleep(100);
  }
  throw new Error("nats-server does not start; see output.txt in its folder");
}

/** Whether a program could listen there now. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const listeners = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = listeners.map((listener) => {
    const address = listener.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))));
  return ports;
}
