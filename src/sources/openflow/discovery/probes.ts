/**
 * Probes: frames that prove which port they were sent from. Each carries the device, the port, the time and a sequence
 * number, signed with an HMAC whose key is created at start, or is that of the cluster. A probe is accepted when its
 * signature is valid, this process has sent it within `maxAgeMs`, and it reaches a port for the first time. Any other probe is only
 * counted, by its fault. So a host can neither invent a link nor replay an old one. A host that forwards a fresh probe
 * between two ports without delay cannot be distinguished from a cable.
 *
 * There are two types. LLDP probes are not forwarded by bridges, so they prove a direct cable. Broadcast probes pass
 * ordinary bridges, so they find the switches behind them: an indirect link.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { ETHER } from "../codec/ethernet.ts";
import { privateTlv } from "../codec/lldp.ts";
import { type PortRef, portKey } from "../codec/port-ref.ts";
import { uint } from "../codec/wire.ts";
import {
  HMAC_BYTES,
  PROBE_OUI,
  PROBE_SUBTYPE,
  ProbeTemplates,
  SIGNED_BYTES,
  SIGNED_OFFSETS,
} from "./probe-format.ts";

/** The probe just sent and those that are late. */
const MAX_IN_FLIGHT_PER_PORT = 4;

export type ProbeFault = "forged" | "unknown" | "late" | "replayed";
export type ProbeResult =
  | { readonly ok: true; readonly from: PortRef; readonly direct: boolean }
  | { readonly ok: false; readonly fault: ProbeFault };
const FORGED: ProbeResult = { ok: false, fault: "forged" };

interface SentProbe {
  readonly sequence: number;
  readonly from: PortRef;
  readonly sentAt: number;
  /** Another node of the cluster may have used the same number. */
  readonly hmac: Uint8Array;
  /** Keys of the ports that received it. */
  readonly receivedBy: Set<string>;
}

export class Probes {
  readonly #key: Uint8Array;
  readonly #maxAgeMs: number;
  readonly #templates = new ProbeTemplates();
  readonly #bySequence = new Map<number, SentProbe>();
  readonly #byPort = new Map<string, SentProbe[]>();
  #nextSequence = 1;

  constructor(maxAgeMs: number, key: Uint8Array = randomBytes(32)) {
    this.#maxAgeMs = maxAgeMs;
    this.#key = key;
  }

  /** Returns a packet-out message that sends a probe out of the port. `mac` is the port's own address. */
  create(from: PortRef, mac: string, direct: boolean, now: number): Uint8Array {
    const sequence = this.#nextSequence++;
    const { message, signedAt } = this.#templates.createMessage(from, mac, direct, now, sequence);
    const hmac = this.#hmac(message.subarray(signedAt, signedAt + SIGNED_BYTES)).subarray(0, HMAC_BYTES);
    message.set(hmac, signedAt + SIGNED_BYTES);
    this.#track({ sequence, from, sentAt: now, hmac, receivedBy: new Set() });
    return message;
  }

  /** Probes sent from this port so far are no longer accepted. */
  invalidate(ref: PortRef): void {
    const key = portKey(ref);
    for (const { sequence } of this.#byPort.get(key) ?? []) this.#bySequence.delete(sequence);
    this.#byPort.delete(key);
  }

  /** Verifies a received frame of the given Ethernet type. Returns undefined for an LLDP frame that is not a probe. */
  verify(type: number, payload: Uint8Array, at: PortRef, now: number): ProbeResult | undefined {
    const value = privateTlv(payload, PROBE_OUI, PROBE_SUBTYPE);
    if (!value) return type === ETHER.lldp ? undefined : FORGED;
    if (value.length !== SIGNED_BYTES + HMAC_BYTES) return FORGED;
    const hmac = this.#hmac(value.subarray(0, SIGNED_BYTES)).subarray(0, HMAC_BYTES);
    if (!timingSafeEqual(value.subarray(SIGNED_BYTES), hmac)) return FORGED;
    // The type is signed: a broadcast probe re-sent as LLDP must not become a direct link.
    const direct = value[SIGNED_OFFSETS.direct] === 1;
    if (direct !== (type === ETHER.lldp)) return FORGED;
    // The signature proves that the fields are unchanged; when it is that of the sent probe, they are those of its port.
    const sent = this.#bySequence.get(uint(value, SIGNED_OFFSETS.sequence, 8));
    if (!sent || !timingSafeEqual(sent.hmac, hmac)) return { ok: false, fault: "unknown" };
    if (now - sent.sentAt > this.#maxAgeMs) return { ok: false, fault: "late" };
    const receiver = portKey(at);
    if (sent.receivedBy.has(receiver)) return { ok: false, fault: "replayed" };
    sent.receivedBy.add(receiver);
    return { ok: true, from: sent.from, direct };
  }

  #track(probe: SentProbe): void {
    const key = portKey(probe.from);
    const sent = this.#byPort.get(key);
    this.#bySequence.set(probe.sequence, probe);
    if (!sent) {
      this.#byPort.set(key, [probe]);
      return;
    }
    sent.push(probe);
    const oldest = sent.length > MAX_IN_FLIGHT_PER_PORT ? sent.shift() : undefined;
    if (oldest) this.#bySequence.delete(oldest.sequence);
  }

  #hmac(signed: Uint8Array): Uint8Array {
    return new Bun.CryptoHasher("sha256", this.#key).update(signed).digest();
  }
}
