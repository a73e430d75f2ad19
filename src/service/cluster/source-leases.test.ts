/** Which sources a node may run: when its log can take nothing more, and when another node runs fewer. */
import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { silentLogger } from "../../lib/logger.ts";
import { SourceLeases, sourceToGiveUp } from "./source-leases.ts";

test("a node that can write nothing more gives its source up, and takes no lease again", async () => {
  const blocked = new AbortController();
  const log = { blocked: blocked.signal, takeOver: async () => true };
  const events: string[] = [];
  const acquire = async () => {
    events.push("acquired");
    const release = async () => void events.push("released");
    return { ended: new AbortController().signal, isValid: () => true, release };
  };
  const leases = new SourceLeases(
    { acquire, holderOf: () => undefined },
    log,
    new ManualClock(),
    silentLogger,
  );
  const stop = new AbortController();
  const permit = await leases.permitFor("a", stop.signal);
  expect(permit?.lost.aborted).toBe(false);
  blocked.abort();
  expect(permit?.lost.aborted).toBe(true);
  await permit?.release();
  const waiting = Promise.withResolvers<void>();
  const next = leases.permitFor("a", stop.signal, waiting.resolve);
  await waiting.promise;
  stop.abort();
  expect(await next).toBeUndefined();
  expect(events).toEqual(["acquired", "released"]);
});

test("a source that is given up is left to other nodes for a while", async () => {
  const clock = new ManualClock();
  const log = { blocked: new AbortController().signal, takeOver: async () => true };
  let acquired = 0;
  const acquire = async () => {
    acquired++;
    return { ended: new AbortController().signal, isValid: () => true, release: async () => {} };
  };
  const leases = new SourceLeases({ acquire, holderOf: () => undefined }, log, clock, silentLogger);
  const { signal } = new AbortController();
  const permit = await leases.permitFor("a", signal);
  leases.giveUp("a");
  expect(permit?.lost.aborted).toBe(true);
  const next = leases.permitFor("a", signal);
  await clock.advance(4_999);
  expect(acquired).toBe(1);
  await clock.advance(1);
  expect((await next)?.lost.aborted).toBe(false);
  expect(acquired).toBe(2);
});

test("a node gives a source up for one that runs two fewer, has it, is well and up for a minute", () => {
  const now = 1_000_000;
  const other = {
    node: "b",
    sources: ["x", "y"],
    held: [],
    startedAt: now - 60_000,
    lostSince: undefined,
  };
  const given = (more: Partial<Parameters<typeof sourceToGiveUp>[2][number]>, held = ["of", "x", "y"]) =>
    sourceToGiveUp("a", held, [{ ...other, ...more }], (source) => source !== "of", now);
  expect(given({})).toBe("x");
  expect(given({ sources: ["of", "y"] })).toBe("y");
  expect(given({ held: ["z"] })).toBe("x");
  expect(given({ held: ["z", "w"] })).toBeUndefined();
  expect(given({}, ["x"])).toBeUndefined();
  expect(given({ sources: ["of"] })).toBeUndefined();
  expect(given({ trouble: "NATS is unreachable" })).toBeUndefined();
  expect(given({ lostSince: now - 20_000 })).toBeUndefined();
  expect(given({ startedAt: now - 59_999 })).toBeUndefined();
  expect(given({ node: "a" })).toBeUndefined();
});
