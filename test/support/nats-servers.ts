/**
 * Real NATS servers with JetStream on loopback, as child processes: one, or several that form a cluster. Their ports stay
 * the same when they are killed and started again, so that clients find them. Killed when the test file ends.
 *
 * NATS_SERVER names another binary than the one on the PATH.
 */
import { afterAll } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { endWithRunner } from "../../scripts/end-with-runner.ts";
import { temporaryFolder } from "./folder.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import { until } from "./until.ts";

/** The secret of every cluster that a test makes, unless it has one of its own. */
export const CLUSTER_SECRET = "the secret of the tests";
export const NATS_SERVER = process.env.NATS_SERVER ?? "nats-server";
const SEARCH_PATH = `${process.env.PATH ?? ""}:/usr/sbin`;

/** Of the program, as `2.9.10`. */
export function natsServerVersion(): string {
  const { stdout } = Bun.spawnSync([programOf(NATS_SERVER), "--version"]);
  return /v(\d+\.\d+\.\d+)/.exec(stdout.toString())?.[1] ?? "";
}

const programOf = (name: string): string => Bun.which(name, { PATH: SEARCH_PATH }) ?? name;

const running = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
});

/** What a server has of its own. */
export interface NatsServerFacts {
  readonly name: string;
  readonly port: number;
  readonly routePort: number;
  /** Of all servers. */
  readonly routePorts: readonly number[];
  readonly store: string;
}

export interface NatsServersOptions {
  readonly servers?: number;
  /** Lines of every server's configuration, such as users or limits. */
  readonly config?: string;
  /** The configuration of a server, but for its monitoring port and `config`; without it, one for tests. */
  readonly fileOf?: (server: NatsServerFacts) => string;
  /** What a client puts before the host in the address: `user:password@`. */
  readonly userinfo?: string;
  /** Whether clients learn the addresses of the other servers. */
  readonly areAdvertised?: boolean;
  /** Whether the servers reach each other through proxies only: `NatsServer.routes`. */
  readonly areRoutesProxied?: boolean;
  /** Another program than NATS_SERVER. */
  readonly program?: string | undefined;
}

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  /** All proxies between this server and others. */
  readonly routes: readonly TcpProxy[];
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Replaces the lines of `config`, while it runs. */
  reload(config: string): void;
  /** What it printed. */
  output(): Promise<string>;
}

export interface NatsServers extends AsyncDisposable {
  readonly servers: readonly NatsServer[];
  /** Addresses of all servers, as `--cluster` takes them. */
  readonly urls: string;
  /** The `cluster.secretFile` of nodes on these servers: it has `CLUSTER_SECRET`. */
  readonly secretFile: string;
}

/** Resolves when JetStream is ready: for a cluster, when it has a leader that reaches all servers. */
export async function startNatsServers(options: NatsServersOptions = {}): Promise<NatsServers> {
  const { servers: count = 1, config = "", userinfo = "", areAdvertised = true } = options;
  const { areRoutesProxied = false, program = NATS_SERVER, fileOf } = options;
  const folder = temporaryFolder();
  const secretFile = join(folder, "cluster.secret");
  writeFileSync(secretFile, `${CLUSTER_SECRET}\n`, { mode: 0o600 });
  const ports = await freePorts(3 * count);
  const routePorts = ports.slice(count, 2 * count);
  const proxies = areRoutesProxied ? await proxiesBetween(routePorts) : [];
  const servers = Array.from({ length: count }, (_, n) => {
    const [port = 0, routePort = 0, monitorPort = 0] = [ports[n], ports[count + n], ports[2 * count + n]];
    const store = join(folder, `n${n + 1}`);
    const file = join(folder, `n${n + 1}.conf`);
    const output = join(folder, `n${n + 1}.txt`);
    mkdirSync(store, { recursive: true });
    const others = areRoutesProxied
      ? proxies.filter(({ from }) => from === n).map(({ proxy }) => proxy.port)
      : routePorts;
    const routes = others.map((port) => `nats://127.0.0.1:${port}`);
    // Of an address that others cannot use, they learn no way beside the proxies.
    const advertise = areRoutesProxied ? 'advertise: "127.0.0.1:1", ' : "";
    const cluster =
      count > 1
        ? `cluster { name: test, listen: "127.0.0.1:${routePort}", ${advertise}routes: ${JSON.stringify(routes)}, no_advertise: ${!areAdvertised} }`
        : "";
    const name = `n${n + 1}`;
    const fixed =
      fileOf?.({ name, port, routePort, routePorts, store }) ??
      `server_name: ${name}\nlisten: "127.0.0.1:${port}"\n` +
        `jetstream { store_dir: ${JSON.stringify(store)}, max_mem: 64M, max_file: 4G }\n${cluster}`;
    const http = `http: "127.0.0.1:${monitorPort}"`;
    const configure = (lines: string) => writeFileSync(file, `${fixed}\n${http}\n${lines}\n`);
    configure(config);
    const own = proxies.filter(({ from, to }) => from === n || to === n).map(({ proxy }) => proxy);
    return new NatsProcess(
      { program, file, output, configure },
      { port, monitorPort, routes: own },
      userinfo,
    );
  });
  await Promise.all(servers.map((server) => server.start()));
  if (count > 1)
    await until(() => isWhole(servers), { what: "a leader of JetStream that reaches all servers" });
  return {
    servers,
    urls: servers.map(({ url }) => url).join(","),
    secretFile,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.kill()));
      await Promise.all(proxies.map(({ proxy }) => proxy[Symbol.asyncDispose]()));
    },
  };
}

interface RouteProxy {
  readonly from: number;
  readonly to: number;
  readonly proxy: TcpProxy;
}

async function proxiesBetween(ports: readonly number[]): Promise<RouteProxy[]> {
  const pairs = ports.flatMap((_, from) => ports.map((port, to) => ({ from, to, port })));
  return Promise.all(
    pairs
      .filter(({ from, to }) => from !== to)
      .map(async ({ from, to, port }) => ({ from, to, proxy: await startTcpProxy(port) })),
  );
}

interface NatsFiles {
  readonly program: string;
  readonly file: string;
  readonly output: string;
  configure(lines: string): void;
}

class NatsProcess implements NatsServer {
  readonly url: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly routes: readonly TcpProxy[];
  readonly #program: string;
  readonly #file: string;
  readonly #output: string;
  readonly #configure: (lines: string) => void;
  #child: Bun.Subprocess | undefined;

  constructor(
    { program, file, output, configure }: NatsFiles,
    { port, monitorPort, routes }: Pick<NatsProcess, "port" | "monitorPort" | "routes">,
    userinfo: string,
  ) {
    this.url = `nats://${userinfo}127.0.0.1:${port}`;
    this.port = port;
    this.monitorPort = monitorPort;
    this.routes = routes;
    this.#program = program;
    this.#file = file;
    this.#output = output;
    this.#configure = configure;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const log = Bun.file(this.#output);
    const child = Bun.spawn([programOf(this.#program), "-c", this.#file], { stdio: ["ignore", log, log] });
    endWithRunner(child);
    running.add(child);
    this.#child = child;
    await until(() => accepts(this.port), { what: `the NATS server on port ${this.port}` });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.kill("SIGKILL");
    await child.exited;
    running.delete(child);
    this.#child = undefined;
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  reload(config: string): void {
    this.#configure(config);
    this.#child?.kill("SIGHUP");
  }

  output(): Promise<string> {
    return Bun.file(this.#output).text();
  }
}

interface MetaCluster {
  readonly leader?: string;
  /** The other servers, on the leader only. */
  readonly replicas?: readonly { readonly current?: boolean; readonly offline?: boolean }[];
}

/**
 * Whether all servers follow the same leader, and it reaches all others. Just after an election a former leader may still
 * report that it does, while the new one refuses to place a stream.
 */
async function isWhole(servers: readonly NatsProcess[]): Promise<boolean> {
  const leaders = new Set<string>();
  let reached = 0;
  for (const { monitorPort } of servers) {
    const response = await fetch(`http://127.0.0.1:${monitorPort}/jsz`);
    const { meta_cluster: meta } = (await response.json()) as { meta_cluster?: MetaCluster };
    if (!meta?.leader) return false;
    leaders.add(meta.leader);
    const others = meta.replicas?.filter(({ current, offline }) => current && !offline) ?? [];
    reached = Math.max(reached, others.length);
  }
  return leaders.size === 1 && reached === servers.length - 1;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** Below the ports that the system gives to connections: one of a server that is down is not taken meanwhile. */
const [FIRST_PORT, LAST_PORT] = [15_000, 32_000];

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  while (servers.length < count) {
    const server = await listenOn(FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT)));
    if (server) servers.push(server);
  }
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
