/**
 * What clients see when a part of a cluster fails: three nodes and three NATS servers as processes, a simulated network that
 * changes, and a client of each node that reads every 100 ms. For each event it prints the reads that failed on the nodes
 * that were left alone, how long no change came, and how long responses were marked stale. The table in docs/cluster.md is
 * made of it.
 *
 *   bun bench/cluster/events.ts [EVENT...]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Node } from "../../scripts/cluster/node.ts";
import { connectNats } from "../../src/cluster/nats/nats-client.ts";
import { clusterNames } from "../../src/cluster/nats/nats-cluster.ts";
import { table } from "../lib/table.ts";
import { basic, openNode, openServers, readiness, untilTrue } from "./setup.ts";

type Servers = Awaited<ReturnType<typeof openServers>>;

interface Site {
  readonly servers: Servers;
  readonly nodes: readonly Node[];
  /** The node that runs the source. */
  readonly holder: Node;
  /** Starts the holder again, on its data folder. */
  readonly restartHolder: () => Promise<void>;
}

interface Event {
  /** Returns the nodes that clients may expect to answer. */
  begin(site: Site): Promise<readonly Node[]>;
  end?(site: Site): Promise<void>;
  readonly seconds: number;
}

const signal = (pids: readonly number[], name: NodeJS.Signals) => {
  for (const pid of pids) process.kill(pid, name);
};
const others = ({ nodes, holder }: Site) => nodes.filter((node) => node !== holder);
const ARGS = ["--demo=devices=20,hosts=100,churn=5"];
const STREAM = clusterNames("default").stream;

async function leaderPid({ servers }: Site): Promise<number> {
  const client = await connectNats({ servers: servers.urls, clientName: "events" });
  const { cluster } = await client.manager.streams.info(STREAM);
  await client.close();
  return servers.pids[Number(cluster?.leader?.slice(1) ?? 1) - 1] ?? 0;
}

async function changeStream(
  { servers }: Site,
  change: (manager: Awaited<ReturnType<typeof connectNats>>["manager"]) => Promise<unknown>,
): Promise<void> {
  const client = await connectNats({ servers: servers.urls, clientName: "events" });
  await change(client.manager);
  await client.close();
}

const EVENTS: Readonly<Record<string, Event>> = {
  "node killed": {
    seconds: 30,
    begin: async (site) => {
      await site.holder.kill();
      return others(site);
    },
  },
  "node paused 25 s": {
    seconds: 25,
    begin: async (site) => {
      signal([site.holder.pid], "SIGSTOP");
      return others(site);
    },
    end: async ({ holder }) => signal([holder.pid], "SIGCONT"),
  },
  "leader of NATS killed": {
    seconds: 25,
    begin: async (site) => {
      signal([await leaderPid(site)], "SIGKILL");
      return site.nodes;
    },
  },
  "quorum lost 30 s": {
    seconds: 30,
    begin: async (site) => {
      signal(site.servers.pids.slice(0, 2), "SIGSTOP");
      return site.nodes;
    },
    end: async ({ servers }) => signal(servers.pids.slice(0, 2), "SIGCONT"),
  },
  "NATS gone 30 s": {
    seconds: 30,
    begin: async (site) => {
      signal(site.servers.pids, "SIGSTOP");
      return site.nodes;
    },
    end: async ({ servers }) => signal(servers.pids, "SIGCONT"),
  },
  "stream full 15 s": {
    seconds: 15,
    begin: async (site) => {
      await changeStream(site, async (manager) => {
        const { state } = await manager.streams.info(STREAM);
        await manager.streams.update(STREAM, { max_bytes: state.bytes });
      });
      return site.nodes;
    },
    end: (site) => changeStream(site, (manager) => manager.streams.update(STREAM, { max_bytes: -1 })),
  },
  "stream deleted": {
    seconds: 15,
    begin: async (site) => {
      await changeStream(site, (manager) => manager.streams.delete(STREAM));
      return others(site);
    },
    end: ({ restartHolder }) => restartHolder(),
  },
};

interface Seen {
  reads: number;
  failures: number;
  lastRevision: number;
  changedAt: number;
  longestGapMs: number;
  stale: number;
  readonly conditions: Set<string>;
}

async function observe(node: Node, seen: Seen, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    try {
      const response = await fetch(`${node.url}/controller/v1/devices?limit=1`, {
        headers: { Authorization: basic },
        signal: AbortSignal.timeout(5000),
      });
      seen.reads++;
      if (!response.ok) seen.failures++;
      if (response.headers.has("gazetteer-stale")) seen.stale++;
      await response.arrayBuffer();
      const { revision, cluster } = await readiness(node);
      if (cluster?.condition !== undefined) seen.conditions.add(cluster.condition);
      const now = performance.now();
      seen.longestGapMs = Math.max(seen.longestGapMs, now - seen.changedAt);
      if (revision !== seen.lastRevision) seen.changedAt = now;
      seen.lastRevision = revision;
    } catch {
      if (!until.aborted) seen.failures++;
    }
    await Bun.sleep(100);
  }
}

async function measure(name: string, event: Event, folder: string): Promise<string[]> {
  const servers = await openServers(folder, 3);
  const nodes: Node[] = [];
  try {
    for (const node of ["a", "b", "c"]) nodes.push(await openNode(folder, servers, node, ARGS));
    const [holder] = nodes;
    if (!holder) throw new Error("no node");
    await untilTrue("the first change", async () => (await readiness(holder)).revision > 5);
    const restartHolder = async () => {
      await holder.kill();
      nodes[0] = await openNode(folder, servers, "a", ARGS);
    };
    const site = { servers, nodes, holder, restartHolder };
    const survivors = await event.begin(site);
    const began = performance.now();
    const done = new AbortController();
    const seen = survivors.map(
      (): Seen => ({
        reads: 0,
        failures: 0,
        lastRevision: -1,
        changedAt: began,
        longestGapMs: 0,
        stale: 0,
        conditions: new Set(),
      }),
    );
    const observers = survivors.map((node, i) => seen[i] && observe(node, seen[i], done.signal));
    await Bun.sleep(event.seconds * 1000);
    await event.end?.(site);
    await Bun.sleep(25_000);
    done.abort();
    await Promise.all(observers);
    const sum = (field: "reads" | "failures") => seen.reduce((total, one) => total + one[field], 0);
    const most = (value: (one: Seen) => number) => Math.max(...seen.map(value));
    return [
      name,
      `${sum("failures")} of ${sum("reads")}`,
      `${(most((one) => one.longestGapMs) / 1000).toFixed(1)} s`,
      `${(most((one) => one.stale) / 10).toFixed(0)} s`,
      [...new Set(seen.flatMap(({ conditions }) => [...conditions]))].join(", ") || "-",
    ];
  } finally {
    for (const { pid } of nodes)
      try {
        process.kill(pid, "SIGCONT");
      } catch {
        // It was killed by the event.
      }
    await Promise.all(nodes.map((node) => node.kill()));
    await servers.stop();
  }
}

const selected = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "gazetteer-events-"));
const rows = [["event", "failed reads", "no change for", "marked stale for", "conditions"]];
try {
  for (const [name, event] of Object.entries(EVENTS)) {
    if (selected.length > 0 && !selected.some((word) => name.startsWith(word))) continue;
    process.stderr.write(`${name}\n`);
    const row = await measure(name, event, folder);
    process.stderr.write(`${row.join(" | ")}\n`);
    rows.push(row);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(table(rows));
