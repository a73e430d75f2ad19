/** How cost and memory grow with the network: the same questions of a hundred hosts and of a million. */
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
    const began = performance.now();
    const peer = await startGazetteer({ devices: Math.max(10, Math.min(10_000, hosts / 100)), hosts });
    const what = `${hosts.toLocaleString("en-US")} hosts`;
    const tell = (name: string, ours: number, unit: string) =>
      results.push({ name: `growth/${name}`, what, unit, ours });
    tell("taken in", (performance.now() - began) / 1000, "s");
    const script = join(folder, `lookup-${hosts}.lua`);
    writeFileSync(script, lookupScript(hosts));
    // The first seconds of a process are its compiler's.
    await load(`${peer.url}/hosts`, { seconds: 5 * seconds, script });
    tell("look-up", (await load(`${peer.url}/hosts`, { seconds, script })).requestsPerSecond, "requests/s");
    tell("page", (await load(`${peer.url}/hosts?limit=100`, { seconds })).requestsPerSecond, "requests/s");
    peer.say("apply 20000\n");
    const [, ms = "0"] = await peer.line(/^applied ([\d.]+)$/);
    tell("changes", 20_000 / (Number(ms) / 1000), "changes/s");
    tell("memory", peer.rssBytes() / 1024 ** 2, "MiB");
    await peer.stop();
  }
  return results;
}
