/** Any bytes from a peer are decoded or refused with `WireError`. Nothing else is thrown, and nothing is read beyond them. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../../test/support/property.ts";
import { readAnnouncement } from "./announcement.ts";
import { readFrame } from "./ethernet.ts";
import captured from "./fixtures/ovs-3.1.0.json";
import { MessageFramer } from "./framing.ts";
import { privateTlv, readLldp } from "./lldp.ts";
import { dispatch, type Handlers } from "./openflow-messages.ts";
import { WireError } from "./wire.ts";

const MESSAGES = captured.messages.map(({ hex }) => new Uint8Array(Buffer.from(hex, "hex")));
const FRAMES = [
  // ARP, DHCP discover (shortened), neighbour solicitation (shortened), LLDP, and one with two VLAN tags.
  "ffffffffffff0200000000010806000108000604000102000000000100000000000000000000000000000000",
  "ffffffffffff0200000000010800450001480000000040110000000000ff00ffffffff0044004301340000",
  "3333ff000001020000000001 86dd6000000000203aff".replaceAll(" ", ""),
  "0180c200000e02000000000188cc020704020000000001040302000106020078000",
  "ffffffffffff02000000000188a80064810000c80806000108000604000102000000000100000000000000000000000000000000",
].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));

/** A valid value with some bytes changed, cut or extended. */
const changed = (samples: readonly Uint8Array[]) =>
  fc
    .record({
      sample: fc.constantFrom(...samples),
      changes: fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 8 }),
      length: fc.option(fc.nat(300)),
      tail: fc.uint8Array({ maxLength: 40 }),
    })
    .map(({ sample, changes, length, tail }) => {
      const bytes = new Uint8Array([...sample.subarray(0, length ?? sample.length), ...tail]);
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      return bytes;
    });

function refusesOrDecodes(decode: () => unknown): void {
  try {
    decode();
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
  }
}

const ALL_HANDLERS: Handlers = {
  hello: () => {},
  error: () => {},
  echoRequest: () => {},
  echoReply: () => {},
  featuresRequest: () => {},
  featuresReply: () => {},
  packetIn: () => {},
  portStatus: () => {},
  packetOut: () => {},
  flowMod: () => {},
  portMod: () => {},
  multipartRequest: () => {},
  multipartReply: () => {},
  barrierRequest: () => {},
  barrierReply: () => {},
  roleRequest: () => {},
  roleReply: () => {},
};

describe("any bytes", () => {
  test("as the body of any message", () => {
    const anyMessage = fc
      .tuple(fc.nat(30), fc.uint8Array({ maxLength: 300 }))
      .map(([type, body]) => new Uint8Array([4, type, 0, body.length + 8, 0, 0, 0, 1, ...body]));
    fc.assert(
      fc.property(fc.oneof(anyMessage, changed(MESSAGES)), (message) => {
        if (message.length >= 8) refusesOrDecodes(() => dispatch(message, ALL_HANDLERS));
      }),
      { numRuns: runs(5000) },
    );
  });

  test("as a frame", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), changed(FRAMES)), (bytes) => {
        refusesOrDecodes(() => readAnnouncement(readFrame(bytes)));
        refusesOrDecodes(() => readLldp(bytes.subarray(14)));
        refusesOrDecodes(() => privateTlv(bytes.subarray(14), 0x02677a, 1));
      }),
      { numRuns: runs(5000) },
    );
  });
});

test("messages are the same however their bytes are cut, and whenever reading pauses", () => {
  const stream = fc.array(fc.constantFrom(...MESSAGES), { minLength: 1, maxLength: 12 });
  const cuts = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 200 }), messages: fc.nat(3) }), {
    minLength: 1,
  });
  fc.assert(
    fc.property(stream, cuts, (messages, plan) => {
      const bytes = Buffer.concat(messages);
      const framer = new MessageFramer();
      const read: Uint8Array[] = [];
      const readUpTo = (count: number) => {
        for (let left = count; left > 0; left--) {
          const message = framer.next();
          if (!message) return;
          read.push(message.slice());
        }
        framer.hold();
      };
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const { bytes: size, messages: count } = plan[i % plan.length] ?? { bytes: 1, messages: 1 };
        const chunk = new Uint8Array(bytes.subarray(at, at + size));
        framer.push(chunk);
        if (count === 0) framer.hold();
        readUpTo(count);
        chunk.fill(0xee); // The socket uses its buffer again.
        at += size;
      }
      readUpTo(Number.POSITIVE_INFINITY);
      expect(Buffer.concat(read).equals(bytes)).toBe(true);
      expect(read.length).toBe(messages.length);
      expect(framer.bufferedBytes).toBe(0);
    }),
  );
});
