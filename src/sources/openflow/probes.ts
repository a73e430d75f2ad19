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
import { ETHER } from "./codec/ethernet.ts";
import { privateTlv } from "./codec/lldp.ts";
import { uint } from "./codec/wire.ts";
import type { End } from "./link-table.ts";
import { portText } from "./port-ref.ts";
import { OUI, ProbeForms, SEAL_BYTES, SIGNED, SIGNED_BYTES, SUBTYPE } from "./probe-format.ts";

/** How many probes of a port may be under way: the one just sent and those that are late. */
const MAX_UNDER_WAY = 4;

export type ProbeFault = "forged" | "unknown" | "late" | "replayed";
export type ProbeVerdict =
  | { readonly ok: true; readonly from: End; readonly direct: boolean }
  | { readonly ok: false; readonly fault: ProbeFault };
const FORGED: ProbeVerdict = { ok: false, fault: "forged" };

interface UnderWay {
  readonly number: number;
  readonly from: End;
  readonly sentAt: number;
  /** The ports it has come to. */
  readonly arrivedAt: Set<string>;
}

export class Probes {
  readonly #key = randomBytes(32);
  readonly #maxAgeMs: number;
  readonly #forms = new ProbeForms();
  readonly #byNumber = new Map<number, UnderWay>();
  readonly #byPort = new Map<string, UnderWay[]>();
  #next = 1;

  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** A Packet-Out that sends a probe out of that port now. `mac` is the port's own address. */
  make(from: End, mac: string, direct: boolean, now: number): Uint8Array {
    const number = this.#next++;
    this.#remember({ number, from, sentAt: now, arrivedAt: new Set() });
    const { message, signed } = this.#forms.fill(from, mac, direct, now, number);
    message.set(
      this.#seal(message.subarray(signed, signed + SIGNED_BYTES)).subarray(0, SEAL_BYTES),
      signed + SIGNED_BYTES,
    );
    return message;
  }

  /** Nothing sent from this port before now counts any more. */
  forget({ device, port }: End): void {
    const key = portId(device, portText(port));
    for (const { number } of this.#byPort.get(key) ?? []) this.#byNumber.delete(number);
    this.#byPort.delete(key);
  }

  /** What an arriving frame of that type proves; undefined when it does not even claim to be ours. */
  judge(type: number, payload: Uint8Array, at: End, now: number): ProbeVerdict | undefined {
    const own = privateTlv(payload, OUI, SUBTYPE);
    if (!own) return type === ETHER.lldp ? undefined : FORGED;
    if (own.length !== SIGNED_BYTES + SEAL_BYTES) return FORGED;
    const seal = this.#seal(own.subarray(0, SIGNED_BYTES)).subarray(0, SEAL_BYTES);
    if (!timingSafeEqual(own.subarray(SIGNED_BYTES), seal)) return FORGED;
    // The form is under the seal: a broadcast turned into LLDP must not become a direct link.
    const direct = own[SIGNED.direct] === 1;
    if (direct !== (type === ETHER.lldp)) return FORGED;
    // What is under the seal is as it was when we wrote it, so the number says where it was sent from.
    const sent = this.#byNumber.get(uint(own, SIGNED.number, 8));
    if (!sent) return { ok: false, fault: "unknown" };
    if (now - sent.sentAt > this.#maxAgeMs) return { ok: false, fault: "late" };
    const place = portId(at.device, portText(at.port));
    if (sent.arrivedAt.has(place)) return { ok: false, fault: "replayed" };
    sent.arrivedAt.add(place);
    return { ok: true, from: sent.from, direct };
  }

  #remember(probe: UnderWay): void {
    const { device, port } = probe.from;
    const key = portId(device, portText(port));
    const sent = this.#byPort.get(key);
    this.#byNumber.set(probe.number, probe);
    if (!sent) {
      this.#byPort.set(key, [probe]);
      return;
    }
    sent.push(probe);
    const oldest = sent.length > MAX_UNDER_WAY ? sent.shift() : undefined;
    if (oldest) this.#byNumber.delete(oldest.number);
  }

  #seal(signed: Uint8Array): Uint8Array {
    return new Bun.CryptoHasher("sha256", this.#key).update(signed).digest();
  }
}
