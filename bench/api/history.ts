/**
 * `at=` far back: 100,000 hosts with 1,000,000 changes in five days, by an injected clock. For revisions all over that time,
 * the time to the first byte of the list of hosts, and how long the event loop was held meanwhile.
 */
import { join } from "node:path";
import type { LoopStats } from "../sources/loop-probe.ts";
import { type Peer, revisionOf, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { AUTHORIZATION } from "./wrk.ts";

const DAYS = 5;
/** Where the revisions are between the first one and the current one. */
const SHARES = [0.001, 0.2, 0.4, 0.6, 0.8, 0.95];

export interface HistoryOptions {
  readonly folder: string;
  readonly hosts: number;
  readonly changes: number;
}

export async function measureHistory({ folder, hosts, changes }: HistoryOptions): Promise<Result[]> {
  const data = join(folder, "history");
  const past = { changes, days: DAYS };
  const service = await startGazetteer({ devices: hosts / 100, hosts, data, past, probesLoop: true });
  try {
    const current = await revisionOf(service);
    const [firstBytes, delays]: [number[], number[]] = [[], []];
    for (const share of SHARES) {
      await loopStats(service);
      firstBytes.push(await firstByteMs(service, Math.ceil(current * share)));
      delays.push((await loopStats(service)).delayMaxMs);
    }
    const what = `hosts?at=, ${hosts.toLocaleString("en-US")} hosts, ${changes.toLocaleString("en-US")} changes`;
    return [
      {
        name: "at/first byte",
        what: `${what}: slowest first byte`,
        unit: "ms",
        ours: Math.max(...firstBytes),
        max: 1000,
      },
      { name: "at/loop", what: `${what}: longest delay of the loop`, unit: "ms", ours: Math.max(...delays) },
    ];
  } finally {
    await service.stop();
  }
}

async function firstByteMs({ url }: Peer, revision: number): Promise<number> {
  const began = performance.now();
  const headers = { Authorization: AUTHORIZATION, "Accept-Encoding": "identity" };
  const response = await fetch(`${url}/hosts?at=${revision}`, { headers });
  if (!response.ok) throw new Error(`at=${revision}: ${response.status} ${await response.text()}`);
  let first = 0;
  for await (const _ of response.body ?? []) first ||= performance.now() - began;
  return first;
}

/** What the loop was measured since the previous call. */
async function loopStats(service: Peer): Promise<LoopStats> {
  process.kill(service.pid, "SIGUSR2");
  const [, stats = "{}"] = await service.line(/^loop (.*)$/);
  return JSON.parse(stats);
}
