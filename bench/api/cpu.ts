/**
 * `npm run bench -- cpu --before COMMIT`: processor time per request, per change and per stream event, this code beside an
 * earlier commit, in at most two minutes. Run it before a change of the hot path is merged.
 *
 * `npm run bench -- scans --before COMMIT`: the same for reads that no index serves, among 100,000 hosts.
 */
import { checkOut } from "../fairness/checkout.ts";
import { type Measure, measureBeside } from "./beside.ts";
import { openEventStream } from "./event-stream.ts";
import { fetchBytes, type Peer, revisionOf } from "./peers.ts";
import type { Result } from "./result.ts";
import { distinctItems, distinctLookups, distinctSorts, type LoadOptions, microsPerRequest } from "./wrk.ts";

/** A case below this in two runs has become slower. */
const MIN_RATIO = 0.95;
const SHAPE = { devices: 300, hosts: 12_000 };
const CONNECTIONS = 16;
const LOAD_SECONDS = 1;
const CHANGES_PER_SECOND = 400;
const STREAMS = 100;
const CHANGES_MS = 1300;

export interface CpuOptions {
  readonly folder: string;
  readonly before: string;
  readonly rounds: number;
}

export async function measureCpu({ folder, before, rounds }: CpuOptions): Promise<Result[]> {
  using earlier = checkOut(before);
  const common = { name: "cpu", before, earlier, rounds, bar: MIN_RATIO };
  const requests = await measureBeside({
    ...common,
    shape: SHAPE,
    casesOf: (service) => requestCases(service, folder),
  });
  const changes = await measureBeside({
    ...common,
    shape: { ...SHAPE, churn: "hosts", perSecond: CHANGES_PER_SECOND },
    casesOf: async (service) => {
      service.send("pause\n");
      return [measureChanges];
    },
  });
  return [...requests, ...changes];
}

const request =
  (what: string, url: string, options: Partial<LoadOptions> & { warmUpSeconds?: number } = {}): Measure =>
  async (service, isWarmUp) => {
    const { seconds = LOAD_SECONDS, warmUpSeconds = seconds, connections = CONNECTIONS, ...others } = options;
    const duration = isWarmUp ? warmUpSeconds : seconds;
    return { [what]: await microsPerRequest(service, url, { seconds: duration, connections, ...others }) };
  };

async function requestCases({ url }: Peer, folder: string): Promise<readonly Measure[]> {
  const { etag } = await fetchBytes(`${url}/devices`);
  return [
    request("topology, 75 bytes", `${url}/topology`),
    request("300 devices, 148 kB", `${url}/devices`),
    request("the same, gzip", `${url}/devices`, { headers: { "Accept-Encoding": "gzip" } }),
    request("the same, 304", `${url}/devices`, { headers: { "If-None-Match": etag } }),
    request("12,000 hosts, 5 MB", `${url}/hosts`),
    request("a page of 100 hosts", `${url}/hosts?limit=100`),
    request("hosts?ip=, each time another", `${url}/hosts`, {
      distinct: distinctLookups(folder, SHAPE.hosts),
      // The code of a response that is not cached is compiled after some ten thousand requests.
      warmUpSeconds: 5,
    }),
    request("hosts/ID, each time another", `${url}/hosts`, {
      distinct: distinctItems(folder, SHAPE.hosts),
      warmUpSeconds: 3,
    }),
  ];
}

/** Measures changes without a stream, then with streams; the difference is the cost of their events. */
const measureChanges: Measure = async (service) => {
  service.send("resume\n");
  const change = await microsPerChange(service);
  const target = `hosts?format=events&since=${await revisionOf(service)}`;
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openEventStream(service, target)));
  try {
    const withStreams = await microsPerChange(service);
    return { "one change": change, [`one event of ${STREAMS} streams`]: (withStreams - change) / STREAMS };
  } finally {
    service.send("pause\n");
    for (const stream of streams) stream.destroy();
  }
};

async function microsPerChange(service: Peer): Promise<number> {
  const [revision, cpu] = [await revisionOf(service), service.cpuSeconds()];
  await Bun.sleep(CHANGES_MS);
  return ((service.cpuSeconds() - cpu) * 1e6) / ((await revisionOf(service)) - revision);
}

/** The last commit without the scheduler and the accounting of memory. */
export const BEFORE_SLICES = "2b32e04";
const SCANNED_HOSTS = 100_000;
const SCAN_SECONDS = 2;
const READS_AFTER_CHANGES = { gzip: 40, csv: 3 };
const SCAN_CHANGES_PER_SECOND = 10;

export async function measureScans({ folder, before, rounds }: CpuOptions): Promise<Result[]> {
  using earlier = checkOut(before);
  const one = { connections: 1, seconds: SCAN_SECONDS };
  // Awaited here, because the checkout is removed when the function returns.
  return await measureBeside({
    name: "scans",
    before,
    earlier,
    rounds,
    bar: MIN_RATIO,
    shape: { devices: 1000, hosts: SCANNED_HOSTS, churn: "hosts", perSecond: SCAN_CHANGES_PER_SECOND },
    casesOf: async (service) => {
      service.send("pause\n");
      const { url } = service;
      const searches = distinctLookups(folder, SCANNED_HOSTS, "q");
      // The first search builds the index of texts.
      await fetchBytes(`${url}/hosts?q=10.0.0.1&limit=1`);
      return [
        request("q among 100,000 hosts", `${url}/hosts`, { ...one, distinct: searches }),
        request("the first 100 of 100,000 hosts, sorted", `${url}/hosts`, {
          ...one,
          distinct: distinctSorts(folder),
        }),
        // The earlier commit keeps the whole document, so that only a read after a change shows what it costs.
        afterChange(
          "100,000 hosts as CSV after a change",
          `${url}/hosts?format=csv`,
          "identity",
          READS_AFTER_CHANGES.csv,
        ),
        afterChange("100,000 hosts in gzip after a change", `${url}/hosts`, "gzip", READS_AFTER_CHANGES.gzip),
      ];
    },
  });
}

/** Reads after a change or two of a hundred thousand hosts. The cost of the changes is counted, too. */
const afterChange =
  (what: string, url: string, encoding: string, reads: number): Measure =>
  async (service) => {
    service.send("resume\n");
    const cpu = service.cpuSeconds();
    for (let i = 0; i < reads; i++) {
      await Bun.sleep(1000 / SCAN_CHANGES_PER_SECOND + 20);
      await fetchBytes(url, encoding);
    }
    service.send("pause\n");
    return { [what]: ((service.cpuSeconds() - cpu) * 1e6) / reads };
  };
