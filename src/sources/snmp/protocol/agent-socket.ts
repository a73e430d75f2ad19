/**
 * The UDP socket of one agent's session. The library writes to it as to a socket of `node:dgram`, for as long as the
 * session lives; the descriptor exists only during a poll, so that descriptors are bounded by the polls at a time. Each
 * poll has a new port, which makes replies harder to forge.
 *
 * What the library does not check is checked here: that a datagram comes from the address and port the request went to,
 * and that it has the form and the security of a reply. Nothing that a datagram contains can throw past this class.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { EventEmitter } from "node:events";
import { parseAddress } from "../../../lib/address-ranges.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { SnmpCounters } from "./outcomes.ts";

export interface AgentAddress {
  readonly address: string;
  readonly port: number;
}

type SendCallback = (error: Error | null, bytes?: number) => void;

/** Datagrams of one poll. The dropped ones explain a poll that timed out. */
interface Received {
  accepted: number;
  otherAddress: number;
  malformed: number;
  insecure: number;
}

const nothingReceived = (): Received => ({ accepted: 0, otherAddress: 0, malformed: 0, insecure: 0 });

interface OpenSocket {
  readonly socket: Socket;
  readonly peer: AgentAddress;
  readonly stop: AbortController;
  sendsLeft: number;
}

export class AgentSocket extends EventEmitter {
  readonly #level: SecurityLevel;
  readonly #pacer: Pacer;
  readonly #counters: SnmpCounters;
  #open: OpenSocket | undefined;
  received: Received = nothingReceived();
  /** How long requests of this poll have waited for their turn. */
  pacedMs = 0;

  constructor(level: SecurityLevel, pacer: Pacer, counters: SnmpCounters) {
    super();
    this.#level = level;
    this.#pacer = pacer;
    this.#counters = counters;
  }

  open(peer: AgentAddress): void {
    this.release();
    const socket = createSocket(peer.address.includes(":") ? "udp6" : "udp4");
    const stop = new AbortController();
    this.#open = { socket, peer, stop, sendsLeft: 0 };
    this.received = nothingReceived();
    this.pacedMs = 0;
    socket.on("message", (bytes, from) => {
      if (this.#open?.socket === socket) this.#receive(bytes, from, peer);
    });
    // An unreachable agent shows as a time-out; there is nothing else to do about it.
    socket.on("error", () => {});
  }

  /** The next so many datagrams may be sent. */
  allow(sends: number): void {
    if (this.#open) this.#open.sendsLeft = sends;
  }

  /** Ends the poll: closes the descriptor. The session stays usable. */
  release(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.stop.abort();
    open?.socket.close();
  }

  /** Called by the library. The parameters after the first are its own idea of the peer. */
  send(buffer: Buffer, _offset: number, _length: number, _port: number, _host: string, done: SendCallback) {
    this.#send(buffer, done).catch((error: unknown) =>
      done(error instanceof Error ? error : new Error(String(error))),
    );
  }

  async #send(buffer: Buffer, done: SendCallback): Promise<void> {
    const open = this.#open;
    if (!open || open.sendsLeft-- <= 0) throw new Error("the poll has ended");
    this.pacedMs += await this.#pacer.turn(open.stop.signal);
    if (this.#open !== open) throw new Error("the poll has ended");
    this.#counters.count("requests_total");
    open.socket.send(buffer, open.peer.port, open.peer.address, (error) =>
      done(error ?? (this.#open === open ? null : new Error("the poll has ended"))),
    );
  }

  #receive(bytes: Buffer, from: RemoteInfo, peer: AgentAddress): void {
    if (from.port !== peer.port || !isSameAddress(from.address, peer.address)) {
      this.received.otherAddress++;
      this.#counters.count("replies_other_address_total");
      return;
    }
    const reason = inspectMessage(bytes, this.#level);
    if (reason) {
      this.#drop(reason);
      return;
    }
    this.received.accepted++;
    try {
      this.emit("message", bytes);
    } catch {
      this.#drop("malformed");
    }
  }

  /** A datagram that the library could not parse. */
  countMalformed(): void {
    this.#drop("malformed");
  }

  #drop(reason: "malformed" | "insecure"): void {
    this.received[reason]++;
    this.#counters.count(reason === "malformed" ? "replies_malformed_total" : "replies_insecure_total");
  }

  /** Called by the library at the end of a session. */
  close(): void {
    this.release();
    this.emit("close");
  }

  /** The library keeps the process alive while a request is open. The source does so itself. */
  ref(): void {}
  unref(): void {}
}

/** An IPv6 address may be written in several ways, with or without its zone. */
const isSameAddress = (a: string, b: string): boolean =>
  a === b || parseAddress(a)?.toString() === parseAddress(b)?.toString();

// Checks a datagram before the SNMP library sees it. The library accepts a reply without authentication to an
// authenticated request, uses a message of another version than the session's without the keys that it needs, and reads
// a truncated message as a shorter one. Only the head of the message is parsed here.

/** Bits of msgFlags (RFC 3412, 6.4). */
const AUTH_FLAG = 1;
const PRIV_FLAG = 2;
const REPORT_PDU = 0xa8;
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
/** RFC 3411, SnmpEngineID. The library stores a key for each engine id it meets. */
const MAX_ENGINE_ID_BYTES = 32;

export type SecurityLevel = "community" | "auth" | "authPriv";

/** Why a datagram is dropped. `insecure`: with less security than the session has, and no report of an error. */
type DropReason = "malformed" | "insecure";

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** The element of BER at `at`; undefined when it does not fit in `end`. Lengths in up to four bytes, as SNMP has them. */
function readElement(bytes: Uint8Array, at: number, end: number): Element | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (at + 2 > end || tag === undefined || first === undefined) return undefined;
  const lengthBytes = first & 0x80 ? first & 0x7f : 0;
  if (first === 0x80 || lengthBytes > 4) return undefined;
  let length = lengthBytes === 0 ? first : 0;
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0);
  const start = at + 2 + lengthBytes;
  return start + length > end ? undefined : { tag, start, end: start + length };
}

/** The elements inside one; undefined when the tags are not these. Further elements are not read. */
function readElements(bytes: Uint8Array, parent: Element, tags: readonly (number | undefined)[]) {
  const elements: Element[] = [];
  let at = parent.start;
  for (const tag of tags) {
    const element = readElement(bytes, at, parent.end);
    if (!element || (tag !== undefined && element.tag !== tag)) return undefined;
    elements.push(element);
    at = element.end;
  }
  return elements;
}

/** Why the datagram must be dropped; undefined when the library may parse it. */
export function inspectMessage(bytes: Uint8Array, level: SecurityLevel): DropReason | undefined {
  const message = readElement(bytes, 0, bytes.length);
  if (message?.tag !== SEQUENCE) return "malformed";
  const version = readElement(bytes, message.start, message.end);
  if (version?.tag !== INTEGER || version.end - version.start !== 1) return "malformed";
  const isV3 = level !== "community";
  if (bytes[version.start] !== (isV3 ? 3 : 1)) return "insecure";
  return isV3 ? inspectV3(bytes, { ...message, start: version.end }, level) : undefined;
}

function inspectV3(bytes: Uint8Array, rest: Element, level: SecurityLevel): DropReason | undefined {
  const [header, parameters, data] = readElements(bytes, rest, [SEQUENCE, OCTET_STRING, undefined]) ?? [];
  if (!header || !parameters || !data) return "malformed";
  const [, , flagsElement] = readElements(bytes, header, [INTEGER, INTEGER, OCTET_STRING]) ?? [];
  if (!flagsElement || flagsElement.end - flagsElement.start !== 1) return "malformed";
  const flags = bytes[flagsElement.start] ?? 0;
  const [usm] = readElements(bytes, parameters, [SEQUENCE]) ?? [];
  const [engineId] = (usm && readElements(bytes, usm, [OCTET_STRING])) ?? [];
  if (!engineId || engineId.end - engineId.start > MAX_ENGINE_ID_BYTES) return "malformed";
  const required = level === "authPriv" ? AUTH_FLAG | PRIV_FLAG : AUTH_FLAG;
  if ((flags & required) === required) return undefined;
  // Discovery and errors of security are reported with less security (RFC 3414, 3.2 and 4).
  return (flags & PRIV_FLAG) === 0 && pduTag(bytes, data) === REPORT_PDU ? undefined : "insecure";
}

/** The tag of the PDU in a scoped PDU that is not encrypted. */
function pduTag(bytes: Uint8Array, scoped: Element): number | undefined {
  if (scoped.tag !== SEQUENCE) return undefined;
  return readElements(bytes, scoped, [OCTET_STRING, OCTET_STRING, undefined])?.[2]?.tag;
}

// Bounds the requests per second of all agents together: each caller waits for its turn, in the order of the calls. After
// a pause a short burst is allowed, so that a small network is polled without delay.

/** Milliseconds of the rate that may be used at once after a pause. */
const BURST_MS = 50;

export class Pacer {
  readonly #clock: Clock;
  readonly #stepMs: number;
  #next = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#stepMs = 1000 / perSecond;
  }

  /** Resolves when the caller may send, or when the signal aborts, with the milliseconds that it has waited. */
  async turn(signal: AbortSignal): Promise<number> {
    const now = this.#clock.monotonic();
    this.#next = Math.max(this.#next, now - BURST_MS) + this.#stepMs;
    const waitMs = this.#next - now;
    if (waitMs <= 0) return 0;
    await this.#clock.sleep(waitMs, signal);
    return this.#clock.monotonic() - now;
  }
}
