/**
 * What a probe looks like: a Packet-Out that carries an LLDP frame whose private TLV holds what is signed, and room for
 * the seal. Thousands go out in every round and they differ in a few bytes, so the message is written by the codec once
 * for each form and number of digits, and after that copied and filled in.
 */
import { BROADCAST, ETHER, startFrame } from "./codec/ethernet.ts";
import { PORT } from "./codec/instruction.ts";
import { LLDP_MULTICAST, writeLldp } from "./codec/lldp.ts";
import { encode } from "./codec/messages.ts";
import { putHex, putText, putUint } from "./codec/wire.ts";
import type { End } from "./link-table.ts";
import { portText } from "./port-ref.ts";

/** Locally administered, as nobody registered one for us. */
export const OUI = 0x02677a;
export const SUBTYPE = 1;
/** Where the signed fields are, from the beginning of what is signed. */
export const SIGNED = { device: 0, port: 8, time: 12, number: 20, direct: 28 } as const;
export const SIGNED_BYTES = 29;
export const SEAL_BYTES = 16;
const TTL_SECONDS = 120;
const NOBODY = "00:00:00:00:00:00";
const DEVICE = "of:0000000000000000";

/** Where the fields are, from the beginning of the message: up to the port's name all lengths are fixed. */
const OUTPUT_PORT = 28;
const FRAME = 40;
const SOURCE_MAC = FRAME + 6;
const CHASSIS = FRAME + 14 + 3;
const PORT_NAME = CHASSIS + DEVICE.length + 3;
/** Behind the port's name: the TLV of the time to live, and the head of the private one. */
const TO_SIGNED = 4 + 6;

export class ProbeForms {
  readonly #direct: Uint8Array[] = [];
  readonly #broadcast: Uint8Array[] = [];

  /** A message without its seal, which belongs behind the signed bytes that begin at `signed`. */
  fill(
    { device, port }: End,
    mac: string,
    direct: boolean,
    now: number,
    number: number,
  ): { readonly message: Uint8Array; readonly signed: number } {
    const name = portText(port);
    const forms = direct ? this.#direct : this.#broadcast;
    let form = forms[name.length];
    if (!form) {
      form = written(name.length, direct);
      forms[name.length] = form;
    }
    const message = form.slice();
    const signed = PORT_NAME + name.length + TO_SIGNED;
    const dpid = device.slice(3);
    putUint(message, OUTPUT_PORT, 4, port);
    putHex(message, SOURCE_MAC, mac.replaceAll(":", ""));
    putText(message, CHASSIS, device);
    putText(message, PORT_NAME, name);
    putHex(message, signed + SIGNED.device, dpid);
    putUint(message, signed + SIGNED.port, 4, port);
    putUint(message, signed + SIGNED.time, 8, now);
    putUint(message, signed + SIGNED.number, 8, number);
    message[signed + SIGNED.direct] = direct ? 1 : 0;
    return { message, signed };
  }
}

function written(nameLength: number, direct: boolean): Uint8Array {
  const frame = startFrame(
    direct ? LLDP_MULTICAST : BROADCAST,
    NOBODY,
    direct ? ETHER.lldp : ETHER.broadcastProbe,
  );
  const value = new Uint8Array(SIGNED_BYTES + SEAL_BYTES);
  writeLldp(frame, DEVICE, "0".repeat(nameLength), TTL_SECONDS, { oui: OUI, subtype: SUBTYPE, value });
  return encode("packetOut", { inPort: PORT.controller, output: [0], frame: frame.done() });
}
