/** Requests byte by byte, for what no HTTP library would send, and answers as they come off the wire. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** The first answer's status line and headers. */
  readonly head: readonly string[];
  /** What followed that head. */
  readonly body: string;
  readonly all: string;
  /** Whether the server left the connection open. */
  readonly open: boolean;
}

export interface RawOptions {
  /** Sent after the text, at the pace the socket takes it. */
  readonly body?: Iterable<Uint8Array>;
  /** Sent last. */
  readonly last?: string;
  readonly localAddress?: string;
}

/** Sends, and gives what came once the server closed, or was silent for a moment after its first answer. */
export async function rawRequest(port: number, text: string, options: RawOptions = {}): Promise<RawAnswer> {
  const { localAddress } = options;
  const socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
  let all = "";
  let open = true;
  const done = new Promise<void>((resolve) => {
    let quiet: NodeJS.Timeout | undefined;
    socket.on("data", (data) => {
      all += data.toString("latin1");
      clearTimeout(quiet);
      quiet = setTimeout(resolve, 60);
    });
    socket.on("close", () => {
      open = false;
      clearTimeout(quiet);
      resolve();
    });
    socket.on("error", () => {});
  });
  await write(socket, Buffer.from(text, "latin1"));
  for (const piece of options.body ?? []) await write(socket, piece);
  if (options.last !== undefined) {
    await write(socket, Buffer.from(options.last, "latin1"));
    while (open) await Promise.race([done, closed(socket)]).then(() => new Promise((r) => setTimeout(r, 5)));
  } else await done;
  socket.destroy();
  const gap = all.indexOf("\r\n\r\n");
  const head = (gap < 0 ? all : all.slice(0, gap)).split("\r\n");
  return { head, body: gap < 0 ? "" : all.slice(gap + 4), all, open };
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

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
