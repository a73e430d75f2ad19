/**
 * The cost of queries as the network grows: the same queries with 100 devices and with 10,000 devices and 100,000 hosts.
 * With an index the cost depends on the size of the result only, so the ratio should be near 1. Scans are shown for
 * comparison. Run: `bun bench/query.ts`
 */

import { Drawings } from "../src/api/endpoints/drawings.ts";
import { ENDPOINTS } from "../src/api/endpoints/endpoints.ts";
import { listRepresentation } from "../src/api/endpoints/list.ts";
import type { ReadContext } from "../src/api/endpoints/read-context.ts";
import { parseQueryString } from "../src/api/endpoints/read-handler.ts";
import { PLAIN } from "../src/api/onos/dialect.ts";
import { throwIfFault } from "../src/api/response/problem.ts";
import { SharedChunks } from "../src/api/stream/shared-chunks.ts";
import { formatsOf } from "../src/formats/formats.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLogger } from "../src/lib/logger.ts";
import { uncountedMemory } from "../src/lib/memory-budget.ts";
import { Scheduler } from "../src/lib/scheduler.ts";
import { resultOf } from "../src/lib/steps.ts";
import { openEmbeddedLog } from "../src/log/embedded.ts";
import type { Kind } from "../src/model/ids.ts";
import { observedSources } from "../src/model/merge-settings.ts";
import { parseQuery } from "../src/query/parse-query.ts";
import { Problems } from "../src/query/problems/problems.ts";
import { ClaimIngest } from "../src/view/claim-ingest.ts";
import { Committer } from "../src/view/committer.ts";
import { History } from "../src/view/history.ts";
import { View } from "../src/view/view.ts";
import { deviceClaims, hostAddress, hostClaims } from "./api/network.ts";
import { median, table } from "./lib/table.ts";

const SMALL = { devices: 100, hosts: 1_000 };
const LARGE = { devices: 10_000, hosts: 100_000 };
const ROUNDS = 9;
const ROUND_MS = 120;

interface QueryCase {
  readonly what: string;
  readonly list: "devices" | "links" | "hosts";
  /** `n` counts up, so that each query is for another entity and none is cached. */
  readonly query: (n: number, size: typeof SMALL) => string;
  readonly indexed: boolean;
}

const id = (n: number): string => `of:${(n + 1).toString(16).padStart(16, "0")}`;
const mac = (n: number): string => ((n + 1).toString(16).padStart(12, "0").match(/../g) ?? []).join(":");

const QUERY_CASES: readonly QueryCase[] = [
  {
    what: "a device by id",
    list: "devices",
    query: (n, { devices }) => `id=${id(n % devices)}`,
    indexed: true,
  },
  { what: "a host by MAC", list: "hosts", query: (n, { hosts }) => `mac=${mac(n % hosts)}`, indexed: true },
  {
    what: "a host by address",
    list: "hosts",
    query: (n, { hosts }) => `ip=${hostAddress(n % hosts)}`,
    indexed: true,
  },
  {
    what: "hosts in a /28",
    list: "hosts",
    query: (n, { hosts }) => `ip=${hostAddress(n % hosts)}/28`,
    indexed: true,
  },
  {
    what: "hosts at a device",
    list: "hosts",
    query: (n, { devices }) => `device=${id(n % devices)}`,
    indexed: true,
  },
  {
    what: "hosts at a port",
    list: "hosts",
    query: (n, { devices }) => `device=${id(n % devices)}&port=1`,
    indexed: true,
  },
  {
    what: "links of a device",
    list: "links",
    query: (n, { devices }) => `device=${id(n % devices)}`,
    indexed: true,
  },
  {
    what: "devices around one",
    list: "devices",
    query: (n, { devices }) => `around=${id(n % devices)}`,
    indexed: true,
  },
  {
    what: "hosts around a device",
    list: "hosts",
    query: (n, { devices }) => `around=${id(n % devices)}`,
    indexed: true,
  },
  { what: "a page of 50 hosts", list: "hosts", query: () => "limit=50", indexed: true },
  {
    what: "an annotation (scan of bytes)",
    list: "devices",
    query: (n, { devices }) => `annotations.name=switch-${n % devices}`,
    indexed: false,
  },
  {
    what: "any text (scan)",
    list: "hosts",
    query: (n, { hosts }) => `q=${hostAddress(n % hosts)}`,
    indexed: false,
  },
];

async function networkOf({ devices, hosts }: typeof SMALL): Promise<ReadContext> {
  const view = new View();
  const log = openEmbeddedLog(":memory:");
  const committer = new Committer(view, log, systemClock, observedSources(["bench"]));
  const history = new History(committer, 1024 * 1024);
  await new ClaimIngest(committer, "bench", silentLogger).replace({
    devices: deviceClaims(devices),
    links: ring(devices),
    hosts: hostClaims(hosts, devices),
  });
  return {
    view,
    history,
    log,
    scheduler: new Scheduler(),
    problems: new Problems(history, systemClock),
    drawings: new Drawings(),
  };
}

function* ring(devices: number) {
  for (let n = 0; n < devices; n++) {
    const [src, dst] = [
      { device: id(n), port: 47 },
      { device: id((n + 1) % devices), port: 48 },
    ];
    yield { src, dst };
    yield { src: dst, dst: src };
  }
}

/** Microseconds from the text of a query to the bytes of the body. */
function costOf(context: ReadContext, { list, query }: QueryCase, size: typeof SMALL): number {
  const kind: Kind = list;
  const [json] = formatsOf(list);
  const endpoint = ENDPOINTS.find(({ path }) => path === `/${list}`);
  if (!endpoint) throw new Error(`no ${list}`);
  const common = {
    ...context,
    dialect: PLAIN,
    limits: { pageLimit: 10_000, paths: 256 },
    revisions: { at: undefined, since: undefined, diff: undefined },
    awaitRevision: () => {
      throw new Error("no cursor is of a later revision");
    },
    chunks: new SharedChunks(),
  };
  let n = 0;
  const run = () => {
    const text = query(n++ * 7919, size);
    const parsed = throwIfFault(
      parseQuery(parseQueryString(text), endpoint.parameters, { pageLimit: 10_000, acceptsNames: true }),
    );
    const target = `/controller/v1/${list}?${text}`;
    const read = listRepresentation({ ...common, memory: uncountedMemory() }, kind, parsed, json, target);
    const { chunks } = resultOf(resultOf(read).render());
    let bytes = 0;
    for (const chunk of chunks) if (!(chunk instanceof Promise)) bytes += chunk?.length ?? 0;
    return bytes;
  };
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    let times = 0;
    for (; performance.now() - begin < ROUND_MS; times++) run();
    rounds.push(((performance.now() - begin) / times) * 1000);
  }
  return median(rounds);
}

const [small, large] = [await networkOf(SMALL), await networkOf(LARGE)];
const of = ({ devices, hosts }: typeof SMALL) =>
  `${devices.toLocaleString("en-US")} devices, ${hosts.toLocaleString("en-US")} hosts`;
const rows = QUERY_CASES.map((queryCase) => {
  const [few, many] = [costOf(small, queryCase, SMALL), costOf(large, queryCase, LARGE)];
  const cells = [`${few.toFixed(1)} µs`, `${many.toFixed(1)} µs`, (many / few).toFixed(1)];
  return [queryCase.what, queryCase.indexed ? "yes" : "no", ...cells];
});
console.log(table([["query", "index", of(SMALL), of(LARGE), "ratio"], ...rows]));
