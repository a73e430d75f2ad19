import { expect, test } from "bun:test";
import { ETHER, readFrame } from "../codec/ethernet.ts";
import { readLldp } from "../codec/lldp.ts";
import { dispatch } from "../codec/openflow-messages.ts";
import { portRef } from "../codec/port.ts";
import { Probes } from "./probes.ts";

const FROM = portRef("of:0000000000000001", 2);
const AT = portRef("of:0000000000000002", 3);
const MAC = "02:EE:00:01:00:02";

function createProbe(direct = true): { probes: Probes; type: number; payload: Uint8Array } {
  const probes = new Probes(2000);
  let payload: Uint8Array = new Uint8Array();
  let type = 0;
  dispatch(probes.create(FROM, MAC, direct, 1000), {
    packetOut: ({ output, frame }) => {
      expect(output).toEqual([FROM.port]);
      ({ type, payload } = readFrame(frame));
    },
  });
  return { probes, type, payload };
}

test("a verified probe gives the port it was sent from and its type", () => {
  for (const direct of [true, false]) {
    const { probes, type, payload } = createProbe(direct);
    expect(probes.verify(type, payload, AT, 1500)).toEqual({ ok: true, from: FROM, direct });
  }
});

test("other LLDP receivers can read the sending device and port", () => {
  for (const port of [2, 48, 65_535]) {
    const message = new Probes(2000).create(portRef(FROM.device, port), MAC, true, 1000);
    dispatch(message, {
      packetOut: ({ output, frame }) => {
        const { src, dst, payload } = readFrame(frame);
        expect({ output, src, dst, ...readLldp(payload) }).toEqual({
          output: [port],
          src: MAC,
          dst: "01:80:C2:00:00:0E",
          chassis: FROM.device,
          port: String(port),
          ttlSeconds: 120,
        });
      },
    });
  }
});

test("a probe is accepted once per receiving port, so a shared segment is complete and a replay is rejected", () => {
  const { probes, type, payload } = createProbe();
  expect(probes.verify(type, payload, AT, 1500)).toMatchObject({ ok: true });
  expect(probes.verify(type, payload, AT, 1501)).toEqual({ ok: false, fault: "replayed" });
  expect(probes.verify(type, payload, portRef(AT.device, 4), 1502)).toMatchObject({ ok: true });
});

test("a probe is accepted until maxAgeMs", () => {
  const { probes, type, payload } = createProbe();
  expect(probes.verify(type, payload, AT, 3000)).toMatchObject({ ok: true });
  expect(probes.verify(type, payload, portRef(AT.device, 4), 3001)).toEqual({ ok: false, fault: "late" });
});

test("a changed bit in the signed bytes or the HMAC, and a changed type, are forged", () => {
  const { probes, type, payload } = createProbe();
  const signedBytes = 29 + 16;
  for (let at = payload.length - 2 - signedBytes; at < payload.length - 2; at++) {
    const forged = payload.slice();
    forged[at] = (forged[at] ?? 0) ^ 1;
    expect(probes.verify(type, forged, AT, 1500)).toEqual({ ok: false, fault: "forged" });
  }
  expect(probes.verify(ETHER.broadcastProbe, payload, AT, 1500)).toEqual({ ok: false, fault: "forged" });
});

test("a probe of another process is forged, and one from before the port went down is unknown", () => {
  const { probes, type, payload } = createProbe();
  expect(new Probes(2000).verify(type, payload, AT, 1500)).toEqual({ ok: false, fault: "forged" });
  probes.invalidate(FROM);
  expect(probes.verify(type, payload, AT, 1500)).toEqual({ ok: false, fault: "unknown" });
});

test("LLDP that is not a probe has no result", () => {
  const neighbour = Uint8Array.from(
    Buffer.from("020704001122334455040505657468310602007800 00".replace(" ", ""), "hex"),
  );
  expect(new Probes(2000).verify(ETHER.lldp, neighbour, AT, 0)).toBeUndefined();
});

test("with the key of a cluster, a probe of another node is genuine but not one of this process", () => {
  const key = new Uint8Array(32).fill(7);
  const payloadOf = (probes: Probes, from: typeof FROM): Uint8Array => {
    let payload: Uint8Array = new Uint8Array();
    dispatch(probes.create(from, MAC, true, 1000), {
      packetOut: ({ frame }) => {
        ({ payload } = readFrame(frame));
      },
    });
    return payload;
  };
  const [before, now] = [new Probes(2000, key), new Probes(2000, key)];
  const old = payloadOf(before, FROM);
  // Both have the same number; the old one must not count as the one of the other port.
  const fresh = payloadOf(now, AT);
  expect(now.verify(ETHER.lldp, old, AT, 1500)).toEqual({ ok: false, fault: "unknown" });
  expect(now.verify(ETHER.lldp, fresh, FROM, 1500)).toMatchObject({ ok: true, from: AT });
});
