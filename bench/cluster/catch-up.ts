/**
 * The start of a node that is new in a cluster, beside that of a single node with the same network: the first loads a
 * snapshot from NATS and restores its view from it, the second restores its view from its log.
 *
 *   bun bench/cluster/catch-up.ts [HOSTS...]      default: 100000 1000000
 *
 * Each start runs in its own process. `nats-server` must be on the PATH, or NATS_SERVER name it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectNats } from "../../src/cluster/nats/nats-client.ts";
import { natsCluster } from "../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { openJetStreamLog } from "../../src/log/jetstream/open.ts";
import { ClusterSnapshots } from "../../src/log/jetstream/snapshots.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { newestState } from "../../src/service/cluster/open-cluster.ts";
import { SnapshotPublisher } from "../../src/service/cluster/snapshot-publisher.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { Committer } from "../../src/view/committer.ts";
import { restoreView } from "../../src/view/restore.ts";
import { ClaimGenerator } from "../lib/claim-generator.ts";

const SOURCE = "bench";
const clock = systemClock;
const secret = new ClusterSecret(Buffer.from("bench"));
const never = new AbortController().signal;
/** Changes after the snapshot: the tail that a new node reads. */
const TAIL = 100;

async function openNode(url: string, path: string) {
  const client = await connectNats({ servers: [url], clientName: "bench" });
  const cluster = natsCluster(client, { name: "bench", replicas: 1 }, secret);
  const snapshots = new ClusterSnapshots(cluster, clock);
  const stream = new LogStream(cluster);
  const log = await openJetStreamLog({
    stream,
    snapshots,
    path,
    node: `bench-${process.pid}`,
    secret,
    newestState,
    traces: async () => ({ places: [], nodes: [] }),
    clock,
    logger: silentLogger,
    signal: never,
  });
  const { view } = restoreView(log);
  const committer = new Committer(view, log, clock, observedSources([SOURCE]));
  log.start();
  await log.caughtUp(never);
  await committer.runBetweenCommits("bench", (function* () {})());
  return { client, snapshots, log, committer };
}

async function load(hosts: number, url: string, path: string): Promise<void> {
  const { client, snapshots, log, committer } = await openNode(url, path);
  await log.takeOver(SOURCE, never);
  const ingest = new ClaimIngest(committer, SOURCE, silentLogger);
  const network = new ClaimGenerator(hosts);
  await ingest.replace(network.claims());
  const startedAt = performance.now();
  await new SnapshotPublisher({ log, snapshots, secret }, committer, clock, silentLogger).publish();
  const seconds = (performance.now() - startedAt) / 1000;
  const { created } = log.position;
  const [snapshot] = await snapshots.list(created);
  console.log(`snapshot: ${mib(snapshot?.bytes ?? 0)} MiB, written in ${seconds.toFixed(1)} s`);
  for (let n = 0; n < TAIL; n++)
    await ingest.apply([{ op: "set", kind: "hosts", claim: network.host(n, 1) }]);
  // As a single node that was stopped in order: nothing to replay.
  await log.writeSnapshot(newestState(log));
  await log.close();
  await client.close();
}

async function start(phase: string, url: string, path: string): Promise<void> {
  const startedAt = performance.now();
  if (phase === "single") {
    const log = openEmbeddedLog(path, { retry: { clock, logger: silentLogger } });
    const { view } = restoreView(log);
    report(view.revision, startedAt);
    await log.close();
  } else {
    const { client, log, committer } = await openNode(url, path);
    report(committer.view.revision, startedAt);
    await log.close();
    await client.close();
  }
}

const mib = (bytes: number) => Math.round(bytes / 2 ** 20);

/** CPU seconds are of all threads of the process, from its beginning: on a busy machine the more stable figure. */
function report(revision: number, startedAt: number): void {
  const { user, system } = process.cpuUsage();
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(JSON.stringify({ revision, seconds, cpu: (user + system) / 1e6 }));
}

async function inOwnProcess(...args: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, import.meta.path, ...args], { stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${args.join(" ")} failed`);
  return output;
}

async function main(sizes: readonly number[]): Promise<void> {
  for (const hosts of sizes) {
    const folder = mkdtempSync(join(tmpdir(), "gazetteer-bench-"));
    const port = 20_000 + (process.pid % 20_000);
    const binary = process.env.NATS_SERVER ?? Bun.which("nats-server") ?? "/usr/sbin/nats-server";
    const server = Bun.spawn(
      [binary, "-a", "127.0.0.1", "-p", String(port), "-js", "-sd", join(folder, "js")],
      {
        stdio: ["ignore", "ignore", "ignore"],
      },
    );
    try {
      const url = `nats://127.0.0.1:${port}`;
      await Bun.sleep(1000);
      const copy = join(folder, "copy.sqlite");
      process.stdout.write(await inOwnProcess("load", url, copy, String(hosts)));
      for (let round = 0; round < 3; round++) {
        const single = JSON.parse(await inOwnProcess("single", url, copy));
        const joined = JSON.parse(await inOwnProcess("new", url, join(folder, `new${round}.sqlite`)));
        if (single.revision !== joined.revision) throw new Error("the new node has another revision");
        const show = (name: string, figure: "seconds" | "cpu") =>
          `${name} ${single[figure].toFixed(2)} → ${joined[figure].toFixed(2)} (ratio ${(joined[figure] / single[figure]).toFixed(2)})`;
        console.log(
          `${hosts} hosts, single → new: ${show("seconds", "seconds")}, ${show("CPU seconds", "cpu")}`,
        );
      }
    } finally {
      server.kill();
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const [phase = "", url = "", path = "", hosts = ""] = process.argv.slice(2);
if (phase === "load") await load(Number(hosts), url, path);
else if (phase === "single" || phase === "new") await start(phase, url, path);
else await main(process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100_000, 1_000_000]);
