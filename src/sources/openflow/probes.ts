/**
 * Probes: LLDP frames that prove which port they left from. Each carries the device, the port, the time and a number
 * used once, under an HMAC whose key is made at start and never leaves this process. A probe counts when it is
 * genuine, was sent within `maxAgeMs`, and comes to a port for the first time; anything else creates nothing and is
 * counted by its fault. So a host can neither invent a link nor bring back an old one; what it can do is carry a
 * fresh probe between two ports at the speed of a wire, which makes it a wire.
 *
 * A second form goes out as a broadcast of another type. Ordinary bridges swallow LLDP but pass broadcasts on, so
 * this one finds the switches behind them: a link that is there, but not direct.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { portId } from "../../model/ids.ts";
import { BROADCAST, ETHER, startFrame } from "./codec/ethernet.ts";
import { LLDP_MULTICAST, privateTlv, writeLldp } from "./codec/lldp.ts";
import { hex, Reader, Writer } from "./codec/wire.ts";
import type { End } from "./links.ts";
import { portText } from "./port-text.ts";

/** Locally administered, as nobody registered one for us. */
const OUI = 0x02677a;
const SUBTYPE = 1;
const SIGNED_BYTES = 8 + 4 + 8 + 8 + 1;
const SEAL_BYTES = 16;
/** How many probes of a port may be under way: the one just sent and those that are late. */
const MOST_UNDER_WAY = 4;

export type ProbeFault = "forged" | "unknown" | "late" | "replayed";
export type ProbeVerdict =
  | { readonly ok: true; readonly from: End; readonly direct: boolean }
  | { readonly ok: false; readonly fault: ProbeFault };

interface UnderWay {
  readonly number: bigint;
  readonly sentAt: number;
  readonly arrivedAt: Set<string>;
}

export class Probes {
  readonly #key = randomBytes(32);
  readonly #maxAgeMs: number;
  readonly #underWay = new Map<string, UnderWay[]>();
  #next = 1n;

  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** A frame to send out of that port now. `mac` is the port's own address. */
  make({ device, port }: End, mac: string, direct: boolean, now: number): Uint8Array {
    const number = this.#next++;
    const key = portId(device, portText(port));
    const sent = this.#underWay.get(key) ?? [];
    sent.push({ number, sentAt: now, arrivedAt: new Set() });
    if (sent.length > MOST_UNDER_WAY) sent.shift();
    this.#underWay.set(key, sent);

    const signed = new Writer(SIGNED_BYTES + SEAL_BYTES);
    signed
      .u64(BigInt(`0x${device.slice(3)}`))
      .u32(port)
      .u64(BigInt(now))
      .u64(number)
      .u8(direct ? 1 : 0);
    signed.bytes(this.#seal(signed.done()));
    const frame = startFrame(
      direct ? LLDP_MULTICAST : BROADCAST,
      mac,
      direct ? ETHER.lldp : ETHER.broadcastProbe,
    );
    writeLldp(frame, device, portText(port), 120, { oui: OUI, subtype: SUBTYPE, value: signed.done() });
    return frame.done();
  }

  /** Nothing sent from this port before now counts any more. */
  forget({ device, port }: End): void {
    this.#underWay.delete(portId(device, portText(port)));
  }

  /** What an arriving frame of that type proves; undefined when it does not even claim to be ours. */
  judge(type: number, payload: Uint8Array, at: End, now: number): ProbeVerdict | undefined {
    const own = privateTlv(payload, OUI, SUBTYPE);
    if (!own) return type === ETHER.lldp ? undefined : { ok: false, fault: "forged" };
    const signed = own.subarray(0, SIGNED_BYTES);
    const seal = own.subarray(SIGNED_BYTES);
    if (seal.length !== SEAL_BYTES || !timingSafeEqual(seal, this.#seal(signed)))
      return { ok: false, fault: "forged" };
    const reader = new Reader(signed);
    const device = `of:${hex(reader.bytes(8))}`;
    const from = { device, port: reader.u32() };
    reader.skip(8);
    const number = reader.u64();
    const direct = reader.u8() === 1;
    // The form is under the seal: a broadcast turned into LLDP must not become a direct link.
    if (direct !== (type === ETHER.lldp)) return { ok: false, fault: "forged" };
    const sent = this.#underWay
      .get(portId(device, portText(from.port)))
      ?.find((one) => one.number === number);
    if (!sent) return { ok: false, fault: "unknown" };
    if (now - sent.sentAt > this.#maxAgeMs) return { ok: false, fault: "late" };
    const place = portId(at.device, portText(at.port));
    if (sent.arrivedAt.has(place)) return { ok: false, fault: "replayed" };
    sent.arrivedAt.add(place);
    return { ok: true, from, direct };
  }

  #seal(signed: Uint8Array): Uint8Array {
    return new Bun.CryptoHasher("sha256", this.#key).update(signed).digest().subarray(0, SEAL_BYTES);
  }
}
