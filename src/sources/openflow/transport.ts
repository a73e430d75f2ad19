/**
 * The listener, and a `Channel` with bounded output for each connection. All messages of one turn of the event loop to
 * one peer are sent with one write at its end. A peer that does not read is disconnected once its backlog exceeds a
 * limit, so that no switch can make the process hold memory. A peer that sends too much can be paused; TCP then applies
 * backpressure.
 *
 * With TLS, each accepted socket is upgraded with the certificates that are current at that time, so that changed files
 * apply to new sessions without a new listener.
 */
import type { Socket } from "bun";
import type { Certificates } from "../../lib/certificate-files.ts";
import { SourceError } from "../source.ts";
import { fingerprintDigits, type PeerCertificate } from "./allow-list.ts";
import type { OpenflowSettings } from "./options.ts";
import { Quota } from "./quota.ts";

const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

export interface ChannelHandler {
  onData(chunk: Uint8Array): void;
  /** `byPeer`: the connection was closed by the peer or lost, not closed here. */
  onClose(reason: string, byPeer: boolean): void;
}

export interface Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The verified certificate of the peer; undefined without one. */
  readonly certificate: PeerCertificate | undefined;
  /** Bytes that the socket has not accepted yet. */
  readonly backlogBytes: number;
  send(message: Uint8Array): void;
  /** Writes what the socket accepts at once, then closes the connection. `onClose` is called with `reason`. */
  close(reason: string): void;
  /** Closes the connection at once, after `close`. */
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Of all connections of one peer address, and of all peers. */
const BACKLOG_LIMITS = { perAddress: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };

/** The channels to flush at the end of this turn of the event loop, and what all channels have to send. */
class FlushQueue {
  readonly backlog = new Quota(BACKLOG_LIMITS);
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
  certificate: PeerCertificate | undefined;
  #socket: Socket<SocketData>;
  readonly #flushQueue: FlushQueue;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** How many of them count for the limits of its peer and of the source. */
  #countedBytes = 0;
  #flushScheduled = false;
  #blocked = false;
  #closeReason: string | undefined;

  /** `blocked`: nothing is written before `flush` is called. */
  constructor(socket: Socket<SocketData>, flushQueue: FlushQueue, blocked: boolean) {
    this.#socket = socket;
    this.#flushQueue = flushQueue;
    this.#blocked = blocked;
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
    if (this.#queuedBytes > MAX_BACKLOG_BYTES) this.#destroyBlocked();
    else if (this.#blocked) this.#count();
    else if (!this.#flushScheduled) {
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
    this.#count();
  }

  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.flush();
    this.#closeReason = reason;
    this.#socket.end();
  }

  terminate(): void {
    this.#destroy(this.#closeReason ?? "terminated");
  }

  #destroy(reason: string): void {
    this.#closeReason = reason;
    this.discard();
    this.#socket.terminate();
  }

  /** Nothing is sent any more. */
  discard(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#count();
  }

  /** Only what the socket did not accept counts: the rest leaves at the end of this turn. */
  #count(): void {
    const more = this.#queuedBytes - this.#countedBytes;
    if (more === 0) return;
    const { backlog } = this.#flushQueue;
    const exceeds = more > 0 && backlog.exceededBy(this.remoteAddress, more) !== undefined;
    backlog.add(this.remoteAddress, more);
    this.#countedBytes = this.#queuedBytes;
    if (exceeds) this.#destroyBlocked();
  }

  #destroyBlocked(): void {
    this.#destroy("does not read what it is sent");
  }

  /** The socket is encrypted from now on. */
  secure(socket: Socket<SocketData>): void {
    this.#socket = socket;
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

/**
 * `accept` returns the handler of a new connection, or undefined to close it at once. `certificates` returns those of this
 * service; without it connections are not encrypted.
 */
export function listen(
  settings: Pick<OpenflowSettings, "host" | "port">,
  certificates: (() => Certificates) | undefined,
  accept: (channel: Channel) => ChannelHandler | undefined,
): OpenflowListener {
  const flushQueue = new FlushQueue();
  const handlers: Bun.SocketHandler<SocketData> = {
    data: (socket, chunk) => socket.data.handler?.onData(chunk),
    drain: (socket) => socket.data.channel?.flush(),
    close: (socket, error) => onClose(socket.data, error),
    error: () => {},
  };
  const onOpen = (socket: Socket<SocketData>) => {
    const channel = new SocketChannel(socket, flushQueue, certificates !== undefined);
    const handler = accept(channel);
    socket.data = { channel, handler };
    if (!handler) {
      socket.terminate();
      return;
    }
    socket.setNoDelay(true);
    if (certificates) startTls(socket, socket.data, certificates(), handlers);
    // The hello is sent at once: the peer waits for it before it continues.
    else channel.flush();
  };
  try {
    const server = Bun.listen<SocketData>({
      hostname: settings.host,
      port: settings.port,
      exclusive: true,
      data: { channel: undefined, handler: undefined },
      socket: {
        ...handlers,
        open: onOpen,
        // With TLS these are the encrypted bytes.
        ...(certificates && { data: () => {}, drain: () => {} }),
      },
    });
    return { host: settings.host, port: server.port, stop: () => server.stop(true) };
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const cause = inUse ? "the address is in use" : error instanceof Error ? error.message : String(error);
    throw new SourceError(`cannot listen on ${settings.host}:${settings.port}: ${cause}`);
  }
}

/** Once: with TLS both the encrypted and the plain side of a socket report its end. */
function onClose(data: SocketData, error: Error | undefined): void {
  const { handler, channel } = data;
  data.channel = undefined;
  data.handler = undefined;
  channel?.discard();
  const localReason = channel?.closeReason;
  const peerReason = error ? `connection lost: ${error.message}` : "closed by the switch";
  handler?.onClose(localReason ?? peerReason, localReason === undefined);
}

function startTls(
  socket: Socket<SocketData>,
  data: SocketData,
  { cert, key, ca }: Certificates,
  handlers: Bun.SocketHandler<SocketData>,
): void {
  const requiresCertificate = ca !== undefined;
  const [, secure] = socket.upgradeTLS<SocketData>({
    data,
    tls: { cert, key, ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }) },
    socket: {
      ...handlers,
      handshake: (peer, success) => {
        const { channel } = peer.data;
        if (!success || !channel || (requiresCertificate && !peer.authorized)) {
          peer.terminate();
          return;
        }
        if (requiresCertificate) channel.certificate = readCertificate(peer);
        channel.flush();
      },
    },
  });
  data.channel?.secure(secure);
}

function readCertificate(socket: Socket<SocketData>): PeerCertificate | undefined {
  const { subject, fingerprint256 } = socket.getPeerCertificate() ?? {};
  if (fingerprint256 === undefined) return undefined;
  const name: unknown = subject?.CN;
  return {
    commonName: typeof name === "string" ? name : undefined,
    fingerprint: fingerprintDigits(fingerprint256),
  };
}
