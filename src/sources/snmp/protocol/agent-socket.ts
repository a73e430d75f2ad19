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
import type { Counters } from "./counters.ts";
import { inspectMessage, type SecurityLevel } from "./message-guard.ts";
import type { Pacer } from "./pacer.ts";

export interface Peer {
  readonly address: string;
  readonly port: number;
}

type SendCallback = (error: Error | null, bytes?: number) => void;

/** Datagrams of one poll. The dropped ones explain a poll that timed out. */
export interface Received {
  accepted: number;
  otherAddress: number;
  malformed: number;
  insecure: number;
}

const nothingReceived = (): Received => ({ accepted: 0, otherAddress: 0, malformed: 0, insecure: 0 });

interface OpenSocket {
  readonly socket: Socket;
  readonly peer: Peer;
  readonly stop: AbortController;
  sendsLeft: number;
}

export class AgentSocket extends EventEmitter {
  readonly #level: SecurityLevel;
  readonly #pacer: Pacer;
  readonly #counters: Counters;
  #open: OpenSocket | undefined;
  received: Received = nothingReceived();
  /** How long requests of this poll have waited for their turn. */
  pacedMs = 0;

  constructor(level: SecurityLevel, pacer: Pacer, counters: Counters) {
    super();
    this.#level = level;
    this.#pacer = pacer;
    this.#counters = counters;
  }

  open(peer: Peer): void {
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

  #receive(bytes: Buffer, from: RemoteInfo, peer: Peer): void {
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
