/**
 * Probes: frames that prove which port they were sent from. Each carries the device, the port, the time and a sequence
 * number, signed with an HMAC whose key is created at start, or is that of the cluster. A probe is accepted when its
 * signature is valid, this process has sent it within `maxAgeMs`, and it reaches this port for the first time. Any other
 * probe is only counted, by its fault. So a host can neither invent a link nor replay an old one. A host that forwards a
 * fresh probe between two ports without delay cannot be distinguished from a cable.
 *
 * There are two types. LLDP probes are not forwarded by bridges, so they prove a direct cable. Broadcast probes pass
 * ordinary bridges, so they find the switches behind them: an indirect link.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { BROADCAST, ETHER, startFrame } from "../codec/ethernet.ts";
import { LLDP_MULTICAST, privateTlv, writeLldp } from "../codec/lldp.ts";
import { encode } from "../codec/openflow-messages.ts";
import { PORT, type PortRef, portText } from "../codec/port.ts";
import { uint } from "../codec/wire.ts";

/** Maximum number of tracked probes of one port: the probe just sent, and earlier ones that may still arrive. */
const MAX_IN_FLIGHT_PER_PORT = 4;

type ProbeFault = "forged" | "unknown" | "late" | "replayed";
type ProbeResult =
  | { readonly ok: true; readonly from: PortRef; readonly direct: boolean }
  | { readonly ok: false; readonly fault: ProbeFault };
const FORGED: ProbeResult = { ok: false, fault: "forged" };

interface SentProbe {
  readonly sequence: number;
  readonly from: PortRef;
  readonly sentAt: number;
  /** The signed bytes and their HMAC. The sequence number is not enough: another node of the cluster may have used it. */
  readonly value: Uint8Array;
  /** The keys of the ports that received the probe. */
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
    const message = this.#templates.createMessage(from, mac, direct, now, sequence);
    const signedAt = message.length - BYTES_AFTER_SIGNED - SIGNED_BYTES;
    const value = message.subarray(signedAt, signedAt + SIGNED_BYTES + HMAC_BYTES);
    this.#hmac(value).copy(value, SIGNED_BYTES, 0, HMAC_BYTES);
    this.#track({ sequence, from, sentAt: now, value: new Uint8Array(value), receivedBy: new Set() });
    return message;
  }

  /** Stops accepting the probes that were sent from this port so far. */
  invalidate(ref: PortRef): void {
    const key = ref.key;
    for (const { sequence } of this.#byPort.get(key) ?? []) this.#bySequence.delete(sequence);
    this.#byPort.delete(key);
  }

  /** Verifies a received frame of the given Ethernet type. Returns undefined for an LLDP frame that is not a probe. */
  verify(type: number, payload: Uint8Array, at: PortRef, now: number): ProbeResult | undefined {
    const value = privateTlv(payload, PROBE_OUI, PROBE_SUBTYPE);
    if (!value) return type === ETHER.lldp ? undefined : FORGED;
    if (value.length !== SIGNED_BYTES + HMAC_BYTES) return FORGED;
    const found = this.#bySequence.get(uint(value, SIGNED_OFFSETS.sequence, 8));
    const sent = found && timingSafeEqual(found.value, value) ? found : undefined;
    // Only a probe that was not sent here needs its HMAC computed: another node may have sent it.
    if (!sent && !this.#isSigned(value)) return FORGED;
    // The type is signed: a broadcast probe re-sent as LLDP must not become a direct link.
    const direct = value[SIGNED_OFFSETS.direct] === 1;
    if (direct !== (type === ETHER.lldp)) return FORGED;
    if (!sent) return { ok: false, fault: "unknown" };
    if (now - sent.sentAt > this.#maxAgeMs) return { ok: false, fault: "late" };
    const receiver = at.key;
    if (sent.receivedBy.has(receiver)) return { ok: false, fault: "replayed" };
    sent.receivedBy.add(receiver);
    return { ok: true, from: sent.from, direct };
  }

  #track(probe: SentProbe): void {
    const key = probe.from.key;
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

  #isSigned(value: Uint8Array): boolean {
    return timingSafeEqual(value.subarray(SIGNED_BYTES), this.#hmac(value).subarray(0, HMAC_BYTES));
  }

  /** The HMAC of the signed bytes, with which the value begins. */
  #hmac(value: Uint8Array): Buffer {
    return new Bun.CryptoHasher("sha256", this.#key).update(value.subarray(0, SIGNED_BYTES)).digest();
  }
}

/** A locally administered OUI, because none is registered for this purpose. */
const PROBE_OUI = 0x02677a;
const PROBE_SUBTYPE = 1;
/** The offsets of the signed fields within the signed bytes. */
const SIGNED_OFFSETS = { device: 0, port: 8, time: 12, sequence: 20, direct: 28 } as const;
const SIGNED_BYTES = 29;
const HMAC_BYTES = 16;
const TTL_SECONDS = 120;
const ZERO_MAC = "00:00:00:00:00:00";
const ZERO_DEVICE = "of:0000000000000000";

/** Offsets within the message. They are constant, because all lengths before the port name are fixed. */
const OUTPUT_PORT = 28;
const FRAME = 40;
const SOURCE_MAC = FRAME + 6;
const CHASSIS = FRAME + 14 + 3;
const PORT_NAME = CHASSIS + ZERO_DEVICE.length + 3;
/** The HMAC and the end TLV, which are the last bytes of a message. */
const BYTES_AFTER_SIGNED = HMAC_BYTES + 2;

/**
 * The encoding of a probe: a packet-out message with an LLDP frame whose private TLV holds the signed fields and room
 * for the HMAC. Thousands of probes are sent per interval and differ in a few bytes only. So the codec encodes one
 * template per probe type and length of the port number; each probe is a copy of it with the fields filled in.
 */
class ProbeTemplates {
  /** The templates of direct and of broadcast probes, by the length of the port name. */
  readonly #direct: Buffer[] = [];
  readonly #broadcast: Buffer[] = [];

  /** Returns a message without its HMAC. */
  createMessage(
    { device, port }: PortRef,
    mac: string,
    direct: boolean,
    now: number,
    sequence: number,
  ): Buffer {
    const name = portText(port);
    const templates = direct ? this.#direct : this.#broadcast;
    const template = templates[name.length] ?? encodeTemplate(name.length, direct);
    templates[name.length] = template;
    const message = Buffer.from(template);
    const signedAt = message.length - BYTES_AFTER_SIGNED - SIGNED_BYTES;
    message.writeUInt32BE(port, OUTPUT_PORT);
    message.write(mac.replaceAll(":", ""), SOURCE_MAC, "hex");
    message.write(device, CHASSIS, "latin1");
    message.write(name, PORT_NAME, "latin1");
    message.write(device.slice(3), signedAt + SIGNED_OFFSETS.device, "hex");
    message.writeUInt32BE(port, signedAt + SIGNED_OFFSETS.port);
    message.writeBigUInt64BE(BigInt(Math.floor(now)), signedAt + SIGNED_OFFSETS.time);
    message.writeBigUInt64BE(BigInt(sequence), signedAt + SIGNED_OFFSETS.sequence);
    message[signedAt + SIGNED_OFFSETS.direct] = direct ? 1 : 0;
    return message;
  }
}

function encodeTemplate(nameLength: number, direct: boolean): Buffer {
  const frame = startFrame(
    direct ? LLDP_MULTICAST : BROADCAST,
    ZERO_MAC,
    direct ? ETHER.lldp : ETHER.broadcastProbe,
  );
  const value = new Uint8Array(SIGNED_BYTES + HMAC_BYTES);
  writeLldp(frame, ZERO_DEVICE, "0".repeat(nameLength), TTL_SECONDS, {
    oui: PROBE_OUI,
    subtype: PROBE_SUBTYPE,
    value,
  });
  return Buffer.from(encode("packetOut", { inPort: PORT.controller, output: [0], frame: frame.done() }));
}
