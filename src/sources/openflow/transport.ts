/**
 * Sockets: the listener and, for each connection, a `Channel` with bounded output. All that one turn of the event loop
 * has to say to a peer, whoever caused it, goes out in one write at its end. A peer that does not read is cut off once
 * its backlog passes a cap, so no switch can make us hold memory; a peer that sends too much can be paused, and TCP then
 * holds it back.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "bun";
import { SourceError } from "../source.ts";
import type { Settings } from "./options.ts";

const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

export interface Receiver {
  received(chunk: Uint8Array): void;
  /** `byPeer`: not we, but the other side or the network ended it. */
  ended(reason: string, byPeer: boolean): void;
}

export interface Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Bytes not yet taken by the peer's side of the connection. */
  readonly backlog: number;
  send(message: Uint8Array): void;
  /** What the peer takes at once goes out, then the connection ends; `ended` is called with `reason`. */
  end(reason: string): void;
  pause(): void;
  resume(): void;
}

/** The channels that have something to write when this turn of the event loop ends. */
class TurnEnd {
  #waiting: SocketChannel[] = [];

  add(channel: SocketChannel): void {
    if (this.#waiting.push(channel) > 1) return;
    setImmediate(() => {
      const channels = this.#waiting;
      this.#waiting = [];
      for (const each of channels) each.flush();
    });
  }
}

class SocketChannel implements Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #socket: Socket<Connection>;
  readonly #turnEnd: TurnEnd;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #flushing = false;
  #blocked = false;
  #reason: string | undefined;

  constructor(socket: Socket<Connection>, turnEnd: TurnEnd) {
    this.#socket = socket;
    this.#turnEnd = turnEnd;
    // On a socket for both families an IPv4 peer shows in its IPv6 form.
    this.remoteAddress = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
    this.remotePort = socket.remotePort;
  }

  get backlog(): number {
    return this.#queued;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  send(message: Uint8Array): void {
    if (this.#reason !== undefined) return;
    this.#queue.push(message);
    this.#queued += message.length;
    if (this.#queued > MAX_BACKLOG_BYTES) {
      this.#cut("does not read what it is sent");
    } else if (!this.#flushing && !this.#blocked) {
      this.#flushing = true;
      this.#turnEnd.add(this);
    }
  }

  flush(): void {
    this.#flushing = false;
    this.#blocked = false;
    if (this.#queued === 0) return;
    const [only] = this.#queue;
    const bytes = this.#queue.length === 1 && only ? only : Buffer.concat(this.#queue);
    const written = Math.max(0, this.#socket.write(bytes));
    this.#queue = written < bytes.length ? [bytes.subarray(written)] : [];
    this.#queued = bytes.length - written;
    this.#blocked = this.#queued > 0;
  }

  end(reason: string): void {
    if (this.#reason !== undefined) return;
    this.flush();
    this.#reason = reason;
    this.#socket.end();
  }

  #cut(reason: string): void {
    this.#reason = reason;
    this.#queue = [];
    this.#queued = 0;
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

interface Connection {
  channel: SocketChannel | undefined;
  receiver: Receiver | undefined;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Ends the listener and every connection. */
  stop(): void;
}

/** `accept` says who receives from a new connection, or nobody: then it is closed at once. */
export function listen(settings: Settings, accept: (channel: Channel) => Receiver | undefined): Listener {
  const tls = settings.tls && {
    cert: readPem(settings.tls.cert),
    key: readPem(settings.tls.key),
    ...(settings.tls.ca !== undefined && {
      ca: readPem(settings.tls.ca),
      requestCert: true,
      rejectUnauthorized: true,
    }),
  };
  const turnEnd = new TurnEnd();
  const begin = (socket: Socket<Connection>) => {
    const channel = new SocketChannel(socket, turnEnd);
    const receiver = accept(channel);
    socket.data = { channel, receiver };
    if (!receiver) {
      socket.terminate();
      return;
    }
    socket.setNoDelay(true);
    // The first words at once: whoever connects waits for them, perhaps with others behind it.
    channel.flush();
  };
  try {
    const server = Bun.listen<Connection>({
      hostname: settings.host,
      port: settings.port,
      exclusive: true,
      ...(tls && { tls }),
      data: { channel: undefined, receiver: undefined },
      socket: {
        open: begin,
        data: (socket, chunk) => socket.data.receiver?.received(chunk),
        drain: (socket) => socket.data.channel?.flush(),
        close: (socket, error) => {
          const { receiver, channel } = socket.data;
          socket.data = { channel: undefined, receiver: undefined };
          const ours = channel?.reason;
          const theirs = error ? `connection lost: ${error.message}` : "closed by the switch";
          receiver?.ended(ours ?? theirs, ours === undefined);
        },
        error: () => {},
      },
    });
    return { host: settings.host, port: server.port, stop: () => server.stop(true) };
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const why = inUse ? "the address is in use" : error instanceof Error ? error.message : String(error);
    throw new SourceError(`cannot listen on ${settings.host}:${settings.port}: ${why}`);
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
