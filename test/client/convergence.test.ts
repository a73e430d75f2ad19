/**
 * The promise of the change stream, put to the test: whoever lists and then follows ends with exactly the service's
 * view, and has been told every change exactly once, though connections break at random bytes and the service is
 * killed and restarted in the middle of heavy churn. A judge that cannot see a lost event is worth nothing, so one is
 * lost on purpose, and the judge must say so.
 */
import { expect, test } from "bun:test";
import { type Client, createClient, type Fetch } from "../../src/client/client.ts";
import { IDLE_TIMEOUT_MS } from "../../src/client/transport.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { Kind } from "../../src/model/ids.ts";
import { createRandom } from "../../src/sources/demo/random.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { startChaosProxy } from "./chaos-proxy.ts";
import { createThief, type Thief } from "./event-dropper.ts";
import { changeText, Follower } from "./stream-checker.ts";

const CREDENTIALS = "reader:secret";
const NETWORK = "devices=20,seed=7";
const HOSTS = 200;
const CHURN = 200;
/** A round lasts until it has had all of these, however long that takes on a slow machine. */
const ROUND = { revisions: 15, changes: 100, broken: 1 };
/** These end a hang; on a free machine a round takes about a second. */
const ROUND_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;

/**
 * Limits of connections are even in their logarithm: many are small, and some let a whole snapshot (360 kB) through.
 * The largest is reached in some 20 s of changes, so that no round waits long for a connection to break.
 */
const MIN_CONNECTION_BYTES = 1024;
const MAX_CONNECTION_BYTES = 2 * 1024 * 1024;

/**
 * Pauses protect a service in trouble; this one has no other users. As short as this, so many attempts fit into the
 * timeouts that one of them gets a large limit.
 */
const HURRIED: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms === IDLE_TIMEOUT_MS ? ms : ms / 100, signal),
};

interface Ordeal {
  readonly seed: number;
  readonly rounds: number;
  /** Sees every stream, and takes a change of the last revision there is: no later one can cover the loss. */
  readonly thief?: Thief;
}
interface Outcome {
  /** What the judge found wrong; nothing when the promise was kept. */
  readonly complaints: readonly string[];
  readonly changes: number;
  readonly broken: number;
}

async function ordeal({ seed, rounds, thief }: Ordeal): Promise<Outcome> {
  const draw = createRandom(seed);
  const random = () => draw.below(2 ** 31) / 2 ** 31;
  const data = temporaryFolder();
  const proxy = await startChaosProxy(
    () => MIN_CONNECTION_BYTES * (MAX_CONNECTION_BYTES / MIN_CONNECTION_BYTES) ** random(),
  );
  const start = async (churn: number, hosts = HOSTS): Promise<Service> => {
    const demo = `${NETWORK},hosts=${hosts},churn=${churn}`;
    const args = ["--data", data, "--demo", demo, "--log-level", "error"];
    const service = await startService({ args, credentials: CREDENTIALS });
    proxy.forwardTo(service.url);
    return service;
  };
  let service = await start(CHURN);
  const settings = { url: proxy.url, credentials: CREDENTIALS, clock: HURRIED, random };
  const client = createClient(thief ? { ...settings, fetch: robbed(thief) } : settings);
  const abort = new AbortController();
  const everything = new Follower("topology");
  const lists = (["devices", "links", "hosts"] as const).map((kind) => ({
    kind,
    follower: new Follower(kind),
  }));
  const followers = [everything, ...lists.map(({ follower }) => follower)];
  const running = Promise.all([
    everything.follow(client, abort.signal),
    ...lists.map(({ kind, follower }) => follower.listThenFollow(kind, client, abort.signal)),
  ]);
  // A watch that fails ends the wait for it at once.
  const wait = (condition: () => boolean | Promise<boolean>, what: string) =>
    Promise.race([until(condition, { what, deadlineMs: ROUND_TIMEOUT_MS }), running]);
  const stop = async () => {
    proxy.forwardTo(undefined);
    if (random() < 0.5) await service.kill();
    else await service.stop();
  };
  const direct = () => createClient({ url: service.url, credentials: CREDENTIALS });
  const allCaughtUp = async () => {
    await wait(async () => (await direct().ready()).status === "ready", "the source's first claims");
    for (const follower of followers) {
      await wait(() => isCaughtUp(direct(), follower), `all of ${follower.watched}`);
    }
  };

  try {
    for (let round = 1; round <= rounds; round++) {
      const revisions = (everything.mirror.revision ?? 0) + ROUND.revisions;
      const changes = everything.diary.length + ROUND.changes;
      const broken = proxy.broken + ROUND.broken;
      await wait(() => (everything.mirror.revision ?? 0) >= revisions, `revision ${revisions}`);
      await wait(() => everything.diary.length >= changes, `${changes} changes`);
      await wait(() => proxy.broken >= broken, `${broken} broken connections`);
      await stop();
      service = await start(round === rounds ? 0 : CHURN);
    }
    await allCaughtUp();
    if (thief) {
      // Not before: what is taken while a follower is behind can be covered by a later change of the same host.
      thief.arm();
      await stop();
      service = await start(0, 2 * HOSTS);
      await allCaughtUp();
    }
    const complaints = (await Promise.all(followers.map((follower) => judge(direct(), follower)))).flat();
    return { complaints, changes: everything.diary.length, broken: proxy.broken };
  } finally {
    abort.abort();
    await running.catch(() => {});
    await service.kill();
  }
}

async function isCaughtUp(direct: Client, { watched, mirror }: Follower): Promise<boolean> {
  if (mirror.revision === undefined) return false;
  return (await direct.changes(watched, mirror.revision)).changes.length === 0;
}

/** Byte for byte: the follower's view against the lists, its diary against the service's own list of changes. */
async function judge(direct: Client, follower: Follower): Promise<string[]> {
  const complaints = follower.fouls.map((foul) => `${follower.watched}: ${foul}`);
  for (const kind of follower.kinds) {
    const body = await (await direct.raw(pathOf(kind))).text();
    if (follower.body(kind) !== body) complaints.push(`${follower.watched}: the view of ${kind} differs`);
  }
  const { changes } = await direct.changes(follower.watched, follower.from ?? 0);
  const told = changes.map((change) => changeText(change.event, change));
  if (told.join("\n") !== follower.diary.join("\n")) {
    complaints.push(
      `${follower.watched}: told ${follower.diary.length} of ${told.length} changes, or others`,
    );
  }
  return complaints;
}

const pathOf = (kind: Kind): string => (kind === "ports" ? "devices/ports" : kind);

function robbed(thief: Thief): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!response.body || !isStream) return response;
    return new Response(response.body.pipeThrough(thief.passage()), response);
  };
}

/** `GAZETTEER_SEED=… npm test -- convergence` repeats what failed. */
const seed = Number(Bun.env.GAZETTEER_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(
  "through broken connections and restarts, a follower ends with exactly the service's view",
  async () => {
    const { complaints, changes, broken } = await ordeal({ seed, rounds: 6 });
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
    expect(changes).toBeGreaterThan(500);
    expect(broken).toBeGreaterThan(5);
  },
  TEST_TIMEOUT_MS,
);

test(
  "and the test sees it when a single event is lost",
  async () => {
    const thief = createThief();
    const { complaints } = await ordeal({ seed, rounds: 1, thief });
    expect(thief.stolen).toBeDefined();
    expect({ seed, complaints }).not.toEqual({ seed, complaints: [] });
    expect(complaints.join("\n")).toMatch(/view of \w+ differs/);
    expect(complaints.join("\n")).toMatch(/told \d+ of \d+ changes/);
  },
  TEST_TIMEOUT_MS,
);
