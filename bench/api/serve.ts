/**
 * The service under measurement: the real log, view and server, with exactly the network and the changes that a case
 * needs. Runs in a process of its own, pinned to a core.
 *
 *   bun bench/api/serve.ts '{"devices":300,"hosts":10000,"churn":"hosts","perSecond":100,"data":":memory:"}'
 *
 * Prints `ready URL` when the network is loaded. On standard input, `apply N` applies N host changes in batches of 1,000
 * and prints `applied MILLISECONDS`; `pause` and `resume` stop and start the changes, so that a service that is not being
 * measured uses no CPU.
 */

import { createAuthenticator } from "../../src/api/auth/authenticate.ts";
import { openUsers } from "../../src/api/auth/users.ts";
import { Drawings } from "../../src/api/endpoints/drawings.ts";
import { openServer } from "../../src/api/server.ts";
import { loadConfig } from "../../src/config/config.ts";
import { renderFault } from "../../src/config/faults.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import { openStorage } from "../../src/service/storage.ts";
import { openTlsFiles } from "../../src/service/tls-files.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { deviceClaim, deviceClaims, hostClaim, hostClaims } from "./network.ts";
import type { Shape } from "./peers.ts";

const DAY_MS = 86_400_000;
const PAST_BATCH = 100;
const PAST_BATCHES_PER_COMPACTION = 10;
/** Number of changes made. */
let n = 0;

const requested: Shape & { readonly data: string } = JSON.parse(process.argv[2] ?? "{}");
const { data, tls } = requested;
const given: Record<string, string> = { data, ...(tls && { "tls-cert": tls.cert, "tls-key": tls.key }) };
const flags = { all: (flag: string) => (given[flag] === undefined ? [] : [given[flag]]) };
const composed = loadConfig({ flags });
if (!composed.ok) throw new Error(composed.faults.map(renderFault).join("; "));
const { config } = composed;
/** Behind the system's clock while the past is made. */
let behindMs = (requested.past?.days ?? 0) * DAY_MS;
const clock: Clock = {
  now: () => systemClock.now() - behindMs,
  monotonic: () => systemClock.monotonic(),
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};
const store = await openStorage(config, observedSources(["bench"]), clock, silentLogger);
const users = await openUsers({ environment: "bench:bench", clock: systemClock, logger: silentLogger });
const ingest = new ClaimIngest(store.committer, "bench", silentLogger);
if (store.view.size("hosts") !== requested.hosts || store.view.size("devices") !== requested.devices) {
  await ingest.replace({
    devices: deviceClaims(requested.devices),
    hosts: hostClaims(requested.hosts, requested.devices),
  });
  await store.compactor.compact();
}
if (requested.past) await makePast(requested.past);
const server = openServer({
  host: "127.0.0.1",
  port: 0,
  aliases: [],
  origins: [],
  trustedProxies: [],
  hosts: [],
  limits: { ...config.limits, streamsPerUser: 100_000 },
  version: "bench",
  context: { ...store, problems: new Problems(store.history, systemClock), drawings: new Drawings() },
  authenticator: createAuthenticator({ users, clock: systemClock }),
  users,
  sources: () => [],
  rejectedRecords: () => ({}),
  site: undefined,
  tls: (await openTlsFiles(config, systemClock, silentLogger))?.identity,
  clock: systemClock,
  logger: silentLogger,
});

/** Applies changes evenly over the days before now, and compacts the log as a running service does. */
async function makePast({ changes, days }: NonNullable<Shape["past"]>): Promise<void> {
  const batches = changes / PAST_BATCH;
  for (let i = 0; i < batches; i++) {
    behindMs = days * DAY_MS * (1 - i / batches);
    await ingest.apply(Array.from({ length: PAST_BATCH }, () => change("hosts")));
    if (i % PAST_BATCHES_PER_COMPACTION === 0) await store.compactor.compact();
  }
  behindMs = 0;
}

function change(kind: "devices" | "hosts") {
  n++;
  // A stride that is coprime to the size, so that changes are spread over the collection.
  const at = (n * 7919) % (kind === "devices" ? requested.devices : requested.hosts);
  return kind === "devices"
    ? ({ op: "set", kind, claim: deviceClaim(at, n) } as const)
    : ({ op: "set", kind, claim: hostClaim(at, requested.devices, n) } as const);
}

const { churn, perSecond = 0 } = requested;
let paused = false;
if (churn && perSecond > 0) {
  setInterval(() => {
    if (!paused) ingest.apply([change(churn)]);
  }, 1000 / perSecond);
}

console.log(`ready ${tls ? "https" : "http"}://127.0.0.1:${server.port}`);
for await (const line of console) {
  const [word, count = "0"] = line.split(" ");
  if (word === "pause" || word === "resume") paused = word === "pause";
  if (word !== "apply") continue;
  const began = performance.now();
  for (let done = 0; done < Number(count); done += 1000) {
    await ingest.apply(Array.from({ length: 1000 }, () => change("hosts")));
  }
  console.log(`applied ${performance.now() - began}`);
}
// Standard input is closed: the process that started this one is gone.
process.exit();
