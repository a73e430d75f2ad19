/**
 * The listener, and a `Channel` with bounded output for each connection. All messages of one turn of the event loop to
 * one peer are sent with one write at its end. A peer that does not read is disconnected once its backlog exceeds a
 * limit, so that no switch can make the process hold memory. A peer that sends too much can be paused; TCP then applies
 * backpressure.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "bun";
import { SourceError } from "../source.ts";
import type { OpenflowSettings } from "./options.ts";

const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

export interface ChannelHandler {
  onData(chunk: Uint8Array): void;
  /** `byPeer`: the connection was closed by the peer or lost, not closed here. */
  onClose(reason: string, byPeer: boolean): void;
}

export interface Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Bytes that the socket has not accepted yet. */
  readonly backlogBytes: number;
  send(message: Uint8Array): void;
  /** Writes what the socket accepts at once, then closes the connection. `onClose` is called with `reason`. */
  close(reason: string): void;
  pause(): void;
  resume(): void;
}

/** The channels to flush at the end of this turn of the event loop. */
class FlushQueue {
  #channels: SocketChannel[] = [];

  add(channel: SocketChannel): void {
    if (this.#channels.push(channel) > 1) return;
    setImmediate(() => {
      const channels = this.#channels;
      this.#channels = [];
      for (const each of channels) each.flush();
    });
  }
}

class SocketChannel implements Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #socket: Socket<SocketData>;
  readonly #flushQueue: FlushQueue;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #flushScheduled = false;
  #blocked = false;
  #closeReason: string | undefined;

  constructor(socket: Socket<SocketData>, flushQueue: FlushQueue) {
    this.#socket = socket;
    this.#flushQueue = flushQueue;
    // A dual-stack socket reports an IPv4 peer in its IPv4-mapped IPv6 form.
    this.remoteAddress = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
    this.remotePort = socket.remotePort;
  }

  get backlogBytes(): number {
    return this.#queuedBytes;
  }

  get closeReason(): string | undefined {
    return this.#closeReason;
  }

  send(message: Uint8Array): void {
    if (this.#closeReason !== undefined) return;
    this.#queue.push(message);
    this.#queuedBytes += message.length;
    if (this.#queuedBytes > MAX_BACKLOG_BYTES) {
      this.#destroy("does not read what it is sent");
    } else if (!this.#flushScheduled && !this.#blocked) {
      this.#flushScheduled = true;
      this.#flushQueue.add(this);
    }
  }

  flush(): void {
    this.#flushScheduled = false;
    this.#blocked = false;
    if (this.#queuedBytes === 0) return;
    const [first] = this.#queue;
    const bytes = this.#queue.length === 1 && first ? first : Buffer.concat(this.#queue);
    const written = Math.max(0, this.#socket.write(bytes));
    this.#queue = written < bytes.length ? [bytes.subarray(written)] : [];
    this.#queuedBytes = bytes.length - written;
    this.#blocked = this.#queuedBytes > 0;
  }

  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.flush();
    this.#closeReason = reason;
    this.#socket.end();
  }

  #destroy(reason: string): void {
    this.#closeReason = reason;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

interface SocketData {
  channel: SocketChannel | undefined;
  handler: ChannelHandler | undefined;
}

export interface OpenflowListener {
  readonly host: string;
  readonly port: number;
  /** Closes the listener and every connection. */
  stop(): void;
}

/** `accept` returns the handler of a new connection, or undefined to close it at once. */
export function listen(
  settings: OpenflowSettings,
  accept: (channel: Channel) => ChannelHandler | undefined,
): OpenflowListener {
  const tls = settings.tls && {
    cert: readPem(settings.tls.cert),
    key: readPem(settings.tls.key),
    ...(settings.tls.ca !== undefined && {
      ca: readPem(settings.tls.ca),
      requestCert: true,
      rejectUnauthorized: true,
    }),
  };
  const flushQueue = new FlushQueue();
  const onOpen = (socket: Socket<SocketData>) => {
    const channel = new SocketChannel(socket, flushQueue);
    const handler = accept(channel);
    socket.data = { channel, handler };
    if (!handler) {
      socket.terminate();
      return;
    }
    socket.setNoDelay(true);
    // The hello is sent at once: the peer waits for it before it continues.
    channel.flush();
  };
  try {
    const server = Bun.listen<SocketData>({
      hostname: settings.host,
      port: settings.port,
      exclusive: true,
      ...(tls && { tls }),
      data: { channel: undefined, handler: undefined },
      socket: {
        open: onOpen,
        data: (socket, chunk) => socket.data.handler?.onData(chunk),
        drain: (socket) => socket.data.channel?.flush(),
        close: (socket, error) => {
          const { handler, channel } = socket.data;
          socket.data = { channel: undefined, handler: undefined };
          const localReason = channel?.closeReason;
          const peerReason = error ? `connection lost: ${error.message}` : "closed by the switch";
          handler?.onClose(localReason ?? peerReason, localReason === undefined);
        },
        error: () => {},
      },
    });
    return { host: settings.host, port: server.port, stop: () => server.stop(true) };
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const cause = inUse ? "the address is in use" : error instanceof Error ? error.message : String(error);
    throw new SourceError(`cannot listen on ${settings.host}:${settings.port}: ${cause}`);
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
