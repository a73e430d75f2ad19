/**
 * The guarantee of the change stream: a client that lists and then watches ends with exactly the service's view and
 * receives every change exactly once, while connections break at random bytes and the service is killed and restarted
 * under heavy churn. The second test drops one event on purpose, to prove that the check detects a lost event.
 */
import { expect, test } from "bun:test";
import { type Client, createClient, type Fetch } from "../../src/client/client.ts";
import { IDLE_TIMEOUT_MS } from "../../src/client/transport.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { Kind } from "../../src/model/ids.ts";
import { createRandom } from "../../src/sources/demo/demo-random.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { startChaosProxy } from "./chaos-proxy.ts";
import { createEventDropper, type EventDropper } from "./event-dropper.ts";
import { changeText, StreamChecker } from "./stream-checker.ts";

const CREDENTIALS = "reader:secret";
const NETWORK = "devices=20,seed=7";
const HOSTS = 200;
const CHURN = 200;
/** A round lasts until all of these were reached, however long that takes on a slow machine. */
const ROUND = { revisions: 15, changes: 100, broken: 1 };
/** Only for hangs: on an idle machine a round takes about a second. */
const ROUND_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;

/**
 * The limits are distributed evenly in their logarithm: many are small, and some pass a whole snapshot (360 kB). The
 * largest is reached in about 20 s of changes, so that no round waits long for a connection to break.
 */
const MIN_CONNECTION_BYTES = 1024;
const MAX_CONNECTION_BYTES = 2 * 1024 * 1024;

/**
 * Shortens the backoffs. They protect an overloaded service, and this one has no other clients. So many attempts then
 * fit into the timeouts that one of them gets a large limit.
 */
const FAST_CLOCK: Clock = {
  now: systemClock.now,
  monotonic: systemClock.monotonic,
  sleep: (ms, signal) => systemClock.sleep(ms === IDLE_TIMEOUT_MS ? ms : ms / 100, signal),
};

interface Scenario {
  readonly seed: number;
  readonly rounds: number;
  /** Filters every stream and drops a change of the last revision, so that no later change can hide the loss. */
  readonly dropper?: EventDropper;
}
interface Outcome {
  /** Empty when the guarantee held. */
  readonly violations: readonly string[];
  readonly changes: number;
  readonly broken: number;
}

async function runScenario({ seed, rounds, dropper }: Scenario): Promise<Outcome> {
  const draw = createRandom(seed);
  const random = () => draw.below(2 ** 31) / 2 ** 31;
  const data = temporaryFolder();
  const proxy = await startChaosProxy(
    () => MIN_CONNECTION_BYTES * (MAX_CONNECTION_BYTES / MIN_CONNECTION_BYTES) ** random(),
  );
  const start = async (churn: number, hosts = HOSTS): Promise<Service> => {
    const demo = `${NETWORK},hosts=${hosts},churn=${churn}`;
    const args = ["--data", data, "--demo", demo];
    const service = await startService({ args, credentials: CREDENTIALS });
    proxy.forwardTo(service.url);
    return service;
  };
  let service = await start(CHURN);
  const settings = { url: proxy.url, credentials: CREDENTIALS, clock: FAST_CLOCK, random };
  const client = createClient(dropper ? { ...settings, fetch: droppingFetch(dropper) } : settings);
  const abort = new AbortController();
  const everything = new StreamChecker("topology");
  const lists = (["devices", "links", "hosts"] as const).map((kind) => ({
    kind,
    checker: new StreamChecker(kind),
  }));
  const checkers = [everything, ...lists.map(({ checker }) => checker)];
  const running = Promise.all([
    everything.watch(client, abort.signal),
    ...lists.map(({ kind, checker }) => checker.listThenWatch(kind, client, abort.signal)),
  ]);
  // Rejects immediately when a watch fails.
  const wait = (condition: () => boolean | Promise<boolean>, what: string) =>
    Promise.race([until(condition, { what, deadlineMs: ROUND_TIMEOUT_MS }), running]);
  const stop = async () => {
    proxy.forwardTo(undefined);
    if (random() < 0.5) await service.kill();
    else await service.stop();
  };
  const direct = () => createClient({ url: service.url, credentials: CREDENTIALS });
  const waitUntilAllCaughtUp = async () => {
    await wait(async () => (await direct().ready()).status === "ready", "the source's first claims");
    for (const checker of checkers) {
      await wait(() => isCaughtUp(direct(), checker), `all of ${checker.target}`);
    }
  };

  try {
    for (let round = 1; round <= rounds; round++) {
      const revisions = (everything.cache.revision ?? 0) + ROUND.revisions;
      const changes = everything.history.length + ROUND.changes;
      const broken = proxy.broken + ROUND.broken;
      await wait(() => (everything.cache.revision ?? 0) >= revisions, `revision ${revisions}`);
      await wait(() => everything.history.length >= changes, `${changes} changes`);
      await wait(() => proxy.broken >= broken, `${broken} broken connections`);
      await stop();
      service = await start(round === rounds ? 0 : CHURN);
    }
    await waitUntilAllCaughtUp();
    if (dropper) {
      // Not earlier: if a checker is behind, a later change of the same host can hide the dropped one.
      dropper.arm();
      await stop();
      service = await start(0, 2 * HOSTS);
      await waitUntilAllCaughtUp();
    }
    const violations = await Promise.all(checkers.map((checker) => findViolations(direct(), checker)));
    return { violations: violations.flat(), changes: everything.history.length, broken: proxy.broken };
  } finally {
    abort.abort();
    await running.catch(() => {});
    await service.kill();
  }
}

async function isCaughtUp(direct: Client, { target, cache }: StreamChecker): Promise<boolean> {
  if (cache.revision === undefined) return false;
  return (await direct.changes(target, cache.revision)).changes.length === 0;
}

/** Compares the cache with the lists of the service, and the history with its changes, byte for byte. */
async function findViolations(direct: Client, checker: StreamChecker): Promise<string[]> {
  const violations = checker.violations.map((violation) => `${checker.target}: ${violation}`);
  for (const kind of checker.kinds) {
    const body = await (await direct.raw(pathOf(kind))).text();
    if (checker.listBody(kind) !== body) violations.push(`${checker.target}: the view of ${kind} differs`);
  }
  const { changes } = await direct.changes(checker.target, checker.firstRevision ?? 0);
  const expected = changes.map((change) => changeText(change.event, change));
  if (expected.join("\n") !== checker.history.join("\n")) {
    violations.push(
      `${checker.target}: received ${checker.history.length} of ${expected.length} changes, or others`,
    );
  }
  return violations;
}

const pathOf = (kind: Kind): string => (kind === "ports" ? "devices/ports" : kind);

function droppingFetch(dropper: EventDropper): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!response.body || !isStream) return response;
    return new Response(response.body.pipeThrough(dropper.createTransform()), response);
  };
}

/** `GAZETTEER_SEED=… npm test -- convergence` repeats a failed run. */
const seed = Number(Bun.env.GAZETTEER_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(
  "through broken connections and restarts, a client ends with exactly the service's view",
  async () => {
    const { violations, changes, broken } = await runScenario({ seed, rounds: 3 });
    expect({ seed, violations }).toEqual({ seed, violations: [] });
    expect(changes).toBeGreaterThan(250);
    expect(broken).toBeGreaterThan(2);
  },
  TEST_TIMEOUT_MS,
);

test(
  "the check detects a single lost event",
  async () => {
    const dropper = createEventDropper();
    const { violations } = await runScenario({ seed, rounds: 1, dropper });
    expect(dropper.dropped).toBeDefined();
    expect({ seed, violations }).not.toEqual({ seed, violations: [] });
    expect(violations.join("\n")).toMatch(/view of \w+ differs/);
    expect(violations.join("\n")).toMatch(/received \d+ of \d+ changes/);
  },
  TEST_TIMEOUT_MS,
);
