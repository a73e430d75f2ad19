import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../lib/clock.ts";
import { addressKey, createThrottle } from "./throttle.ts";

const OPTIONS = { burst: 3, refillMs: 1000, maxAddresses: 3 };

describe("throttle", () => {
  test("allows a burst, then one a second", async () => {
    const clock = new ManualClock();
    const throttle = createThrottle(clock, OPTIONS);
    const consume = () => throttle.consume("192.0.2.1");
    expect([consume(), consume(), consume(), consume()]).toEqual([0, 0, 0, 1000]);
    await clock.advance(400);
    expect(consume()).toBe(600);
    await clock.advance(600);
    expect([consume(), consume()]).toEqual([0, 1000]);
    await clock.advance(3_600_000);
    expect([consume(), consume(), consume(), consume()]).toEqual([0, 0, 0, 1000]);
  });

  test("each address has its own tokens, and a refunded token can be consumed again", () => {
    const throttle = createThrottle(new ManualClock(), OPTIONS);
    for (let i = 0; i < 10; i++) {
      expect(throttle.consume("192.0.2.1")).toBe(0);
      throttle.refund("192.0.2.1");
    }
    for (let i = 0; i < 3; i++) throttle.consume("192.0.2.1");
    expect(throttle.consume("192.0.2.1")).toBeGreaterThan(0);
    expect(throttle.consume("192.0.2.2")).toBe(0);
  });

  test("a clock set back neither adds tokens nor removes any", async () => {
    const clock = new ManualClock();
    const throttle = createThrottle(clock, OPTIONS);
    for (let i = 0; i < 3; i++) throttle.consume("192.0.2.1");
    clock.setBy(-500_000);
    expect(throttle.consume("192.0.2.1")).toBe(1000);
    await clock.advance(1000);
    expect(throttle.consume("192.0.2.1")).toBe(0);
  });

  test("tracks a bounded number of addresses and evicts the least recently used", () => {
    const throttle = createThrottle(new ManualClock(), OPTIONS);
    for (let i = 0; i < 3; i++) throttle.consume("192.0.2.1");
    for (let i = 2; i < 200; i++) {
      throttle.consume(`192.0.2.${i}`);
      expect(throttle.consume("192.0.2.1")).toBeGreaterThan(0);
    }
  });
});

describe("addresses that share tokens", () => {
  const cases: [a: string, b: string, same: boolean][] = [
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.1", "::ffff:192.0.2.1", true],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2", false],
    ["2001:db8::1", "2001:db8::ffff:1", true],
    ["2001:db8::1", "2001:db8:0:1::1", false],
    ["fe80::1%eth0", "fe80::2", true],
    ["not an address", "not an address", true],
  ];
  for (const [a, b, same] of cases) {
    test(`${a} and ${b}: ${same ? "one key" : "two keys"}`, () =>
      expect(addressKey(a) === addressKey(b)).toBe(same));
  }
});
