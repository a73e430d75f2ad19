/** Requests byte by byte, for what no HTTP library would send, and answers as they come off the wire. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** The first answer's status line and headers. */
  readonly head: readonly string[];
  /** What followed that head. */
  readonly body: string;
  readonly all: string;
}

export interface RawOptions {
  /** Sent after the text, at the pace the socket takes it. */
  readonly body?: Iterable<Uint8Array>;
  /** Sent last. */
  readonly last?: string;
  readonly localAddress?: string;
}

/**
 * Sends, and gives what came once the server closed. A server that was not requested to close leaves the connection
 * open: then once the first answer is whole.
 */
export async function rawRequest(port: number, text: string, options: RawOptions = {}): Promise<RawAnswer> {
  const { localAddress, body = [], last = "" } = options;
  const socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
  const isHead = text.startsWith("HEAD ");
  const closes = /^connection: close\r$/im.test(text + last);
  let all = "";
  const done = new Promise<void>((resolve) => {
    socket.on("data", (data) => {
      all += data.toString("latin1");
      if (!isHead && isEndless(all)) resolve();
      else if (!closes && isWhole(all, isHead)) resolve();
    });
    socket.on("close", () => resolve());
    socket.on("error", () => {});
  });
  await write(socket, Buffer.from(text, "latin1"));
  for (const piece of body) await write(socket, piece);
  if (last !== "") await write(socket, Buffer.from(last, "latin1"));
  await done;
  socket.destroy();
  const gap = all.indexOf("\r\n\r\n");
  const head = (gap < 0 ? all : all.slice(0, gap)).split("\r\n");
  return { head, body: gap < 0 ? "" : all.slice(gap + 4), all };
}

/** An event stream, of which the head is all that is waited for. */
const isEndless = (all: string): boolean => /\r\ncontent-type: text\/event-stream\b.*\r\n\r\n/is.test(all);

function isWhole(all: string, isHead: boolean): boolean {
  const gap = all.indexOf("\r\n\r\n");
  if (gap < 0) return false;
  if (isHead) return true;
  const head = all.slice(0, gap);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return all.endsWith("\r\n0\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && all.length >= gap + 4 + Number(length);
}

function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.write(bytes)) return resolve();
    const go = () => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.on("drain", go);
    socket.on("close", go);
  });
}

export interface SlowRequest {
  /** Resolves when the first bytes have come; no more are taken until `finish`. */
  readonly begun: Promise<void>;
  /** Takes the rest, and gives the body. */
  finish(): Promise<Buffer>;
}

/** A reader that stops after the first bytes, so that most of a large answer is still to be sent. */
export function slowRequest(port: number, target: string, authorization: string): SlowRequest {
  const socket = connect({ port, host: "127.0.0.1" });
  const parts: Buffer[] = [];
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const begun = new Promise<void>((resolve) =>
    socket.once("data", (data) => {
      parts.push(Buffer.from(data));
      socket.pause();
      resolve();
    }),
  );
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  );
  return {
    begun,
    async finish() {
      socket.on("data", (data) => parts.push(Buffer.from(data)));
      socket.resume();
      await ended;
      const all = Buffer.concat(parts);
      const gap = all.indexOf("\r\n\r\n");
      const chunked = /transfer-encoding: chunked/i.test(all.toString("latin1", 0, gap));
      return chunked ? dechunked(all.subarray(gap + 4)) : all.subarray(gap + 4);
    },
  };
}

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
