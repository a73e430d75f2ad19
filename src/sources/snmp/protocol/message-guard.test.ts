import { expect, test } from "bun:test";
import fc from "fast-check";
import { tlv } from "../../../../test/support/udp-snmp-agent.ts";
import { inspectMessage, type SecurityLevel } from "./agent-socket.ts";

const int = (...bytes: number[]) => tlv(2, Buffer.from(bytes));
const text = (value = "") => tlv(4, Buffer.from(value));
const v2c = tlv(0x30, int(1), text("public"), tlv(0xa2));
const v3 = (flags: number, data: Uint8Array, engine = "engine") =>
  tlv(
    0x30,
    int(3),
    tlv(0x30, int(7), int(1), tlv(4, Buffer.from([flags])), int(3)),
    tlv(4, tlv(0x30, text(engine))),
    data,
  );
const scoped = (pdu: number) => tlv(0x30, text(), text(), tlv(pdu));
const [RESPONSE, REPORT] = [0xa2, 0xa8];

test("which messages the library may parse", () => {
  const cases: [string, Uint8Array, SecurityLevel, ReturnType<typeof inspectMessage>][] = [
    ["v2c", v2c, "community", undefined],
    ["v2c in a session of v3", v2c, "authPriv", "insecure"],
    ["v3 in a session of v2c", v3(3, text()), "community", "insecure"],
    ["encrypted", v3(3, text("cipher")), "authPriv", undefined],
    ["authenticated only", v3(1, scoped(RESPONSE)), "authPriv", "insecure"],
    ["authenticated", v3(1, scoped(RESPONSE)), "auth", undefined],
    ["a response without security", v3(0, scoped(RESPONSE)), "auth", "insecure"],
    ["a report without security", v3(0, scoped(REPORT)), "authPriv", undefined],
    ["encrypted, not authenticated", v3(2, text("cipher")), "authPriv", "insecure"],
    ["an engine id of 33 bytes", v3(3, text(), "x".repeat(33)), "authPriv", "malformed"],
    ["truncated", v2c.subarray(0, v2c.length - 1), "community", "malformed"],
    ["empty", new Uint8Array(), "community", "malformed"],
  ];
  for (const [name, message, level, expected] of cases) {
    expect([name, inspectMessage(message, level)]).toEqual([name, expected]);
  }
});

test("no bytes make it throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(60), fc.nat(255), (bytes, at, byte) => {
      const changed = v3(3, text("cipher"));
      if (at < changed.length) changed[at] = byte;
      for (const message of [bytes, changed]) inspectMessage(message, "authPriv");
    }),
  );
});
