/**
 * A connection without a network: a socket that accepts as many bytes as the test allows, and a handler with responses of
 * every kind.
 */
import type { BodySource } from "../../src/http1/body-source.ts";
import { Connection } from "../../src/http1/connection.ts";
import {
  ConnectionCounters,
  type ConnectionInfo,
  type Handler,
  type ServerContext,
  type Socket,
} from "../../src/http1/handler.ts";
import type { ParseError, Request } from "../../src/http1/request.ts";
import type { Response } from "../../src/http1/response.ts";
import { SerializedResponse } from "../../src/http1/serialized-response.ts";
import { TurnQueue } from "../../src/http1/turn-queue.ts";

const LIMITS = {
  maxUrlBytes: 300,
  maxHeadBytes: 1000,
  maxConnections: 9,
  maxAnonymousConnections: 5,
  minReadBytesPerSecond: 100,
  idleTimeoutMs: 60_000,
  headTimeoutMs: 10_000,
  lingerTimeoutMs: 2_000,
};
export const ORIGIN = { remoteAddress: "192.0.2.1", isOwnProcess: false };
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
export const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Behaves as the runtime's sockets: `onClose` is called synchronously, and a write after it returns -1. */
export class FakeSocket implements Socket {
  readonly calls: string[] = [];
  output = "";
  writable = Number.POSITIVE_INFINITY;
  onClose = () => {};
  #open = true;

  write(bytes: Uint8Array, start = 0, length = bytes.length): number {
    if (!this.#open) return -1;
    const accepted = Math.min(this.writable, length);
    this.writable -= accepted;
    this.output += Buffer.from(bytes.subarray(start, start + accepted)).toString("latin1");
    return accepted;
  }
  end = () => this.#close("end");
  terminate = () => this.#close("terminate");
  shutdown(): void {
    this.calls.push("shutdown");
  }
  pause(): void {
    this.calls.push("pause");
  }
  resume(): void {
    this.calls.push("resume");
  }
  #close(how: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.calls.push(how);
    this.onClose();
  }
}

export class FakeBodySource implements BodySource {
  readonly noTimeout: boolean;
  pending: (Uint8Array | "wait" | "end")[] = [];
  closeCount = 0;
  onReadable = () => {};

  constructor(noTimeout: boolean) {
    this.noTimeout = noTimeout;
  }
  open(onReadable: () => void): void {
    this.onReadable = onReadable;
  }
  next(): Uint8Array | "wait" | "end" {
    if (this.closeCount > 0) throw new Error("read after it was closed");
    return this.pending.shift() ?? "wait";
  }
  close(): void {
    this.closeCount++;
  }
  push(...texts: string[]): void {
    this.pending.push(...texts.map((text) => (text === "end" ? text : Buffer.from(text))));
    this.onReadable();
  }
}

export const text = (body: string, headers: Record<string, string> = {}): Response => ({
  status: 200,
  headers,
  body,
});

export class FakeHandler implements Handler {
  readonly requests: string[] = [];
  readonly errors: string[] = [];
  readonly bodySources: FakeBodySource[] = [];
  readonly deferred: PromiseWithResolvers<Response>[] = [];

  /** Every request is authenticated, except those of paths that begin with /refused. */
  handle(
    { method, target }: Request,
    connection: ConnectionInfo,
  ): SerializedResponse | Response | Promise<Response> {
    this.requests.push(`${method} ${target}`);
    if (target.startsWith("/refused")) return { status: 401, headers: {}, body: target };
    connection.markAuthenticated();
    switch (target.split("?")[0]) {
      case "/serialized":
        return new SerializedResponse(200, {}, Buffer.from("serialized"));
      case "/not-modified":
        return { status: 304, headers: { ETag: '"x"' }, body: null };
      case "/no-content":
        return { status: 204, headers: {}, body: null };
      case "/source":
        return { status: 200, headers: {}, body: this.addBodySource(false) };
      case "/source-with-length":
        return { status: 200, headers: { "Content-Length": "5" }, body: this.addBodySource(false) };
      case "/stream":
        return { status: 200, headers: {}, body: this.addBodySource(true) };
      case "/deferred": {
        const deferred = Promise.withResolvers<Response>();
        this.deferred.push(deferred);
        return deferred.promise;
      }
      case "/throws":
        throw new Error("thrown");
      case "/unsafe":
        return { status: 200, headers: { X: "a\r\nSet-Cookie: b" }, body: this.addBodySource(false) };
      case "/relayed":
        return { status: 200, headers: {}, body: null };
      default:
        return text(target);
    }
  }

  addBodySource(noTimeout: boolean): FakeBodySource {
    const bodySource = new FakeBodySource(noTimeout);
    this.bodySources.push(bodySource);
    return bodySource;
  }

  onParseError({ code }: ParseError): Response {
    return { status: 400, headers: {}, body: code };
  }

  onError(error: unknown): Response {
    this.errors.push(error instanceof Error ? error.message : String(error));
    return { status: 500, headers: {}, body: "failed" };
  }
}

export class ConnectionHarness implements ServerContext {
  readonly handler = new FakeHandler();
  readonly limits = LIMITS;
  readonly counters = new ConnectionCounters();
  readonly anonymousTurns: TurnQueue;
  readonly authenticatedTurns: TurnQueue;
  readonly socket = new FakeSocket();
  readonly connection: Connection;
  stopping = false;
  inFlight = 0;
  anonymousBytes = 0;
  time = 1_000_000_000_000;

  constructor({ anonymousUnits = 32, authenticatedUnits = 256 } = {}) {
    this.anonymousTurns = new TurnQueue(anonymousUnits);
    this.authenticatedTurns = new TurnQueue(authenticatedUnits);
    this.connection = new Connection(this.socket, this, ORIGIN);
    this.socket.onClose = () => this.connection.onClose();
  }

  /** One more connection of the same server, whose output nobody looks at. */
  connect(): Connection {
    return new Connection(new FakeSocket(), this, ORIGIN);
  }

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }

  onAuthenticated(): void {}

  onAnonymousBytes(change: number): void {
    this.anonymousBytes += change;
  }

  receive(...texts: string[]): void {
    for (const bytes of texts) this.connection.onData(Buffer.from(bytes, "latin1"));
  }

  /** How the socket was closed. Without the pauses while bytes behind the last response are discarded. */
  get closingCalls(): string[] {
    return this.socket.calls.filter((call) => call !== "pause" && call !== "resume");
  }

  /** The bytes written since the last call. */
  takeOutput(): string {
    const { output } = this.socket;
    this.socket.output = "";
    return output;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.socket.writable = room;
    this.connection.onDrain();
  }

  deferredResponse(n: number): PromiseWithResolvers<Response> {
    const deferred = this.handler.deferred[n];
    if (!deferred) throw new Error(`there was no deferred response ${n}`);
    return deferred;
  }

  bodySource(n = 0): FakeBodySource {
    const bodySource = this.handler.bodySources[n];
    if (!bodySource) throw new Error(`there was no body source ${n}`);
    return bodySource;
  }

  advance(ms: number): void {
    this.time += ms;
    this.connection.checkTimeout(this.time);
  }
}

export const statuses = (output: string) =>
  [...output.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
export const bodies = (output: string) => output.split(/HTTP\/1\.1 .*?\r\n\r\n/s).slice(1);
