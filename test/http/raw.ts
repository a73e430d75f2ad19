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
