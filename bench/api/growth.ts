/**
 * `npm run bench -- growth`: how the cost of each operation grows from 10,000 to 1,000,000 hosts (--max HOSTS for a shorter
 * run). Costs are processor time of the service. The exponent is that of the power of the number of hosts that fits best: 0
 * is a cost that does not depend on the size, 1 one that is proportional to it. Load and start are what the hosts add to an
 * empty service; memory is all of it. Draws growth.svg.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChartTarget, growthChart } from "../lib/chart.ts";
import { fetchBytes, type Peer, startGazetteer } from "./peers.ts";
import type { Result } from "./result.ts";
import {
  distinctDevices,
  distinctItems,
  distinctLookups,
  type LoadOptions,
  microsPerRequest,
} from "./wrk.ts";

const SIZES = [10_000, 31_623, 100_000, 316_228, 1_000_000];
const BATCHED_CHANGES = 20_000;
const SINGLE_CHANGES_PER_SECOND = 200;
const SINGLE_CHANGES_MS = 3000;
const WARM_UP_SECONDS = 3;

export interface GrowthOptions {
  readonly folder: string;
  readonly maxHosts: number;
  readonly chart: ChartTarget;
}

const OPERATIONS = [
  ["first load", "s"],
  ["start from the log", "s"],
  ["memory", "MiB"],
  ["hosts?ip=", "µs"],
  ["hosts/ID", "µs"],
  ["page of 100, repeated", "µs"],
  ["100 hosts at a device", "µs"],
  ["change in a batch of 1,000", "µs"],
  ["change that comes alone", "µs"],
  ["all hosts", "ms"],
  ["search with q", "ms"],
] as const;
type Operation = (typeof OPERATIONS)[number][0];
type Costs = Readonly<Record<Operation, number>>;

export async function measureGrowth({ folder, maxHosts, chart }: GrowthOptions): Promise<Result[]> {
  const sizes = SIZES.filter((size) => size <= maxHosts);
  const empty = await measureStarts(0, 100, folder, async () => ({}));
  const costs: Costs[] = [];
  for (const hosts of sizes) {
    const devices = Math.min(10_000, Math.ceil(hosts / 100));
    const { load, start, memory, rest } = await measureStarts(hosts, devices, folder, (service) =>
      measureRequests(service, hosts, devices, folder),
    );
    costs.push({
      "first load": load - empty.load,
      "start from the log": start - empty.start,
      memory,
      ...rest,
    });
    process.stderr.write(`${hosts} hosts: ${JSON.stringify(costs.at(-1))}\n`);
  }
  const series = OPERATIONS.map(([name, unit]) => {
    const values = costs.map((each) => each[name]);
    return { name, unit, values, exponent: exponentOf(sizes, values) };
  });
  const svg = growthChart(
    {
      title: "How the cost of each operation grows with the network",
      subtitle:
        "Cost as a multiple of that at 10,000 hosts, and its exponent. The dashed line is proportional to the hosts.",
      source: chart.source,
    },
    sizes,
    // Rounded first, so that a small negative exponent is shown without a sign.
    series.map(({ name, values, exponent }) => ({
      name: `${name}  ${(Math.round(100 * exponent) / 100 || 0).toFixed(2)}`,
      values,
    })),
  );
  writeFileSync(join(chart.folder, "growth.svg"), svg);
  return series.flatMap(({ name, unit, values, exponent }): Result[] => [
    ...values.map((ours, i) => ({
      name: `growth/${name}`,
      what: `${sizes[i]?.toLocaleString("en-US")} hosts`,
      unit,
      ours,
    })),
    { name: `growth/${name}`, what: "exponent", unit: "", ours: exponent },
  ]);
}

/** The slope of the line with the least squares through the logarithms. */
function exponentOf(sizes: readonly number[], costs: readonly number[]): number {
  const [xs, ys] = [sizes.map(Math.log), costs.map((cost) => Math.log(cost))];
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const covariance = xs.reduce((sum, each, i) => sum + (each - x) * ((ys[i] ?? y) - y), 0);
  return covariance / xs.reduce((sum, each) => sum + (each - x) ** 2, 0);
}

/** Loads the network into a new data folder, starts again from its log, and measures the rest with that service. */
async function measureStarts<Rest>(
  hosts: number,
  devices: number,
  folder: string,
  measureRest: (service: Peer) => Promise<Rest>,
): Promise<{ load: number; start: number; memory: number; rest: Rest }> {
  const data = mkdtempSync(join(folder, "growth-"));
  const churn = hosts > 0 && ({ churn: "hosts", perSecond: SINGLE_CHANGES_PER_SECOND } as const);
  try {
    const first = await startGazetteer({ devices, hosts, data });
    const load = first.cpuSeconds();
    await first.stop();
    const service = await startGazetteer({ devices, hosts, data, ...churn });
    service.send("pause\n");
    try {
      const [start, memory] = [service.cpuSeconds(), service.rssBytes() / 1024 ** 2];
      return { load, start, memory, rest: await measureRest(service) };
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function measureRequests(service: Peer, hosts: number, devices: number, folder: string) {
  const micros = async (path: string, options: Partial<LoadOptions> = {}) => {
    const url = `${service.url}/${path}`;
    // The runtime still compiles in the first seconds.
    await microsPerRequest(service, url, { seconds: WARM_UP_SECONDS, ...options });
    return microsPerRequest(service, url, { seconds: 2, ...options });
  };
  // The first search builds the index of texts.
  await fetchBytes(`${service.url}/hosts?q=10.0.0.1&limit=1`);
  const large = async (options: Partial<LoadOptions> = {}) => {
    const load = { seconds: 4, connections: 1, ...options };
    await microsPerRequest(service, `${service.url}/hosts`, load);
    return (await microsPerRequest(service, `${service.url}/hosts`, load)) / 1000;
  };
  const reads = {
    "hosts?ip=": await micros("hosts", { distinct: distinctLookups(folder, hosts) }),
    "hosts/ID": await micros("hosts", { distinct: distinctItems(folder, hosts) }),
    "page of 100, repeated": await micros("hosts?limit=100"),
    "100 hosts at a device": await micros("hosts", { distinct: distinctDevices(folder, devices) }),
    "all hosts": await large(),
    "search with q": await large({ distinct: distinctLookups(folder, hosts, "q") }),
  };
  const cpu = service.cpuSeconds();
  service.send(`apply ${BATCHED_CHANGES}\n`);
  await service.line(/^applied ([\d.]+)$/);
  const batched = service.cpuSeconds();
  service.send("resume\n");
  await Bun.sleep(SINGLE_CHANGES_MS);
  service.send("pause\n");
  const singles = (SINGLE_CHANGES_PER_SECOND * SINGLE_CHANGES_MS) / 1000;
  return {
    ...reads,
    "change in a batch of 1,000": ((batched - cpu) * 1e6) / BATCHED_CHANGES,
    "change that comes alone": ((service.cpuSeconds() - batched) * 1e6) / singles,
  };
}
