import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { canonicalIp, canonicalMac, canonicalPort, canonicalVlan, ipKey, ipKeyRange } from "./address.ts";

describe("MAC addresses", () => {
  test.each([
    "AA:BB:CC:0D:0E:0F",
    "aa:bb:cc:0d:0e:0f",
    "aA:Bb:cC:0D:0e:0f",
    "aa-bb-cc-0d-0e-0f",
    "aabb.cc0d.0e0f",
    "aabbcc0d0e0f",
    "aa:bb:cc:d:e:f",
    "aa-bb-cc-d-e-f",
  ])("%s", (text) => {
    expect(canonicalMac(text)).toBe("AA:BB:CC:0D:0E:0F");
  });

  test.each([
    "",
    "aa:bb:cc:dd:ee",
    "aa:bb:cc:dd:ee:ff:00",
    "aa:bb:cc:dd:ee:fg",
    "aabbccddeef",
    "aabb.ccdd.eef",
    "aabb.ccdd:eeff",
    ":aa:bb:cc:dd:ee:ff",
    "aa:bb:cc:dd:ee:ff\n",
    " aa:bb:cc:dd:ee:ff",
    "aaa:bb:cc:dd:ee:f",
  ])("not %j", (text) => {
    expect(canonicalMac(text)).toBeUndefined();
  });
});

describe("IP addresses", () => {
  // The examples of RFC 5952, part by part, and IPv4.
  test.each([
    ["2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"],
    ["2001:db8:0:0:1::1", "2001:db8::1:0:0:1"],
    ["2001:DB8:0:0:1::1", "2001:db8::1:0:0:1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:aaaa:bbbb:cccc:dddd:eeee:AAaA", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["fe80::1ff:fe23:4567:890a", "fe80::1ff:fe23:4567:890a"],
    ["1:2:3:4:5:6::", "1:2:3:4:5:6::"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
    ["::3:4:5:6:7:8", "::3:4:5:6:7:8"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["10.0.0.1", "10.0.0.1"],
  ])("%s is %s", (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical);
  });

  test.each([
    "",
    "10.1",
    "10.0.0.256",
    "10.0.0.01",
    "010.0.0.1",
    "0x0a.0.0.1",
    "10.0.0.1.",
    "10.0.0.1\n",
    "1.2.3.4.5",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    ":::",
    ":1:2:3:4:5:6:7:8",
    "12345::",
    "g::",
    "10.0.0.0/8",
    "localhost",
  ])("not %j", (text) => {
    expect(canonicalIp(text)).toBeUndefined();
  });

  // Many zeros, because the canonical form compresses them.
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });

  test("any form of an IPv6 address gives the RFC 5952 form, and that form gives itself", () => {
    fc.assert(
      fc.property(groups, fc.boolean(), (parts, upper) => {
        const long = parts.map((part) => part.toString(16).padStart(upper ? 4 : 1, "0")).join(":");
        const expected = ipaddr.IPv6.parse(long).toRFC5952String();
        expect(canonicalIp(upper ? long.toUpperCase() : long)).toBe(expected);
        expect(canonicalIp(expected)).toBe(expected);
      }),
    );
  });

  const v4 = fc.ipV4();
  const v6 = groups.map((parts) => new ipaddr.IPv6(parts).toRFC5952String());
  const bytesOf = (ip: string) => Buffer.from(ipaddr.parse(ip).toByteArray()).toString("hex");

  test("keys have the order of the addresses, IPv4 first", () => {
    const place = (ip: string) => (ip.includes(":") ? "6" : "4") + bytesOf(ip);
    fc.assert(
      fc.property(fc.oneof(v4, v6), fc.oneof(v4, v6), (a, b) => {
        expect(ipKey(a) < ipKey(b)).toBe(place(a) < place(b));
        expect(ipKey(a) === ipKey(b)).toBe(place(a) === place(b));
      }),
    );
  });

  test("the range of a block contains exactly the addresses with its prefix", () => {
    const near = fc.integer({ min: 0, max: 128 });
    fc.assert(
      fc.property(fc.oneof(v4, v6), near, near, (ip, prefix, flipped) => {
        const bytes = ipaddr.parse(ip).toByteArray();
        const bits = Math.min(prefix, bytes.length * 8);
        const at = flipped % (bytes.length * 8);
        bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (0x80 >> (at & 7));
        const other = ipaddr.fromByteArray(bytes);
        const key = ipKey(other instanceof ipaddr.IPv6 ? other.toRFC5952String() : other.toString());
        const range = ipKeyRange(`${ip}/${bits}`);
        expect(range !== undefined && range.from <= ipKey(ip) && ipKey(ip) <= range.to).toBe(true);
        expect(range !== undefined && range.from <= key && key <= range.to).toBe(at >= bits);
      }),
    );
  });

  test.each([
    ["10.1.2.3", "10.1.2.3", "10.1.2.3"],
    ["10.1.2.3/32", "10.1.2.3", "10.1.2.3"],
    ["10.1.2.3/24", "10.1.2.0", "10.1.2.255"],
    ["10.1.2.3/13", "10.0.0.0", "10.7.255.255"],
    ["10.1.2.3/0", "0.0.0.0", "255.255.255.255"],
    ["2001:DB8::1/128", "2001:db8::1", "2001:db8::1"],
    ["2001:db8::1/33", "2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"],
    ["2001:db8::1/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ])("%s is the range from %s to %s", (block, from, to) => {
    expect(ipKeyRange(block)).toEqual({ from: ipKey(from), to: ipKey(to) });
  });

  test.each(["10.1.2.3/33", "::/129", "10.1.2.3/", "10.1.2.3/-1", "10.1.2.3/8/8", "/8", "10.1/8", "::/1e1"])(
    "%s is not a block",
    (block) => {
      expect(ipKeyRange(block)).toBeUndefined();
    },
  );
});

test.each([
  [null, "None"],
  [undefined, "None"],
  ["", "None"],
  ["-1", "None"],
  [-1, "None"],
  ["none", "None"],
  [" NONE ", "None"],
  ["any", "Any"],
  ["1", "1"],
  ["0010", "10"],
  [4094, "4094"],
  [0, undefined],
  [4095, undefined],
  ["1.5", undefined],
  ["ten", undefined],
  ["0x10", undefined],
] as const)("VLAN %j is %j", (given, canonical) => {
  expect(canonicalVlan(given)).toBe(canonical);
});

test.each([
  ["1", "1"],
  [7, "7"],
  ["007", "7"],
  [4294967295, "4294967295"],
  ["LOCAL", "local"],
  ["local ", "local"],
  ["CONTROLLER", "controller"],
  ["[eth1](07)", "7"],
  ["[a](b](1)", "1"],
  ["[eth1]()", undefined],
  ["", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["eth0", undefined],
  ["12345678901", undefined],
] as const)("port %j is %j", (given, canonical) => {
  expect(canonicalPort(given)).toBe(canonical);
});
