/**
 * The SNMPv3 engine of an agent for tests (RFC 3414), with one user who authenticates with SHA-256. It answers requests
 * in its time window, reports its id and time for the others, and counts discoveries. Boots and time are set by the test.
 */
import { createHash, createHmac } from "node:crypto";
import {
  decodePdu,
  elements,
  encodePdu,
  integer,
  type Reply,
  type SnmpAgent,
  tlv,
  toNumber,
} from "./udp-snmp-agent.ts";

export const V3_USER = { user: "ann", authProtocol: "sha256", authPassword: "correct horse" } as const;

const AUTH_FLAG = 1;
const DIGEST_BYTES = 24;
const TIME_WINDOW_SECONDS = 150;
const [RESPONSE, REPORT] = [0xa2, 0xa8];
const UNKNOWN_ENGINE_ID = "1.3.6.1.6.3.15.1.1.4.0";
const NOT_IN_TIME_WINDOW = "1.3.6.1.6.3.15.1.1.2.0";
const NOTHING = new Uint8Array();

export class SnmpV3Engine {
  readonly #agent: SnmpAgent;
  id = "800000000102030001";
  boots = 7;
  time = 5000;
  /** Requests without an engine id. */
  discoveries = 0;
  /** Requests that were in the time window. */
  answered = 0;

  constructor(agent: SnmpAgent) {
    this.#agent = agent;
    agent.rawBehaviour = (datagram) => this.#reply(datagram);
  }

  #reply(datagram: Uint8Array): Uint8Array {
    const [message = NOTHING] = elements(datagram);
    const [, header = NOTHING, parameters = NOTHING, scoped = NOTHING] = elements(message);
    const [messageId = NOTHING] = elements(header);
    const [usm = NOTHING] = elements(parameters);
    const [engineId = NOTHING, boots, time] = elements(usm);
    if (engineId.length === 0) this.discoveries++;
    if (Buffer.from(engineId).toString("hex") !== this.id) {
      return this.#encode(messageId, 0, encodePdu(REPORT, counter(UNKNOWN_ENGINE_ID)));
    }
    const isInWindow =
      toNumber(boots) === this.boots && Math.abs(toNumber(time) - this.time) <= TIME_WINDOW_SECONDS;
    if (!isInWindow)
      return this.#encode(messageId, AUTH_FLAG, encodePdu(REPORT, counter(NOT_IN_TIME_WINDOW)));
    this.answered++;
    const [, , pdu = NOTHING] = elements(scoped);
    const answer = this.#agent.answer({ ...decodePdu(pdu), community: "" });
    return this.#encode(messageId, AUTH_FLAG, encodePdu(RESPONSE, answer));
  }

  #encode(messageId: Uint8Array, flags: number, pdu: Uint8Array): Uint8Array {
    const id = Buffer.from(this.id, "hex");
    const isAuthentic = flags === AUTH_FLAG;
    const encode = (digest: Uint8Array) => {
      const header = tlv(0x30, tlv(2, messageId), integer(65_507), tlv(4, Buffer.from([flags])), integer(3));
      const user = tlv(4, Buffer.from(isAuthentic ? V3_USER.user : ""));
      const usm = tlv(
        0x30,
        tlv(4, id),
        integer(this.boots),
        integer(this.time),
        user,
        tlv(4, digest),
        tlv(4),
      );
      return tlv(0x30, tlv(2, Buffer.from([3])), header, tlv(4, usm), tlv(0x30, tlv(4, id), tlv(4), pdu));
    };
    if (!isAuthentic) return encode(NOTHING);
    const key = localizedKey(V3_USER.authPassword, id);
    const digest = createHmac("sha256", key).update(encode(new Uint8Array(DIGEST_BYTES)));
    return encode(digest.digest().subarray(0, DIGEST_BYTES));
  }
}

const counter = (oid: string): Reply => ({
  requestId: 1,
  objects: [[oid, { tag: 0x41, bytes: Buffer.from([1]) }]],
});

/** RFC 3414, A.2: of a mebibyte of the repeated password. */
function localizedKey(password: string, engineId: Uint8Array): Uint8Array {
  const repeated = Buffer.alloc(1024 * 1024, password);
  const key = createHash("sha256").update(repeated).digest();
  return createHash("sha256").update(key).update(engineId).update(key).digest();
}
