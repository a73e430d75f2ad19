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
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/lib/logger.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import { openStorage } from "../../src/service/storage.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { deviceClaim, deviceClaims, hostClaim, hostClaims } from "./network.ts";

interface ServeRequest {
  readonly devices: number;
  readonly hosts: number;
  readonly data: string;
  readonly churn?: "devices" | "hosts";
  readonly perSecond?: number;
}

const requested: ServeRequest = JSON.parse(process.argv[2] ?? "{}");
const flags = { all: (flag: string) => (flag === "data" ? [requested.data] : []) };
const composed = loadConfig({ flags });
if (!composed.ok) throw new Error(composed.faults.map(renderFault).join("; "));
const { config } = composed;
const store = await openStorage(config, observedSources(["bench"]), systemClock, silentLogger);
const users = await openUsers({ environment: "bench:bench", clock: systemClock, logger: silentLogger });
const ingest = new ClaimIngest(store.committer, "bench", silentLogger);
if (store.view.size("hosts") !== requested.hosts || store.view.size("devices") !== requested.devices) {
  await ingest.replace({
    devices: deviceClaims(requested.devices),
    hosts: hostClaims(requested.hosts, requested.devices),
  });
  await store.compactor.compact();
}
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
  clock: systemClock,
  logger: silentLogger,
});

let n = 0;
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

console.log(`ready http://127.0.0.1:${server.port}`);
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
