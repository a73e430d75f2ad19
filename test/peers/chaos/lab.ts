/** The cluster under test: three engine servers, three nodes, and a proxy on each way between any two of them. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { freePorts, type NatsServers, startNatsServers } from "../../support/nats-servers.ts";
import { type Service, startService } from "../../support/service.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import type { Observed } from "./observed.ts";
import { NODES, SERVERS } from "./plan.ts";
import { switchSource } from "./switches.ts";

export const CLUSTER = "chaos";
/** A node without data waits for the engine before it listens. */
const START_DEADLINE_MS = 240_000;
const LOG_TAIL_LINES = 60;

export class ChaosNode {
  readonly name: string;
  readonly port: number;
  readonly openflowPort: number;
  readonly proxies: readonly TcpProxy[];
  readonly #secretFile: string;
  readonly folder = temporaryFolder();
  /** Its process runs and has been ready. */
  isUp = false;
  readonly #observed: Observed;
  readonly #earlierOutput: string[] = [];
  #service: Service | undefined;
  #generation = 0;

  constructor(
    name: string,
    ports: { readonly http: number; readonly openflow: number },
    engine: { readonly proxies: readonly TcpProxy[]; readonly secretFile: string },
    observed: Observed,
  ) {
    this.name = name;
    this.port = ports.http;
    this.openflowPort = ports.openflow;
    this.proxies = engine.proxies;
    this.#secretFile = engine.secretFile;
    this.#observed = observed;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Another one after each time that its process was ended or paused. */
  get generation(): string {
    return `${this.name}.${this.#generation}`;
  }

  get service(): Service {
    if (!this.#service) throw new Error(`${this.name} does not run`);
    return this.#service;
  }

  get output(): string {
    const text = [...this.#earlierOutput, this.#service?.stderr() ?? ""].join("\n---- started again\n");
    return text.split("\n").slice(-LOG_TAIL_LINES).join("\n");
  }

  configure(sources: readonly object[]): void {
    mkdirSync(this.#data, { recursive: true });
    const servers = this.proxies.map(({ port }) => `nats://127.0.0.1:${port}`);
    const secretFile = this.#secretFile;
    const cluster = { servers, secretFile, name: CLUSTER, replicas: SERVERS, node: this.name };
    const all = [...sources, switchSource(this.openflowPort)];
    writeFileSync(this.#config, JSON.stringify({ data: this.#data, cluster, sources: all }));
  }

  get #config(): string {
    return join(this.folder, "gazetteer.yaml");
  }

  get #data(): string {
    return join(this.folder, "data");
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.service.fetch(path, init);
  }

  async start(): Promise<void> {
    const args = ["--config", this.#config];
    const service = await startService({ port: this.port, args, startTimeoutMs: START_DEADLINE_MS });
    this.#service = service;
    void service.exited.then((status) => {
      if (this.#service !== service) return;
      this.isUp = false;
      this.#observed.fault(`${this.name} ended by itself with status ${status}`);
    });
    await until(async () => (await this.fetch("/readyz")).status === 200, {
      what: `${this.name} is ready`,
      deadlineMs: START_DEADLINE_MS,
      everyMs: 200,
    });
    this.isUp = true;
  }

  /** SIGKILL, or SIGTERM. */
  async end(how: "kill" | "stop"): Promise<void> {
    const service = this.#leave();
    this.#service = undefined;
    if (how === "kill") await service.kill();
    else await service.stop();
    this.#earlierOutput.push(service.stderr());
  }

  deleteData(): void {
    rmSync(this.#data, { recursive: true });
    mkdirSync(this.#data);
  }

  pause(): void {
    process.kill(this.#leave().pid, "SIGSTOP");
  }

  resume(): void {
    process.kill(this.service.pid, "SIGCONT");
    this.isUp = true;
  }

  #leave(): Service {
    this.isUp = false;
    this.#generation++;
    return this.service;
  }
}

export interface Lab extends AsyncDisposable {
  readonly nats: NatsServers;
  readonly nodes: readonly ChaosNode[];
}

/** Nothing of the nodes runs yet. */
export async function buildLab(observed: Observed, program: string): Promise<Lab> {
  const nats = await startNatsServers({
    program,
    servers: SERVERS,
    // Clients learn no other addresses than those of the proxies.
    areAdvertised: false,
    areRoutesProxied: true,
  });
  const ports = await freePorts(2 * NODES);
  const nodes = await Promise.all(
    Array.from({ length: NODES }, async (_, n) => {
      const [http = 0, openflow = 0] = ports.slice(2 * n);
      const proxies = await Promise.all(nats.servers.map((server) => startTcpProxy(server.port)));
      return new ChaosNode(
        `node${n + 1}`,
        { http, openflow },
        { proxies, secretFile: nats.secretFile },
        observed,
      );
    }),
  );
  return {
    nats,
    nodes,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.end("kill").catch(() => {})));
      await Promise.all(nodes.flatMap(({ proxies }) => proxies.map((proxy) => proxy[Symbol.asyncDispose]())));
      await nats[Symbol.asyncDispose]();
    },
  };
}
