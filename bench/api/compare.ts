/**
 * `npm run bench -- compare --before COMMIT`: a large network with one source, this code beside an earlier commit of it.
 * Both run in turn, so that a change of the machine's load meets both. All values are rates, where more is better: the
 * ratio must not be below `BAR`. Work is counted for each second of CPU that the service used, which depends on other
 * processes of the machine less than time does.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkOut } from "../fairness/checkout.ts";
import { median } from "../lib/table.ts";
import { ROOT, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import { type DistinctRequests, distinctLookups, load } from "./wrk.ts";

/** The last commit before devices of several sources were joined. */
export const BEFORE_MERGING = "60427f9";
const DEVICES = 10_000;
const CHANGES = 100_000;
const BAR = 0.95;
const WARM_UP_ROUNDS = 3;

export interface CompareOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly hosts: number;
  readonly before: string;
}

const CASES = {
  load: ["first load of {}", "hosts/s of CPU"],
  start: ["start from the log of {}", "hosts/s of CPU"],
  memory: ["memory after that start", "hosts/MiB"],
  lookup: ["hosts?ip=, another address each time", "requests/s of CPU"],
  page: ["a page of 1,000 hosts", "requests/s of CPU"],
  changes: ["changes into {}, in batches of 1,000", "changes/s of CPU"],
} as const;
type Case = keyof typeof CASES;
type Sample = Readonly<Record<Case, number>>;
const NAMES: readonly Case[] = ["load", "start", "memory", "lookup", "page", "changes"];

export async function measureCompare(options: CompareOptions): Promise<Result[]> {
  using earlier = checkOut(options.before);
  const [before, now]: [Sample[], Sample[]] = [[], []];
  for (let round = 0; round < options.rounds; round++) {
    before.push(await measureRoot(earlier.root, options));
    now.push(await measureRoot(ROOT, options));
  }
  const hosts = `${options.hosts.toLocaleString("en-US")} hosts`;
  return NAMES.map((name) => {
    const [what, unit] = CASES[name];
    const of = (samples: readonly Sample[]) => median(samples.map((sample) => sample[name]));
    const against = { [options.before]: of(before) };
    return {
      name: `compare/${name}`,
      what: what.replace("{}", hosts),
      unit,
      ours: of(now),
      against,
      bar: BAR,
    };
  });
}

async function measureRoot(root: string, { folder, hosts, seconds }: CompareOptions): Promise<Sample> {
  const own = mkdtempSync(join(folder, "compare-"));
  const shape = { devices: DEVICES, hosts, data: join(own, "data") };
  const distinct = distinctLookups(own, hosts);
  try {
    const first = await startGazetteer(shape, root);
    const loadSeconds = first.cpuSeconds();
    await first.stop();
    const service = await startGazetteer(shape, root);
    try {
      const startSeconds = service.cpuSeconds();
      const memory = service.rssBytes() / 1024 ** 2;
      const perCpuSecond = async (work: () => Promise<number>): Promise<number> => {
        const cpuBefore = service.cpuSeconds();
        const count = await work();
        return count / (service.cpuSeconds() - cpuBefore);
      };
      const requests = (path: string, more: { distinct?: DistinctRequests } = {}) =>
        perCpuSecond(async () => (await load(service.url + path, { seconds, ...more })).requests);
      // The first requests are served by code that is not compiled yet.
      for (let round = 0; round < WARM_UP_ROUNDS; round++) await requests("/hosts", { distinct });
      await requests("/hosts?limit=1000");
      return {
        load: hosts / loadSeconds,
        start: hosts / startSeconds,
        memory: hosts / memory,
        lookup: await requests("/hosts", { distinct }),
        page: await requests("/hosts?limit=1000"),
        changes: await perCpuSecond(async () => {
          service.send(`apply ${CHANGES}\n`);
          await service.line(/^applied ([\d.]+)$/);
          return CHANGES;
        }),
      };
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
