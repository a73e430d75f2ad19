/** Plain NATS servers for the reproductions of `losses.ts`: nothing of Gazetteer's own. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";

const BINARY =
  Bun.which(process.env.NATS_SERVER ?? "nats-server", { PATH: `${process.env.PATH ?? ""}:/usr/sbin` }) ??
  "nats-server";
const TRIES = 120;
const TRY_EVERY_MS = 250;

export const version = (): string => Bun.spawnSync([BINARY, "--version"]).stdout.toString().trim();

export interface Client extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: JetStreamManager;
}

export class Server {
  readonly port: number;
  readonly #config: string;
  #child: Bun.Subprocess | undefined;

  constructor(port: number, config: string) {
    this.port = port;
    this.#config = config;
  }

  start(): void {
    this.#child = Bun.spawn([BINARY, "-c", this.#config], { stdio: ["ignore", "ignore", "ignore"] });
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Of this server, or of any at these ports. */
  async client(ports: readonly number[] = [this.port]): Promise<Client> {
    const servers = ports.map((port) => `127.0.0.1:${port}`);
    const options = { servers, timeout: 2_000, maxReconnectAttempts: -1, reconnectTimeWait: 250 };
    const connection = await retry(() => connect({ ...options, pingInterval: 3_000, maxPingOut: 2 }));
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
    const js = jetstream(connection, { timeout: 2_000 });
    return { connection, js, manager, [Symbol.asyncDispose]: () => connection.close() };
  }
}

export interface Servers extends AsyncDisposable {
  readonly all: readonly Server[];
  readonly folder: string;
}

export interface ServersOptions {
  /** The folder of each server's data. */
  readonly storeOf?: (n: number) => string;
  /** More of that section. */
  readonly jetstream?: string;
  /** The port at which one server reaches the other, which listens at `port`. */
  readonly routeVia?: (from: number, to: number, port: number) => Promise<number>;
}

export async function startServers(count: number, options: ServersOptions = {}): Promise<Servers> {
  const folder = mkdtempSync("/tmp/nats-losses-");
  const ports = await freePorts(2 * count);
  const { routeVia } = options;
  const routesOf = async (from: number): Promise<string[]> => {
    const others = ports.slice(count).map((port, to) => ({ port, to }));
    const used = routeVia ? others.filter(({ to }) => to !== from) : others;
    const reached = await Promise.all(used.map(({ port, to }) => routeVia?.(from, to, port) ?? port));
    return reached.map((port) => `nats://127.0.0.1:${port}`);
  };
  const routes = await Promise.all(Array.from({ length: count }, (_, n) => routesOf(n)));
  // Of an address that others cannot use, they learn no other way.
  const advertise = routeVia ? ', advertise: "127.0.0.1:1", no_advertise: true' : "";
  const all = Array.from({ length: count }, (_, n) => {
    const store = options.storeOf?.(n) ?? join(folder, `data${n}`);
    mkdirSync(store, { recursive: true });
    const cluster = `cluster { name: c, listen: "127.0.0.1:${ports[count + n]}", routes: ${JSON.stringify(routes[n])}${advertise} }`;
    const config = join(folder, `${n}.conf`);
    writeFileSync(
      config,
      `server_name: n${n}\nlisten: "127.0.0.1:${ports[n]}"\nlog_file: "${config}.log"\njetstream { store_dir: "${store}" ${options.jetstream ?? ""} }\n${count > 1 ? cluster : ""}\n`,
    );
    return new Server(ports[n] ?? 0, config);
  });
  for (const server of all) server.start();
  return {
    all,
    folder,
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((server) => server.kill()));
    },
  };
}

/** Until it resolves: servers that start, or elect a leader, refuse for a while. */
export async function retry<Result>(task: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (tries >= TRIES) throw error;
      await Bun.sleep(TRY_EVERY_MS);
    }
  }
}

async function freePorts(count: number): Promise<number[]> {
  const listeners = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(listeners.map((each) => new Promise((resolve) => each.once("listening", resolve))));
  const ports = listeners.map((each) => {
    const address = each.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(listeners.map((each) => new Promise((resolve) => each.close(resolve))));
  return ports;
}
