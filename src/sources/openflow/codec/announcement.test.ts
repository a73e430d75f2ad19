import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../../test/support/property.ts";
import { readAnnouncement, writeArpProbe, writeNeighbourSolicitation } from "./announcement.ts";
import { isStationIp, isStationMac, readFrame } from "./ethernet.ts";
import { readLldp } from "./lldp.ts";
import { WireError } from "./wire.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
const parse = (text: string) => readAnnouncement(readFrame(bytes(text)));

const dhcp = (operation: string, type: string, yours: string, ports: string, source = "000000000001") =>
  `ffffffffffff ${source} 0800 45000000 00000000 4011 0000 00000000 ffffffff ${ports} 0000 0000
   ${operation} 01 06 00 0000002a 0000 0000 00000000 ${yours} 00000000 00000000 000000000001
   ${"00".repeat(10 + 64 + 128)} 63825363 0000 35 01 ${type} ff`.replaceAll(/\s/g, "");

describe("announcements", () => {
  const cases: [string, string, ReturnType<typeof parse>][] = [
    [
      "an ARP request",
      "ffffffffffff000000000001080600010800060400010000000000010a0000010000000000000a000002",
      { mac: "00:00:00:00:00:01", ip: "10.0.0.1" },
    ],
    [
      "an ARP request in a VLAN",
      "ffffffffffff0000000000018100200a080600010800060400010000000000010a0000010000000000000a000002",
      { mac: "00:00:00:00:00:01", ip: "10.0.0.1" },
    ],
    [
      "an ARP probe shows no address in use",
      "ffffffffffff000000000001080600010800060400010000000000010000000000000000000000000a000002",
      { mac: "00:00:00:00:00:01" },
    ],
    [
      "duplicate address detection shows no address in use",
      "3333ff9b79366a95419b793686dd6000000000203aff00000000000000000000000000000000ff0200000000000000000001ff9b7936" +
        "87001dfd00000000fe80000000000000689541fffe9b79360e01dfc5528c8196",
      { mac: "6A:95:41:9B:79:36" },
    ],
    [
      "a router solicitation",
      "33330000000200000000000186dd6000000000103afffe80000000000000020000fffe000001ff020000000000000000000000000002" +
        "85007b2c000000000101000000000001",
      { mac: "00:00:00:00:00:01", ip: "fe80::200:ff:fe00:1" },
    ],
    [
      "a neighbour advertisement",
      "00000000000200000000000186dd6000000000203afffe80000000000000020000fffe000001fe800000000000000000000000000002" +
        "880000004000000020010db80000000000000000000000010201000000000001",
      { mac: "00:00:00:00:00:01", ip: "2001:db8::1" },
    ],
    [
      "a multicast listener report is not an announcement",
      "333300000016b25c44927f9d86dd600000000024000100000000000000000000000000000000ff020000000000000000000000000016" +
        "3a000502000001008f00ef5a0000000104000000ff0200000000000000000001ff927f9d",
      undefined,
    ],
    [
      "a DHCP request",
      dhcp("01", "03", "00000000", "00440043"),
      { mac: "00:00:00:00:00:01", dhcpTransaction: 42 },
    ],
    [
      "a DHCP acknowledgement",
      dhcp("02", "05", "0a000007", "00430044", "0000000000fe"),
      { mac: "00:00:00:00:00:FE", lease: { mac: "00:00:00:00:00:01", ip: "10.0.0.7", transaction: 42 } },
    ],
    [
      "a DHCP offer is not a lease",
      dhcp("02", "02", "0a000007", "00430044", "0000000000fe"),
      { mac: "00:00:00:00:00:FE" },
    ],
    ["other UDP", dhcp("01", "03", "00000000", "00440045"), undefined],
  ];
  for (const [name, text, expected] of cases) test(name, () => expect(parse(text)).toEqual(expected));

  const rejected: [string, string][] = [
    [
      "ARP whose sender is not the Ethernet source",
      "ffffffffffff000000000009080600010800060400010000000000010a0000010000000000000a000002",
    ],
    ["truncated ARP", "ffffffffffff00000000000108060001080006040001000000"],
    [
      "neighbour discovery that was routed",
      "33330000000200000000000186dd6000000000103a40fe80000000000000020000fffe000001ff020000000000000000000000000002" +
        "85007b2c000000000101000000000001",
    ],
    [
      "an option without length",
      "33330000000200000000000186dd6000000000103afffe80000000000000020000fffe000001ff020000000000000000000000000002" +
        "85007b2c000000000100000000000001",
    ],
    ["three VLAN tags", "ffffffffffff000000000001810000018100000281000003080600"],
  ];
  for (const [name, text] of rejected) {
    test(`${name} is rejected`, () => expect(() => parse(text)).toThrow(WireError));
  }

  test("arbitrary bytes are read or rejected with a WireError", () => {
    const types = fc.constantFrom("0806", "86dd", "0800", "8100", "88cc");
    fc.assert(
      fc.property(types, fc.uint8Array({ maxLength: 400 }), (type, body) => {
        try {
          const frame = readFrame(bytes(`ffffffffffff000000000001${type}${body.toHex()}`));
          if (type === "88cc") readLldp(frame.payload);
          else readAnnouncement(frame);
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
        }
      }),
      { numRuns: runs(3000) },
    );
  });
});

describe("probe frames to a station", () => {
  const senderMac = "02:67:7A:00:00:01";
  const station = "00:00:00:00:00:01";

  test("an ARP probe has the VLAN of the station", () => {
    const frame = readFrame(writeArpProbe(senderMac, station, "10.0.0.1", { vlan: 10 }));
    expect(frame).toMatchObject({ dst: station, src: senderMac, tags: { vlan: 10 }, type: 0x0806 });
    expect(frame.payload.toHex()).toBe("000108000604000102677a00000100000000000000000000" + "0a000001");
  });

  test("a neighbour solicitation has the checksum of RFC 4443", () => {
    const senderIp = bytes("fe8000000000000000677afffe000001");
    const ip = bytes("fe80000000000000020000fffe000001");
    const frame = readFrame(writeNeighbourSolicitation(senderMac, senderIp, station, ip, {}));
    const words = [...senderIp, ...ip, 0, 0, 0, 32, 0, 0, 0, 58, ...frame.payload.subarray(40)];
    let sum = 0;
    for (let i = 0; i < words.length; i += 2) sum += ((words[i] ?? 0) << 8) | (words[i + 1] ?? 0);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
    expect(sum).toBe(0xffff);
    expect(readAnnouncement(frame)).toEqual({ mac: senderMac, ip: "fe80::67:7aff:fe00:1" });
  });
});

test("isStationIp and isStationMac accept unicast addresses of one station only", () => {
  expect(["0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "ff02::1"].some(isStationIp)).toBe(
    false,
  );
  expect(["10.0.0.1", "192.168.1.255", "fe80::1", "2001:db8::1"].every(isStationIp)).toBe(true);
  expect(["FF:FF:FF:FF:FF:FF", "01:80:C2:00:00:0E", "00:00:00:00:00:00"].some(isStationMac)).toBe(false);
  expect(isStationMac("02:67:7A:00:00:01")).toBe(true);
});

test("LLDP names and descriptions are read as text", () => {
  const lldp = readLldp(
    bytes(
      "0207 04 001122334455 0405 05 65746831 0602 0078 0a03 637232 0c04 6c696e78 fe05 00120f 01 00 0000".replaceAll(
        " ",
        "",
      ),
    ),
  );
  expect(lldp).toMatchObject({
    chassis: "00:11:22:33:44:55",
    port: "eth1",
    ttlSeconds: 120,
    name: "cr2",
    text: "linx",
  });
});
