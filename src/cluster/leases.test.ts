/** The times of leases: what they add up to, whatever the machine. */
import { expect, test } from "bun:test";
import { attemptTimeoutMs, marginMs, renewAfterMs, retryAfterMs, TTL_MS } from "./leases.ts";

/** Without a leader of the stream, as measured. */
const FAIL_OVER_MS = 12_000;
const MAX_TAKEOVER_MS = 20_000;
/** NATS removes what has expired a little later, the takeover is a round trip, and processes wait for a processor. */
const OTHER_MS = 2_000;

test("a source of a node that was killed is taken over within 20 s", () => {
  // Killed right after a renewal. The waiting node tries when the TTL has passed; when that is too early, once more.
  const longestMs = TTL_MS + retryAfterMs(TTL_MS) + attemptTimeoutMs(TTL_MS) + OTHER_MS;
  expect(longestMs).toBeLessThanOrEqual(MAX_TAKEOVER_MS);
});

test("a fail-over of the engine moves no source", () => {
  // It begins right before a renewal, and the last attempt must be answered before the node gives the lease up.
  const shortestMs = TTL_MS - renewAfterMs(TTL_MS) - retryAfterMs(TTL_MS) - attemptTimeoutMs(TTL_MS);
  expect(shortestMs - marginMs(TTL_MS)).toBeGreaterThanOrEqual(FAIL_OVER_MS);
});
