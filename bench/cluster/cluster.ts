/**
 * `npm run bench -- cluster`: what a cluster costs and gives. Everything runs on this machine, so rates of several nodes are
 * given for each second of CPU; waiting times include three NATS servers that share the same disk.
 */

import { StorageType } from "@nats-io/jetstream";
import type { Result } from "../api/result.ts";
import { load } from "../api/wrk.ts";
import { cpuOf } from "../lib/process.ts";
import { median, shown } from "../lib/table.ts";
import { basic, openNode, openServers, openWriter, readiness, untilTrue, type Writer } from "./setup.ts";

export interface ClusterOptions {
  readonly folder: string;
  readonly quick: boolean;
}

const NAMES = ["a", "b", "c"];
/** Changes a second while reads are measured, where the machine can. */
const CHURN = 100;
/** What must be reached. */
const MAX_FOLLOW_MS = 0.3;
const MAX_COMMIT_RATIO = 1.5;

export async function measureCluster({ folder, quick }: ClusterOptions): Promise<Result[]> {
  const seconds = quick ? 2 : 5;
  const embedded = await commitRate(await openWriter(folder), seconds);
  const single = await onServers(folder, 1, async (servers) =>
    commitRate(await openWriter(folder, servers), seconds),
  );
  return [
    row("cluster commit", "changes/s, embedded log, batches of 1", "/s", embedded.single),
    row("cluster commit", "changes/s, embedded log, batches of 1,000", "/s", embedded.large),
    row("cluster commit", "changes/s, 1 replica, batches of 1", "/s", single.single, {
      embedded: embedded.single,
    }),
    row("cluster commit", "changes/s, 1 replica, batches of 1,000", "/s", single.large, {
      embedded: embedded.large,
    }),
    ...(await onServers(folder, 3, async (servers) => {
      const writer = await openWriter(folder, servers);
      const three = await commitRate(writer, seconds, false);
      const results = [
        row("cluster commit", "changes/s, 3 replicas, batches of 1", "/s", three.single, {
          embedded: embedded.single,
        }),
        row("cluster commit", "changes/s, 3 replicas, batches of 1,000", "/s", three.large, {
          embedded: embedded.large,
        }),
        ...(await measureCommit(writer, quick ? 300 : 2000)),
      ];
      const nodes = [];
      for (const name of NAMES) nodes.push(await openNode(folder, servers, name));
      try {
        results.push(...(await measureReads(nodes, writer, seconds)));
        results.push(...(await measureDelay(nodes[0]?.url ?? "", writer, quick ? 200 : 1000)));
        await writer.close();
        results.push(await measureCatchUp(folder, servers));
      } finally {
        await Promise.all(nodes.map((node) => node.stop()));
      }
      return results;
    })),
    ...(await measureFailover(folder, quick ? 1 : 3)),
  ];
}

const row = (
  name: string,
  what: string,
  unit: string,
  ours: number,
  against?: Readonly<Record<string, number>>,
): Result => {
  // The whole takes minutes: each value is shown when it is there.
  process.stderr.write(`  ${what}: ${shown(ours)} ${unit}\n`);
  return { name, what, unit, ours, ...(against && { against }) };
};

type Servers = Awaited<ReturnType<typeof openServers>>;

async function onServers<T>(
  folder: string,
  count: number,
  use: (servers: Servers) => Promise<T>,
): Promise<T> {
  const servers = await openServers(folder, count);
  try {
    return await use(servers);
  } finally {
    await servers.stop();
  }
}

/** One batch after the other: each waits until the one before is stored. */
async function commitRate(writer: Writer, seconds: number, isLast = true) {
  const rate = async (size: number) => {
    await writer.change(size);
    const startedAt = performance.now();
    let changes = 0;
    while (performance.now() - startedAt < seconds * 1000) {
      await writer.change(size);
      changes += size;
    }
    return (changes * 1000) / (performance.now() - startedAt);
  };
  const rates = { single: await rate(1), large: await rate(1000) };
  if (isLast) await writer.close();
  return rates;
}

/** The size of a message that changes one host, with its headers. */
const MESSAGE_BYTES = 1000;

/** One commit, and a publish of as many bytes to a stream of its own with as many replicas, in turn. */
async function measureCommit({ store, change }: Writer, count: number): Promise<Result[]> {
  if (!store.cluster) throw new Error("the writer is in no cluster");
  const { jetstream, manager } = store.cluster.nats;
  const stream = "bare";
  await manager.streams.add({
    name: stream,
    subjects: [stream],
    num_replicas: store.cluster.replicas,
    storage: StorageType.File,
  });
  const data = crypto.getRandomValues(new Uint8Array(MESSAGE_BYTES));
  const commits: number[] = [];
  const publishes: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedAt = performance.now();
    await change(1);
    const committedAt = performance.now();
    await jetstream.publish(stream, data);
    commits.push(committedAt - startedAt);
    publishes.push(performance.now() - committedAt);
  }
  await manager.streams.delete(stream);
  const [commit, publish] = [median(commits), median(publishes)];
  return [
    row("cluster commit", "one change, 3 replicas, p50", "ms", commit, { "bare publish": publish }),
    {
      ...row("cluster commit", "the same, of a bare publish", "times", commit / publish),
      max: MAX_COMMIT_RATIO,
    },
  ];
}

type Nodes = readonly { readonly url: string; readonly pid: number }[];

/** Reads of one device for each CPU second of all nodes that are read, while the log goes on; and what following it costs. */
async function measureReads(nodes: Nodes, writer: Writer, seconds: number): Promise<Result[]> {
  const results: Result[] = [];
  const idle = await readsPerCpu(nodes.slice(0, 1), seconds);
  results.push(row("cluster reads", "reads/CPU s, 1 node, no changes", "/s", idle));
  let isOn = true;
  let changes = 0;
  // The runtime compiles what runs often: a node that has run for a while is measured.
  for (const end = performance.now() + 2 * seconds * 1000; performance.now() < end; ) await writer.change(1);
  const usedIn = async (ms: number) => {
    const before = nodes.map(({ pid }) => cpuOf(pid));
    await Bun.sleep(ms);
    return median(nodes.map(({ pid }, i) => cpuOf(pid) - (before[i] ?? 0)));
  };
  await Bun.sleep(1000);
  const idleUsed = await usedIn(seconds * 1000);
  const churn = (async () => {
    while (isOn) {
      const next = performance.now() + 1000 / CHURN;
      await writer.change(1);
      changes++;
      await Bun.sleep(Math.max(0, next - performance.now()));
    }
  })();
  const used = await usedIn(seconds * 1000);
  // On a busy machine fewer than CHURN.
  const rate = Math.round(changes / seconds);
  results.push({
    ...row(
      "cluster reads",
      `CPU ms to follow one change, at ${rate}/s, less those of an idle node`,
      "ms",
      (1000 * (used - idleUsed)) / changes,
    ),
    max: MAX_FOLLOW_MS,
  });
  for (const count of [1, 2, 3]) {
    const reads = await readsPerCpu(nodes.slice(0, count), seconds);
    results.push(
      row("cluster reads", `reads/CPU s, ${count} nodes, ${rate} changes/s`, "/s", reads, {
        "no changes": idle,
      }),
    );
  }
  isOn = false;
  await churn;
  return results;
}

async function readsPerCpu(nodes: Nodes, seconds: number): Promise<number> {
  const before = nodes.map(({ pid }) => cpuOf(pid));
  const loads = await Promise.all(
    nodes.map(({ url }) => load(`${url}/controller/v1/devices/of:0000000000000001`, { seconds })),
  );
  const cpu = nodes.reduce((sum, { pid }, i) => sum + cpuOf(pid) - (before[i] ?? 0), 0);
  return loads.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond * seconds, 0) / cpu;
}

/** From the call that commits on one node to the event on a stream of another. */
async function measureDelay(url: string, writer: Writer, count: number): Promise<Result[]> {
  const closing = new AbortController();
  const response = await fetch(`${url}/controller/v1/hosts?since=${writer.store.view.revision}`, {
    headers: { Authorization: basic, Accept: "text/event-stream" },
    signal: closing.signal,
  });
  if (!response.ok || !response.body) throw new Error(`the stream: ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const until = async (revision: number) => {
    while (!text.includes(`"revision":${revision},`) && !text.includes(`.${revision}\n`)) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the stream ended");
      text = (text + decoder.decode(value, { stream: true })).slice(-20_000);
    }
  };
  const delays: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedAt = performance.now();
    await writer.change(1);
    await until(writer.store.view.revision);
    delays.push(performance.now() - startedAt);
  }
  closing.abort();
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(share * delays.length))] ?? 0;
  return [
    row("cluster delay", "change on one node to stream on another, p50", "ms", at(0.5)),
    row("cluster delay", "change on one node to stream on another, p99", "ms", at(0.99)),
  ];
}

/** A node without data reads the whole stream. */
async function measureCatchUp(folder: string, servers: Servers): Promise<Result> {
  const startedAt = performance.now();
  const fresh = await openWriter(folder, servers);
  const seconds = (performance.now() - startedAt) / 1000;
  const { revision } = fresh.store.view;
  await fresh.close();
  return row("cluster catch-up", "revisions/s of a node without data", "/s", revision / seconds);
}

/** From the kill of the node that runs a source until it has synced on the other. */
async function measureFailover(folder: string, rounds: number): Promise<Result[]> {
  return onServers(folder, 3, async (servers) => {
    const demo = ["--demo=devices=20,hosts=50"];
    let holder = await openNode(folder, servers, "a", demo);
    const times: number[] = [];
    let other = holder;
    try {
      for (let n = 0; n < rounds; n++) {
        other = await openNode(folder, servers, NAMES[(n + 1) % 2] ?? "b", demo);
        const startedAt = performance.now();
        await holder.kill();
        await untilTrue("the other node runs the source", async () =>
          (await readiness(other)).sources.some(({ status }) => status === "synced"),
        );
        times.push((performance.now() - startedAt) / 1000);
        holder = other;
      }
    } finally {
      await other.kill();
    }
    return [
      {
        name: "cluster failover",
        what: "node killed to source synced elsewhere",
        unit: "s",
        ours: median(times),
        max: 20,
      },
    ];
  });
}
