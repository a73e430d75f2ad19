/**
 * The UDP socket of one agent's session. The library uses it like a socket of `node:dgram`, as long as the session exists.
 * The descriptor exists only during a poll, so that the number of concurrent polls limits the descriptors. Each poll has a
 * new port, which makes replies harder to forge.
 *
 * This class checks what the library does not check: that a datagram comes from the address and port that the request was
 * sent to, and that it has the form and the security of a reply. It catches every exception that a datagram causes.
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

/** Numbers of received datagrams in one poll. The dropped ones explain a poll that timed out. */
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
  /** The time that requests of this poll have waited for their turn. */
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
    // Errors are ignored, because a request to an unreachable agent ends with a timeout.
    socket.on("error", () => {});
  }

  /** Allows this number of datagrams to be sent. */
  allow(sends: number): void {
    if (this.#open) this.#open.sendsLeft = sends;
  }

  /** Ends the poll and closes the descriptor. The session stays usable. */
  release(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.stop.abort();
    open?.socket.close();
  }

  /** Called by the library. Its offset, length, port and host are ignored. */
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

  /** Counts a datagram that the library could not parse. */
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

  /** The library calls these to keep the process alive while a request is pending. The source itself keeps it alive. */
  ref(): void {}
  unref(): void {}
}

/** Compares addresses in canonical form, because an IPv6 address may be written in several ways and with a zone. */
const isSameAddress = (a: string, b: string): boolean =>
  a === b || parseAddress(a)?.toString() === parseAddress(b)?.toString();

// Checks a datagram before the SNMP library parses it. The library accepts a reply without authentication to an
// authenticated request, handles a message of another version than the session's without the necessary keys, and reads
// a truncated message as a shorter one. Only the head of the message is parsed here.

/** The bits of msgFlags (RFC 3412, 6.4). */
const AUTH_FLAG = 1;
const PRIV_FLAG = 2;
const REPORT_PDU = 0xa8;
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
/** The maximum length of an SnmpEngineID (RFC 3411). The library stores a key for each engine id that it receives. */
const MAX_ENGINE_ID_BYTES = 32;

export type SecurityLevel = "community" | "auth" | "authPriv";

/** Why a datagram is dropped. `insecure` means that it has less security than the session and is not an error report. */
type DropReason = "malformed" | "insecure";

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Reads the BER element at `at`; undefined when it exceeds `end`. A length has up to four bytes, as in SNMP. */
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

/** Reads the elements inside another; undefined when their tags differ from `tags`. Further elements are not read. */
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

/** Returns why the datagram must be dropped; undefined when the library may parse it. */
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
  // Replies to discovery and reports of security errors have less security (RFC 3414, 3.2 and 4).
  return (flags & PRIV_FLAG) === 0 && pduTag(bytes, data) === REPORT_PDU ? undefined : "insecure";
}

/** Returns the tag of the PDU in a scoped PDU that is not encrypted. */
function pduTag(bytes: Uint8Array, scoped: Element): number | undefined {
  if (scoped.tag !== SEQUENCE) return undefined;
  return readElements(bytes, scoped, [OCTET_STRING, OCTET_STRING, undefined])?.[2]?.tag;
}

// `Pacer` limits the requests per second of all agents together. Each caller waits for its turn, in the order of the calls.
// After a pause a short burst is allowed, so that a small network is polled without delay.

/** After a pause, the requests of this many milliseconds may be sent at once. */
const BURST_MS = 50;

export class Pacer {
  readonly #clock: Clock;
  readonly #stepMs: number;
  #next = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#stepMs = 1000 / perSecond;
  }

  /** Resolves when the caller may send or the signal aborts. Returns the milliseconds that the caller has waited. */
  async turn(signal: AbortSignal): Promise<number> {
    const now = this.#clock.monotonic();
    this.#next = Math.max(this.#next, now - BURST_MS) + this.#stepMs;
    const waitMs = this.#next - now;
    if (waitMs <= 0) return 0;
    await this.#clock.sleep(waitMs, signal);
    return this.#clock.monotonic() - now;
  }
}
