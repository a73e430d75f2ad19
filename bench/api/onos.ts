/**
 * One host by id beside ONOS's own REST code (`test/peers/onos`), which has the same network in memory: processor time of a
 * request when both are warm. Needs Java, Maven and the folder beside the repository that has the script.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingForOnos, SERVE } from "../../test/peers/onos/onos-install.ts";
import { SERVER_CORE, start } from "../lib/process.ts";
import { median } from "../lib/table.ts";
import { fetchBytes, type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { distinctItems, microsPerRequest } from "./wrk.ts";

const SHAPE = { devices: 300, hosts: 10_000 };
const PORT = 18_905;
const ONOS_HEADERS = { Authorization: `Basic ${btoa("onos:rocks")}` };
/** The compilers of both runtimes need some ten thousand requests. */
const WARM_UP_SECONDS = 8;

export interface OnosOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
}

export async function measureOnos({ folder, rounds, seconds }: OnosOptions): Promise<Result[]> {
  const missing = missingForOnos();
  if (missing) throw new Error(`ONOS cannot run here: ${missing}`);
  const ours = await startGazetteer(SHAPE);
  try {
    const lists = join(folder, "onos");
    mkdirSync(lists);
    for (const [file, path] of [["devices"], ["ports", "devices/ports"], ["links"], ["hosts"]] as const)
      writeFileSync(join(lists, `${file}.json`), (await fetchBytes(`${ours.url}/${path ?? file}`)).bytes);
    const onos = await startOnos(lists);
    try {
      const measure = async (server: Peer, headers = {}) => {
        const options = { headers, distinct: distinctItems(folder, SHAPE.hosts) };
        const micros = (duration: number) =>
          microsPerRequest(server, `${server.url}/hosts`, { seconds: duration, ...options });
        await micros(WARM_UP_SECONDS);
        return () => micros(seconds);
      };
      const [measureOurs, measureTheirs] = [await measure(ours), await measure(onos, ONOS_HEADERS)];
      const [mine, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        mine.push(await measureOurs());
        theirs.push(await measureTheirs());
      }
      const against = { ONOS: median(theirs) };
      const what = "hosts/ID among 10,000, each time another";
      return [{ name: "item", what, unit: "µs", ours: median(mine), against, isCost: true, bar: 5 }];
    } finally {
      await onos.stop();
    }
  } finally {
    await ours.stop();
  }
}

async function startOnos(lists: string): Promise<Peer> {
  const onos = start([SERVE, lists, String(PORT)], SERVER_CORE);
  await onos.line(/^listening on /);
  return { ...onos, url: `http://127.0.0.1:${PORT}/onos/v1` };
}
