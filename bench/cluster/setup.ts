/** What the measurements of a cluster share: NATS servers, nodes as processes, and a writer in this process. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { findNatsServer, type Servers, startServers } from "../../scripts/cluster/nats.ts";
import { type Node, startNode } from "../../scripts/cluster/node.ts";
import { loadConfig } from "../../src/config/config.ts";
import { renderFault } from "../../src/config/faults.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { openStorage, type ServiceStorage } from "../../src/service/storage.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { deviceClaims, hostClaim } from "../api/network.ts";
import { CREDENTIALS } from "../api/wrk.ts";

export const SOURCE = "bench";
const DEVICES = 100;
const never = new AbortController().signal;

export async function openServers(folder: string, count: number): Promise<Servers> {
  const binary = findNatsServer();
  if (binary === undefined) throw new Error("nats-server is not installed; NATS_SERVER can name it");
  return startServers({ binary, count, folder: mkdtempSync(join(folder, "nats-")) });
}

export const openNode = (
  folder: string,
  servers: Servers,
  name: string,
  args: readonly string[] = [],
): Promise<Node> =>
  startNode({
    name,
    port: 0,
    data: mkdtempSync(join(folder, `${name}-`)),
    credentials: `${CREDENTIALS.user}:${CREDENTIALS.password}`,
    servers: servers.urls,
    secretFile: servers.secretFile,
    args: [...args, "--set", "limits.streamsPerUser=1000"],
    isQuiet: true,
  });

/** Log, view and committer as in a node, without a server; its source is taken over. */
export interface Writer {
  readonly store: ServiceStorage;
  /** Commits one batch that changes `count` hosts. */
  change(count: number): Promise<void>;
  close(): Promise<void>;
}

/** On the embedded log where `servers` is undefined. */
export async function openWriter(folder: string, servers?: Servers): Promise<Writer> {
  const values: Record<string, readonly string[]> = {
    data: [mkdtempSync(join(folder, "writer-"))],
    ...(servers && {
      cluster: [servers.urls.join(",")],
      set: [
        `cluster.replicas=${Math.min(3, servers.urls.length)}`,
        `cluster.secretFile=${servers.secretFile}`,
        "cluster.node=writer",
      ],
    }),
  };
  const loaded = loadConfig({ flags: { all: (flag: string) => values[flag] ?? [] } });
  if (!loaded.ok) throw new Error(loaded.faults.map(renderFault).join("; "));
  const store = await openStorage(loaded.config, observedSources([SOURCE]), systemClock, silentLogger);
  await store.cluster?.log.takeOver(SOURCE, never);
  await store.committer.setSettings(observedSources([SOURCE]));
  const ingest = new ClaimIngest(store.committer, SOURCE, silentLogger);
  await ingest.replace({ devices: deviceClaims(DEVICES) });
  let n = 0;
  return {
    store,
    async change(count) {
      await ingest.apply(
        Array.from({ length: count }, () => {
          n++;
          return { op: "set", kind: "hosts", claim: hostClaim(n % 10_000, DEVICES, n) } as const;
        }),
      );
    },
    async close() {
      await store.log.close();
      await store.cluster?.nats.close();
    },
  };
}

export interface Readiness {
  readonly revision: number;
  readonly sources: readonly { readonly name: string; readonly status: string }[];
  readonly cluster?: { readonly condition?: string; readonly staleSeconds?: number };
}

export async function readiness(node: Node): Promise<Readiness> {
  const response = await fetch(`${node.url}/readyz`, { headers: { Authorization: basic } });
  return (await response.json()) as Readiness;
}

export const basic = `Basic ${btoa(`${CREDENTIALS.user}:${CREDENTIALS.password}`)}`;

export async function untilTrue(
  what: string,
  condition: () => Promise<boolean>,
  everyMs = 50,
): Promise<void> {
  const end = performance.now() + 120_000;
  while (performance.now() < end) {
    if (await condition().catch(() => false)) return;
    await Bun.sleep(everyMs);
  }
  throw new Error(`waited for ${what}`);
}
