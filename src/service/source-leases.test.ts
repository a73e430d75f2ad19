/** Which sources a node may run, when its log can take nothing more. */
import { expect, test } from "bun:test";
import { silentLogger } from "../lib/logger.ts";
import { SourceLeases } from "./source-leases.ts";

test("a node that can write nothing more gives its source up, and takes no lease again", async () => {
  const blocked = new AbortController();
  const log = { blocked: blocked.signal, takeOver: async () => true };
  const events: string[] = [];
  const acquire = async () => {
    events.push("acquired");
    const release = async () => void events.push("released");
    return { ended: new AbortController().signal, isValid: () => true, release };
  };
  const leases = new SourceLeases({ acquire, holderOf: () => undefined }, log, silentLogger);
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
