/**
 * The encoding of a probe: a packet-out message with an LLDP frame whose private TLV holds the signed fields and room
 * for the HMAC. Thousands of probes are sent per interval and differ in a few bytes only. So the codec encodes one
 * template per probe type and length of the port number; each probe is a copy of it with the fields filled in.
 */
import { BROADCAST, ETHER, startFrame } from "../codec/ethernet.ts";
import { PORT } from "../codec/instruction.ts";
import { LLDP_MULTICAST, writeLldp } from "../codec/lldp.ts";
import { encode } from "../codec/openflow-messages.ts";
import { type PortRef, portText } from "../codec/port-ref.ts";
import { putHex, putText, putUint } from "../codec/wire.ts";

/** Locally administered: there is no registered OUI. */
export const PROBE_OUI = 0x02677a;
export const PROBE_SUBTYPE = 1;
/** Offsets of the signed fields within the signed bytes. */
export const SIGNED_OFFSETS = { device: 0, port: 8, time: 12, sequence: 20, direct: 28 } as const;
export const SIGNED_BYTES = 29;
export const HMAC_BYTES = 16;
const TTL_SECONDS = 120;
const ZERO_MAC = "00:00:00:00:00:00";
const ZERO_DEVICE = "of:0000000000000000";

/** Offsets within the message. All lengths up to the port name are fixed. */
const OUTPUT_PORT = 28;
const FRAME = 40;
const SOURCE_MAC = FRAME + 6;
const CHASSIS = FRAME + 14 + 3;
const PORT_NAME = CHASSIS + ZERO_DEVICE.length + 3;
/** Between the port name and the signed bytes: the time-to-live TLV and the header of the private TLV. */
const BYTES_BEFORE_SIGNED = 4 + 6;

export class ProbeTemplates {
  /** By the length of the port name. */
  readonly #direct: Uint8Array[] = [];
  readonly #broadcast: Uint8Array[] = [];

  /** Returns a message without its HMAC, which belongs behind the signed bytes that begin at `signedAt`. */
  createMessage(
    { device, port }: PortRef,
    mac: string,
    direct: boolean,
    now: number,
    sequence: number,
  ): { readonly message: Uint8Array; readonly signedAt: number } {
    const name = portText(port);
    const templates = direct ? this.#direct : this.#broadcast;
    let template = templates[name.length];
    if (!template) {
      template = encodeTemplate(name.length, direct);
      templates[name.length] = template;
    }
    const message = template.slice();
    const signedAt = PORT_NAME + name.length + BYTES_BEFORE_SIGNED;
    const dpid = device.slice(3);
    putUint(message, OUTPUT_PORT, 4, port);
    putHex(message, SOURCE_MAC, mac.replaceAll(":", ""));
    putText(message, CHASSIS, device);
    putText(message, PORT_NAME, name);
    putHex(message, signedAt + SIGNED_OFFSETS.device, dpid);
    putUint(message, signedAt + SIGNED_OFFSETS.port, 4, port);
    putUint(message, signedAt + SIGNED_OFFSETS.time, 8, Math.floor(now));
    putUint(message, signedAt + SIGNED_OFFSETS.sequence, 8, sequence);
    message[signedAt + SIGNED_OFFSETS.direct] = direct ? 1 : 0;
    return { message, signedAt };
  }
}

function encodeTemplate(nameLength: number, direct: boolean): Uint8Array {
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
  return encode("packetOut", { inPort: PORT.controller, output: [0], frame: frame.done() });
}
