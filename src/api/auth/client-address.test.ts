import { describe, expect, test } from "bun:test";
import { ClientAddresses } from "./client-address.ts";
import { parseForwarded, parseForwardedFor } from "./forwarded.ts";

const addresses = new ClientAddresses(["10.0.0.0/8", "fd00::/8"]);
function addressOf(
  headers: Readonly<Record<string, string>>,
  remoteAddress = "10.0.0.1",
  isOwnProcess = false,
): string {
  return addresses.clientOf({ header: (name) => headers[name] ?? null }, { remoteAddress, isOwnProcess })
    .address;
}

describe("Forwarded", () => {
  test.each<[string, (string | undefined)[] | undefined]>([
    ["for=192.0.2.1", ["192.0.2.1"]],
    ["For=192.0.2.1;proto=http;by=203.0.113.43", ["192.0.2.1"]],
    ["for=192.0.2.1, for=198.51.100.2", ["192.0.2.1", "198.51.100.2"]],
    ["for=192.0.2.1 ,, for=198.51.100.2,", ["192.0.2.1", "198.51.100.2"]],
    ['for="192.0.2.1:4711"', ["192.0.2.1"]],
    ['for="[2001:DB8::1]:4711"', ["2001:db8::1"]],
    ['for="[2001:db8::1]"', ["2001:db8::1"]],
    ['for="\\1\\9\\2.0.2.1"', ["192.0.2.1"]],
    ['by="a, for=9.9.9.9";for=192.0.2.1', ["192.0.2.1"]],
    ['host="x\\", for=9.9.9.9"; for=192.0.2.1', ["192.0.2.1"]],
    ["for=unknown, for=_gateway, proto=http", [undefined, undefined, undefined]],
    ['for="::ffff:192.0.2.1"', ["192.0.2.1"]],
    ['for="unterminated, for=192.0.2.1', undefined],
    ["for 192.0.2.1", undefined],
    ["for=", undefined],
    ["for=192.0.2.1 for=192.0.2.2", undefined],
    ["", []],
  ])("%s", (header, hops) => expect(parseForwarded(header)).toEqual(hops));

  test("a long hostile header takes linear time", () => {
    for (const part of ['for="', "for=a;", 'a="\\', ",", " "]) parseForwarded(part.repeat(16_000));
  });
});

test("X-Forwarded-For as proxies write it", () => {
  expect(parseForwardedFor("192.0.2.1, 192.0.2.2:80 ,2001:db8::1,[2001:db8::2]:443, unknown, ,x")).toEqual([
    "192.0.2.1",
    "192.0.2.2",
    "2001:db8::1",
    "2001:db8::2",
    undefined,
    undefined,
  ]);
});

describe("the client", () => {
  test("is the peer unless that is a trusted proxy", () => {
    const headers = { forwarded: "for=192.0.2.1", "x-forwarded-for": "192.0.2.2" };
    expect(addressOf(headers, "203.0.113.9")).toBe("203.0.113.9");
    expect(addressOf(headers, "::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(addressOf({}, "10.0.0.1")).toBe("10.0.0.1");
  });

  test("is the rightmost address that is not a trusted proxy", () => {
    expect(addressOf({ "x-forwarded-for": "1.1.1.1, 192.0.2.1, 10.2.2.2" })).toBe("192.0.2.1");
    expect(addressOf({ forwarded: 'for=1.1.1.1, for="[2001:db8::1]", for="[fd00::2]"' })).toBe("2001:db8::1");
    expect(addressOf({ "x-forwarded-for": "10.3.3.3, 10.2.2.2" })).toBe("10.3.3.3");
  });

  test("Forwarded wins over X-Forwarded-For", () => {
    expect(addressOf({ forwarded: "for=192.0.2.1", "x-forwarded-for": "192.0.2.2" })).toBe("192.0.2.1");
  });

  test("is the proxy that does not name it, never what stands further left", () => {
    expect(addressOf({ forwarded: "for=1.1.1.1, for=unknown, for=10.2.2.2" })).toBe("10.2.2.2");
    expect(addressOf({ forwarded: "for=1.1.1.1, for=_hidden" })).toBe("10.0.0.1");
    expect(addressOf({ forwarded: 'for="1.1.1.1, for=10.2.2.2', "x-forwarded-for": "1.1.1.1" })).toBe(
      "10.0.0.1",
    );
    expect(addressOf({ "x-forwarded-for": "1.1.1.1, nonsense" })).toBe("10.0.0.1");
  });

  test("is named by the service's own processes on their socket, and not by whoever has no address", () => {
    expect(addressOf({ forwarded: 'for="[2001:db8::1]"' }, "", true)).toBe("2001:db8::1");
    expect(addressOf({ forwarded: 'for="[2001:db8::1]"' }, "", false)).toBe("");
  });
});
