/** How cost and memory grow with the network: the same requests with a hundred hosts and with a million. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lookupScript } from "./large.ts";
import { startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { load } from "./wrk.ts";

export interface GrowthOptions {
  readonly folder: string;
  readonly seconds: number;
  readonly sizes: readonly number[];
}

export async function measureGrowth({ folder, seconds, sizes }: GrowthOptions): Promise<Result[]> {
  const results: Result[] = [];
  for (const hosts of sizes) {
    const startedMs = performance.now();
    const peer = await startGazetteer({ devices: Math.max(10, Math.min(10_000, hosts / 100)), hosts });
    const what = `${hosts.toLocaleString("en-US")} hosts`;
    const report = (name: string, ours: number, unit: string) =>
      results.push({ name: `growth/${name}`, what, unit, ours });
    report("load", (performance.now() - startedMs) / 1000, "s");
    const script = join(folder, `lookup-${hosts}.lua`);
    writeFileSync(script, lookupScript(hosts));
    // In the first seconds of a process the runtime still compiles.
    await load(`${peer.url}/hosts`, { seconds: 5 * seconds, script });
    report("look-up", (await load(`${peer.url}/hosts`, { seconds, script })).requestsPerSecond, "requests/s");
    report("page", (await load(`${peer.url}/hosts?limit=100`, { seconds })).requestsPerSecond, "requests/s");
    peer.send("apply 20000\n");
    const [, ms = "0"] = await peer.line(/^applied ([\d.]+)$/);
    report("changes", 20_000 / (Number(ms) / 1000), "changes/s");
    report("memory", peer.rssBytes() / 1024 ** 2, "MiB");
    await peer.stop();
  }
  return results;
}
