/** Requests as raw bytes, for what no HTTP library would send, and the raw responses. */
import { connect, type Socket } from "node:net";

export interface RawResponse {
  /** Status line and headers of the first response. */
  readonly head: readonly string[];
  /** All bytes behind that head. */
  readonly body: string;
  readonly all: string;
}

export interface RawOptions {
  /** Sent after the text, with backpressure. */
  readonly body?: Iterable<Uint8Array>;
  /** Sent after the body. */
  readonly last?: string;
  readonly localAddress?: string;
}

/**
 * Sends the bytes and returns everything received when the server has closed, or, without `Connection: close`, when the
 * first response is complete.
 */
export async function rawRequest(port: number, text: string, options: RawOptions = {}): Promise<RawResponse> {
  const { localAddress, body = [], last = "" } = options;
  const socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
  const isHead = text.startsWith("HEAD ");
  const closes = /^connection: close\r$/im.test(text + last);
  let all = "";
  const done = new Promise<void>((resolve) => {
    socket.on("data", (data) => {
      all += data.toString("latin1");
      if (!isHead && isEndless(all)) resolve();
      else if (!closes && isComplete(all, isHead)) resolve();
    });
    socket.on("close", () => resolve());
    socket.on("error", () => {});
  });
  await write(socket, Buffer.from(text, "latin1"));
  for (const piece of body) await write(socket, piece);
  if (last !== "") await write(socket, Buffer.from(last, "latin1"));
  await done;
  socket.destroy();
  const headEnd = all.indexOf("\r\n\r\n");
  const head = (headEnd < 0 ? all : all.slice(0, headEnd)).split("\r\n");
  return { head, body: headEnd < 0 ? "" : all.slice(headEnd + 4), all };
}

/** Of an event stream only the head is awaited. */
const isEndless = (all: string): boolean => /\r\ncontent-type: text\/event-stream\b.*\r\n\r\n/is.test(all);

function isComplete(all: string, isHead: boolean): boolean {
  const headEnd = all.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  if (isHead) return true;
  const head = all.slice(0, headEnd);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return all.endsWith("\r\n0\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && all.length >= headEnd + 4 + Number(length);
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
  /** Resolves with the head of the response. No more is read until `finish`. */
  readonly started: Promise<string>;
  /** Reads the rest and returns the body. */
  finish(): Promise<Buffer>;
  /** Closes the connection without reading the rest. */
  abort(): void;
}

/** A client that stops reading after the first bytes, so that most of a large response is still unsent. */
export function slowRequest(port: number, target: string, authorization: string): SlowRequest {
  const socket = connect({ port, host: "127.0.0.1" });
  const parts: Buffer[] = [];
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const started = new Promise<string>((resolve) =>
    socket.once("data", (data) => {
      parts.push(Buffer.from(data));
      socket.pause();
      resolve(data.toString("latin1").split("\r\n\r\n", 1).join());
    }),
  );
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  );
  return {
    started,
    abort: () => socket.destroy(),
    async finish() {
      socket.on("data", (data) => parts.push(Buffer.from(data)));
      socket.resume();
      await ended;
      const all = Buffer.concat(parts);
      const headEnd = all.indexOf("\r\n\r\n");
      const chunked = /transfer-encoding: chunked/i.test(all.toString("latin1", 0, headEnd));
      return chunked ? decodeChunks(all.subarray(headEnd + 4)) : all.subarray(headEnd + 4);
    },
  };
}

function decodeChunks(bytes: Buffer): Buffer {
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
