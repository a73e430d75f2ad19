/** Nodes of a cluster as real processes, each with a folder, a configuration and network files of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Kvm } from "@nats-io/kv";
import { connectNats, type NatsClient } from "../../src/cluster/nats/nats-client.ts";
import { clusterNames } from "../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { beginLog } from "../../src/log/jetstream/make-stream.ts";
import type { SourceStatus } from "../../src/model/source-status.ts";
import { temporaryFolder } from "../support/folder.ts";
import { CLUSTER_SECRET, type NatsServers } from "../support/nats-servers.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

export interface TestCluster {
  readonly nats: NatsServers;
  readonly name: string;
  readonly replicas: number;
}

export interface Readiness {
  readonly status: string;
  readonly revision: number;
  readonly sources: readonly SourceStatus[];
  readonly log?: { readonly status: string };
  readonly cluster?: { readonly condition?: string; readonly staleSeconds?: number };
}

export const deviceId = (id: number): string => `of:${id.toString(16).padStart(16, "0")}`;

export class ServiceNode implements AsyncDisposable {
  readonly name: string;
  readonly folder = temporaryFolder();
  readonly #cluster: TestCluster;
  #service: Service | undefined;

  constructor(cluster: TestCluster, name: string) {
    this.#cluster = cluster;
    this.name = name;
  }

  get service(): Service {
    if (!this.#service) throw new Error(`${this.name} does not run`);
    return this.#service;
  }

  /** Writes the file that the source `source` of `configure` reads. */
  writeNetwork(
    source: string,
    devices: readonly { readonly id: string; readonly [field: string]: unknown }[],
  ): void {
    writeFileSync(join(this.folder, `${source}.json`), JSON.stringify({ devices }));
  }

  /** One file source for each name, in this order. */
  configure(sources: readonly string[], more: Readonly<Record<string, unknown>> = {}): void {
    mkdirSync(join(this.folder, "data"), { recursive: true });
    const config = { ...this.config(sources), ...more };
    writeFileSync(join(this.folder, "gazetteer.yaml"), JSON.stringify(config));
  }

  config(sources: readonly string[]) {
    const { nats, name, replicas } = this.#cluster;
    return {
      data: join(this.folder, "data"),
      cluster: {
        servers: nats.urls.split(","),
        secretFile: nats.secretFile,
        name,
        replicas,
        node: this.name,
      },
      sources: sources.map((source) => ({
        type: "file",
        name: source,
        path: join(this.folder, `${source}.json`),
      })),
    };
  }

  /** With the user of the tests, besides those of the node, or without it. */
  async start(credentials: string | null = "reader:secret"): Promise<void> {
    const args = ["--config", join(this.folder, "gazetteer.yaml")];
    this.#service = await startService({ args, credentials });
  }

  async readiness(): Promise<Readiness> {
    const response = await this.service.fetch("/readyz");
    return (await response.json()) as Readiness;
  }

  async source(name: string): Promise<SourceStatus | undefined> {
    return (await this.readiness()).sources.find((source) => source.name === name);
  }

  async untilSource(name: string, status: SourceStatus["status"], deadlineMs = 60_000): Promise<void> {
    const what = `${name} ${status} on ${this.name}`;
    await until(async () => (await this.source(name))?.status === status, { what, deadlineMs }).catch(
      (error) => {
        throw new Error(`${what}\n${this.service.stderr()}`, { cause: error });
      },
    );
  }

  async read(path: string): Promise<string> {
    const response = await this.service.fetch(`/controller/v1/${path}`);
    return response.text();
  }

  async deviceIds(): Promise<string[]> {
    const { devices } = JSON.parse(await this.read("devices?fields=id")) as { devices: { id: string }[] };
    return devices.map(({ id }) => id).sort();
  }

  /** Waits until this node shows the revision of `other`, and compares all collections. */
  async sameAs(other: ServiceNode): Promise<{ readonly here: string[]; readonly there: string[] }> {
    const kinds = ["devices", "links", "hosts"];
    const { revision } = await other.readiness();
    await until(async () => (await this.readiness()).revision >= revision, { what: `revision ${revision}` });
    const here = await Promise.all(kinds.map((kind) => this.read(kind)));
    const there = await Promise.all(kinds.map((kind) => other.read(kind)));
    return { here, there };
  }

  pause(): void {
    process.kill(this.service.pid, "SIGSTOP");
  }

  resume(): void {
    process.kill(this.service.pid, "SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#service?.kill();
    this.#service = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/**
 * Makes the bucket of the leases before any node does: what it has as its TTL is the pace of all nodes. And the log, which no
 * node would begin beside such a bucket. Repeated, because the leader of JetStream places nothing on a server that has just
 * joined until it has heard of its resources.
 */
export async function shortenLeases(
  cluster: TestCluster,
  ttlMs: number,
  secret = CLUSTER_SECRET,
): Promise<void> {
  await using client = await testNats(cluster);
  const { nats: _, name, replicas } = cluster;
  const settings = { ttl: ttlMs, replicas, allow_direct: false };
  const names = clusterNames(name);
  const stream = new LogStream({ nats: client, names, replicas });
  await until(() => stream.ensure(), { what: "the stream of the log" });
  await beginLog({ stream, secret: new ClusterSecret(Buffer.from(secret)), clock: systemClock });
  await until(() => new Kvm(client.jetstream).create(names.leases, settings), {
    what: "the bucket of the leases",
  });
}

export interface WrittenMessage {
  readonly sequence: number;
  readonly type: string;
  /** The run of the node that has written it. */
  readonly node: string;
  /** When NATS has stored it, epoch milliseconds. */
  readonly time: number;
}

/** What the log of the cluster has, in order. */
export async function messagesOf(cluster: TestCluster): Promise<WrittenMessage[]> {
  await using client = await testNats(cluster);
  const { stream } = clusterNames(cluster.name);
  const { state } = await client.manager.streams.info(stream);
  const messages: WrittenMessage[] = [];
  for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
    const message = await client.manager.streams.getMessage(stream, { seq: sequence });
    const [type = "", node = ""] = ["Type", "Node"].map((name) => message?.header.get(`Gazetteer-${name}`));
    messages.push({ sequence, type, node, time: message?.time.getTime() ?? 0 });
  }
  return messages;
}

export async function testNats({ nats }: Pick<TestCluster, "nats">): Promise<NatsClient & AsyncDisposable> {
  const client = await connectNats({ servers: nats.urls.split(","), clientName: "test" });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
