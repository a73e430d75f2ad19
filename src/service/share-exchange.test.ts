import { expect, test } from "bun:test";
import { ShareExhausted, Shares } from "../api/limits/shares.ts";
import { ManualClock } from "../lib/clock.ts";
import { ShareExchange, type ShareReader } from "./share-exchange.ts";

const NO_LIMITS = { requestsPerSecond: 1000, streamsPerUser: 1000, connections: 1000 };

/** A reader whose messages pass through a queue, as through a pipe. */
function addReader(exchange: ShareExchange, clock: ManualClock, isAnswering = () => true) {
  let messages = 0;
  const post = (deliver: () => void) => {
    messages++;
    queueMicrotask(deliver);
  };
  const reader: ShareReader = {
    sendGrant: (grant) => post(() => shares.grant(grant)),
    sendRecall: ({ kind, key }) =>
      post(() => {
        if (isAnswering()) exchange.onReturned(reader, shares.recall(kind, key));
      }),
  };
  const shares = new Shares(
    {
      maxBatch: 256,
      request(units) {
        post(() => void exchange.onRequest(reader, units));
        return undefined;
      },
      giveBack: (returned) => post(() => exchange.onReturned(reader, returned)),
    },
    clock,
  );
  exchange.add(reader);
  return { shares, reader, messages: () => messages };
}

async function attempt(shares: Shares, admit: () => boolean): Promise<boolean> {
  try {
    return admit();
  } catch (error) {
    if (!(error instanceof ShareExhausted)) throw error;
    return shares.retry(error, () => attempt(shares, admit));
  }
}

const takeRequest = (shares: Shares) => attempt(shares, () => shares.takeRequest("ann"));

const openStream = (shares: Shares) =>
  attempt(shares, () => {
    const isAdmitted = shares.admitsStream("ann");
    if (isAdmitted) shares.countStream("ann", 1);
    return isAdmitted;
  });

const countTrue = async (results: Iterable<Promise<boolean>>) =>
  (await Promise.all(results)).filter(Boolean).length;

const repeat = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

function threeProcesses(limits: Partial<typeof NO_LIMITS>) {
  const clock = new ManualClock();
  const exchange = new ShareExchange({ ...NO_LIMITS, ...limits }, clock);
  const readers = repeat(2, () => addReader(exchange, clock));
  return { clock, exchange, readers, all: [exchange.shares, ...readers.map(({ shares }) => shares)] };
}

test("streams that are opened in all processes at the same time are exactly as many as the limit", async () => {
  const { all } = threeProcesses({ streamsPerUser: 10 });
  const opened = repeat(60, (n) => openStream(all[n % 3] ?? all[0] ?? fail()));
  expect(await countTrue(opened)).toBe(10);
});

test("one process gets the whole limit, also when others hold an unused part of it", async () => {
  const { clock, all } = threeProcesses({ streamsPerUser: 10 });
  for (const shares of all) {
    expect(await countTrue(repeat(12, () => openStream(shares)))).toBe(10);
    for (let n = 0; n < 10; n++) shares.countStream("ann", -1);
    await clock.advance(100);
  }
});

test("slots of a reader that ends are free for the others", async () => {
  const { clock, exchange, readers } = threeProcesses({ streamsPerUser: 3 });
  const [first] = readers;
  if (!first) throw new Error("no reader");
  expect(await countTrue(repeat(3, () => openStream(first.shares)))).toBe(3);
  expect(await openStream(exchange.shares)).toBe(false);
  exchange.remove(first.reader);
  await clock.advance(100);
  expect(await countTrue(repeat(4, () => openStream(exchange.shares)))).toBe(3);
});

test("a reader that does not answer a recall delays the answer for a second, and keeps what it has", async () => {
  const clock = new ManualClock();
  const exchange = new ShareExchange({ ...NO_LIMITS, streamsPerUser: 1 }, clock);
  const stuck = addReader(exchange, clock, () => false);
  expect(await openStream(stuck.shares)).toBe(true);
  const other = openStream(exchange.shares);
  await clock.advance(1000);
  expect(await other).toBe(false);
});

test("requests in all processes never exceed a bucket and its refill", async () => {
  const { clock, all } = threeProcesses({ requestsPerSecond: 100 });
  let allowed = 0;
  for (let ms = 0; ms <= 5000; ms += 250) {
    allowed += await countTrue(repeat(150, (n) => takeRequest(all[(n + ms) % 3] ?? all[0] ?? fail())));
    expect(allowed).toBeLessThanOrEqual(100 + ms / 10);
    await clock.advance(250);
  }
  expect(allowed).toBeGreaterThanOrEqual(590);
});

test("tokens that a reader holds do not add to a full bucket; those it reports as spent are refilled", async () => {
  const { clock, exchange, readers } = threeProcesses({ requestsPerSecond: 100 });
  const shares = readers[0]?.shares ?? fail();
  const burst = async () => {
    const here = await countTrue(repeat(200, () => takeRequest(exchange.shares)));
    return here + (await countTrue(repeat(200, () => takeRequest(shares))));
  };
  // The last batch of the reader, 32, is larger than what it spends of it, 9. Those 9 are not reported.
  for (let n = 0; n < 40; n++) expect(await takeRequest(shares)).toBe(true);
  await clock.advance(10_000);
  expect(await burst()).toBe(100 - 9);
  await clock.advance(10_000);
  for (let n = 0; n < 40; n++) expect(await takeRequest(shares)).toBe(true);
  const stop = new AbortController();
  const reports = shares.runReports(stop.signal);
  await clock.advance(10_000);
  expect(await burst()).toBe(100);
  stop.abort();
  await reports;
});

test("requests within a share need no message, and refused ones need few", async () => {
  const { readers } = threeProcesses({ requestsPerSecond: 1000 });
  const reader = readers[0] ?? fail();
  for (let n = 0; n < 900; n++) await takeRequest(reader.shares);
  expect(reader.messages()).toBeLessThan(50);
  for (let n = 0; n < 10_000; n++) await takeRequest(reader.shares);
  expect(reader.messages()).toBeLessThan(60);
});

test("a limit that is lowered applies to what processes hold unused", async () => {
  const limits = { ...NO_LIMITS, streamsPerUser: 100 };
  const clock = new ManualClock();
  const exchange = new ShareExchange(limits, clock);
  const { shares } = addReader(exchange, clock);
  expect(await countTrue(repeat(20, () => openStream(shares)))).toBe(20);
  limits.streamsPerUser = 21;
  shares.giveBackUnused();
  expect(await countTrue(repeat(20, () => openStream(shares)))).toBe(1);
});

test("requests in flight that wait for an answer do not count against each other", async () => {
  const { exchange, readers } = threeProcesses({ connections: 4 });
  const shares = readers[0]?.shares ?? fail();
  let inFlight = 0;
  shares.countInFlight = () => inFlight;
  const admit = async () => {
    let own = 0;
    const admitted = attempt(shares, () => shares.admitsInFlight(inFlight - own));
    inFlight++;
    own = 1;
    const isAdmitted = await admitted;
    if (!isAdmitted) inFlight--;
    return isAdmitted;
  };
  expect(await countTrue(repeat(10, admit))).toBe(4);
  expect(inFlight).toBe(4);
  expect(await attempt(exchange.shares, () => exchange.shares.admitsInFlight(0))).toBe(false);
});

function fail(): never {
  throw new Error("no such process");
}
