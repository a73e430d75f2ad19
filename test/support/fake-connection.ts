/** A connection without a network: a line that takes as much as the test says, and answers of every kind. */

import type { BodySource } from "../../src/http1/body-source.ts";
import { Connection, type Handler, type ServerContext, type Socket } from "../../src/http1/connection.ts";
import type { ParseError, Request } from "../../src/http1/request.ts";
import type { Response } from "../../src/http1/response.ts";
import { SerializedResponse } from "../../src/http1/serialized-response.ts";

const LIMITS = {
  urlBytes: 300,
  headBytes: 1000,
  connections: 9,
  idleMs: 60_000,
  headMs: 10_000,
  lingerMs: 2_000,
};
export const turn = () => new Promise((resolve) => setImmediate(resolve));
export const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Behaves as the runtime's sockets do: closing is told at once, and to write to what is closed gives -1. */
class FakeLine implements Socket {
  readonly remoteAddress = "192.0.2.1";
  readonly did: string[] = [];
  text = "";
  room = Number.POSITIVE_INFINITY;
  onClose = () => {};
  #open = true;

  write(bytes: Uint8Array): number {
    if (!this.#open) return -1;
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.text += Buffer.from(bytes.subarray(0, taken)).toString("latin1");
    return taken;
  }
  end = () => this.#close("end");
  terminate = () => this.#close("terminate");
  shutdown(): void {
    this.did.push("shutdown");
  }
  pause(): void {
    this.did.push("pause");
  }
  resume(): void {
    this.did.push("resume");
  }
  #close(how: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.did.push(how);
    this.onClose();
  }
}

export class FakeFeed implements BodySource {
  readonly noTimeout: boolean;
  says: (Uint8Array | "wait" | "end")[] = [];
  closed = 0;
  more = () => {};

  constructor(patient: boolean) {
    this.noTimeout = patient;
  }
  open(more: () => void): void {
    this.more = more;
  }
  next(): Uint8Array | "wait" | "end" {
    if (this.closed > 0) throw new Error("asked after it was closed");
    return this.says.shift() ?? "wait";
  }
  close(): void {
    this.closed++;
  }
  say(...texts: string[]): void {
    this.says.push(...texts.map((text) => (text === "end" ? text : Buffer.from(text))));
    this.more();
  }
}

export const text = (body: string, headers: Record<string, string> = {}): Response => ({
  status: 200,
  headers,
  body,
});

class FakeHandler implements Handler {
  readonly asked: string[] = [];
  readonly faults: string[] = [];
  readonly feeds: FakeFeed[] = [];
  readonly later: PromiseWithResolvers<Response>[] = [];

  handle({ method, target }: Request): SerializedResponse | Response | Promise<Response> {
    this.asked.push(`${method} ${target}`);
    switch (target.split("?")[0]) {
      case "/message":
        return new SerializedResponse(200, {}, Buffer.from("message"));
      case "/unchanged":
        return { status: 304, headers: { ETag: '"x"' }, body: null };
      case "/nothing":
        return { status: 204, headers: {}, body: null };
      case "/feed":
        return { status: 200, headers: {}, body: this.feed(false) };
      case "/counted":
        return { status: 200, headers: { "Content-Length": "5" }, body: this.feed(false) };
      case "/stream":
        return { status: 200, headers: {}, body: this.feed(true) };
      case "/later": {
        const made = Promise.withResolvers<Response>();
        this.later.push(made);
        return made.promise;
      }
      case "/throws":
        throw new Error("thrown");
      case "/unsafe":
        return { status: 200, headers: { X: "a\r\nSet-Cookie: b" }, body: this.feed(false) };
      case "/relayed":
        return { status: 200, headers: {}, body: null };
      default:
        return text(target);
    }
  }

  feed(patient: boolean): FakeFeed {
    const feed = new FakeFeed(patient);
    this.feeds.push(feed);
    return feed;
  }

  onParseError({ code }: ParseError): Response {
    return { status: 400, headers: {}, body: code };
  }

  onError(error: unknown): Response {
    this.faults.push(error instanceof Error ? error.message : String(error));
    return { status: 500, headers: {}, body: "failed" };
  }
}

export class Bench implements ServerContext {
  readonly handler = new FakeHandler();
  readonly limits = LIMITS;
  readonly line = new FakeLine();
  readonly connection: Connection;
  stopping = false;
  inFlight = 0;
  time = 1_000_000_000_000;

  constructor() {
    this.connection = new Connection(this.line, this);
    this.line.onClose = () => this.connection.closed();
  }

  now(): number {
    return this.time;
  }

  receive(...texts: string[]): void {
    for (const one of texts) this.connection.received(Buffer.from(one, "latin1"));
  }

  /** What came since last asked. */
  take(): string {
    const { text: came } = this.line;
    this.line.text = "";
    return came;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.line.room = room;
    this.connection.drained();
  }

  later(n: number): PromiseWithResolvers<Response> {
    const made = this.handler.later[n];
    if (!made) throw new Error(`answer ${n} was not asked for`);
    return made;
  }

  feed(n = 0): FakeFeed {
    const feed = this.handler.feeds[n];
    if (!feed) throw new Error(`feed ${n} was not asked for`);
    return feed;
  }

  pass(ms: number): void {
    this.time += ms;
    this.connection.check(this.time);
  }
}

export const statuses = (came: string) =>
  [...came.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
export const bodies = (came: string) => came.split(/HTTP\/1\.1 .*?\r\n\r\n/s).slice(1);
