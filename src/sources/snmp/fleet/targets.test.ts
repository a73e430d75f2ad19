import { describe, expect, test } from "bun:test";
import { MAX_ADDRESSES, parseTargets } from "../options.ts";

const texts = (...targets: string[]) => {
  const parsed = parseTargets(targets, 161);
  return parsed.ok ? parsed.targets.map(({ text }) => text) : parsed.faults.map(({ message }) => message);
};

describe("targets", () => {
  const cases: [string, string[]][] = [
    ["192.0.2.1", ["192.0.2.1:161"]],
    ["127.0.0.1:1161", ["127.0.0.1:1161"]],
    ["2001:db8::1", ["[2001:db8::1]:161"]],
    ["[2001:DB8:0::1]:1161", ["[2001:db8::1]:1161"]],
    ["fe80::1%eth0", ["[fe80::1%eth0]:161"]],
    ["Switch-1.example:1161", ["switch-1.example:1161"]],
    ["192.0.2.0/30", ["192.0.2.1:161", "192.0.2.2:161"]],
    ["192.0.2.5/30:9", ["192.0.2.5:9", "192.0.2.6:9"]],
    ["192.0.2.4/31", ["192.0.2.4:161", "192.0.2.5:161"]],
    ["192.0.2.4/32", ["192.0.2.4:161"]],
    ["10.0.255.254/31", ["10.0.255.254:161", "10.0.255.255:161"]],
    ["2001:db8::fffe/127", ["[2001:db8::fffe]:161", "[2001:db8::ffff]:161"]],
  ];
  for (const [target, expected] of cases) test(target, () => expect(texts(target)).toEqual(expected));

  test("an address in the list and in a block is one target, of the list", () => {
    const parsed = parseTargets(["192.0.2.0/30", "192.0.2.1", "192.0.2.1"], 161);
    expect(parsed.ok && parsed.targets.map(({ text, listed }) => [text, listed])).toEqual([
      ["192.0.2.1:161", true],
      ["192.0.2.2:161", false],
    ]);
  });

  test("a block of the largest size", () => expect(texts("10.1.0.0/16")).toHaveLength(MAX_ADDRESSES - 2));
});

describe("a target that is none", () => {
  const cases: [string, RegExp][] = [
    ["", /must be ADDRESS, NAME or ADDRESS\/BITS/],
    ["a b", /must be ADDRESS/],
    ["300.1.1.1", /must be ADDRESS/],
    ["10.1", /must be ADDRESS/],
    ["udp:host", /must be ADDRESS/],
    ["192.0.2.1:0", /must have a port from 1 to 65535/],
    ["192.0.2.1:70000", /must have a port from 1 to 65535/],
    ["10.0.0.0/8", /must have a prefix of at least 16 bits: at most 65536 addresses/],
    ["2001:db8::/64", /must have a prefix of at least 112 bits/],
    ["192.0.2.0/33", /must have a prefix of at most 32 bits/],
    ["192.0.2.0/x", /must be ADDRESS/],
    ["224.0.0.1", /must be a unicast address/],
    ["255.255.255.255", /must be a unicast address/],
    ["239.0.0.0/28", /must be a block of unicast addresses/],
  ];
  for (const [target, message] of cases) {
    test(target, () => expect(texts(target)).toEqual([expect.stringMatching(message)]));
  }

  test("blocks together are bounded", () => {
    expect(texts("10.1.0.0/16", "10.2.0.0/30")).toHaveLength(MAX_ADDRESSES);
    expect(texts("10.1.0.0/16", "10.2.0.0/29")).toEqual([expect.stringMatching(/exceeds 65536 addresses/)]);
  });
});
