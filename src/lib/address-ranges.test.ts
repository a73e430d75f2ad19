import { expect, test } from "bun:test";
import { AddressRanges, isAddressRange } from "./address-ranges.ts";

test("a range is an address or a CIDR block", () => {
  for (const text of ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::ffff:10.0.0.0/104"])
    expect([text, isAddressRange(text)]).toEqual([text, true]);
  for (const text of [
    "",
    "10",
    "10.1",
    "0x7f000001",
    "10.0.0.0/33",
    "10.0.0.0/",
    "::/129",
    "fe80::1%eth0",
    "host",
    "::ffff:10.0.0.0/90",
  ])
    expect([text, isAddressRange(text)]).toEqual([text, false]);
});

test("addresses are matched by their family; mapped ones are IPv4", () => {
  const ranges = new AddressRanges(["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::ffff:172.16.0.0/108"]);
  for (const text of ["10.255.0.1", "::ffff:10.1.2.3", "192.0.2.7", "fd12::1", "fd12::1%eth0", "172.31.0.1"])
    expect([text, ranges.includes(text)]).toEqual([text, true]);
  for (const text of ["11.0.0.1", "192.0.2.8", "fe80::1", "unknown", "", "172.32.0.1", "10.1"])
    expect([text, ranges.includes(text)]).toEqual([text, false]);
});
