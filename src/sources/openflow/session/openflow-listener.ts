/**
 * The listener, and a `Channel` with bounded output for each connection. All messages to one peer in one turn of the event
 * loop are sent with one write at the end of the turn. A peer that does not read is disconnected once its backlog exceeds a
 * limit, so that no switch can make the process hold memory. A peer that sends too much can be paused; TCP then applies
 * backpressure.
 *
 * With TLS, each accepted socket is upgraded with the certificates that are current at that time, so that changed files
 * apply to new sessions without a new listener.
 *
 * Near the limit of file descriptors a new connection is accepted only if another one is closed for it. When no descriptor
 * is left, the port is closed until there are enough, because the runtime would retry to accept without a pause.
 */
import type { Socket } from "bun";
import type { Certificates } from "../../../lib/certificate-files.ts";
import { DescriptorMonitor, type DescriptorState } from "../../../lib/descriptor-monitor.ts";
import { errorMessage } from "../../../lib/error-message.ts";
import { type Logger, silentLogger } from "../../../lib/logger.ts";
import { Quota, QuotaAccount } from "../../../lib/quota.ts";
import { SuspendableSocket } from "../../../lib/suspendable-socket.ts";
import { SourceError } from "../../source.ts";
import type { OpenflowSettings } from "../options.ts";

/** Maximum number of bytes that wait to be sent on one connection. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;
/** Limits on the bytes that the source has to send and sockets do not accept, for each peer address and in total. */
const BACKLOG_LIMITS = { perKey: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };

/** The certificate that a switch presented, verified against the configured authority. */
export interface PeerCertificate {
  readonly commonName: string | undefined;
  /** SHA-256 of the certificate, hexadecimal digits in lower case. */
  readonly fingerprint: string;
}

/** The receiver of the data of a channel. */
export interface ChannelHandler {
  onData(chunk: Uint8Array): void;
  /** `byPeer` is true when the connection was closed by the peer or lost, false when it was closed here. */
  onClose(reason: string, byPeer: boolean): void;
}

/** The channels to flush at the end of this turn of the event loop, and the quota for the backlog of all channels. */
class FlushQueue {
  readonly backlog = new Quota(BACKLOG_LIMITS);
  #channels: Channel[] = [];

  add(channel: Channel): void {
    if (this.#channels.push(channel) > 1) return;
    setImmediate(() => {
      const channels = this.#channels;
      this.#channels = [];
      for (const each of channels) each.flush();
    });
  }
}

/** The connection of a switch. */
export class Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  handler: ChannelHandler | undefined;
  /** The verified certificate of the peer; undefined when none is required. */
  certificate: PeerCertificate | undefined;
  #socket: Socket<Channel | undefined>;
  readonly #flushQueue: FlushQueue;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  readonly #backlog: QuotaAccount;
  #flushScheduled = false;
  #blocked = false;
  #closeReason: string | undefined;

  /** When `blocked` is set, nothing is written before `flush` is called. */
  constructor(socket: Socket<Channel | undefined>, flushQueue: FlushQueue, blocked: boolean) {
    this.#socket = socket;
    this.#flushQueue = flushQueue;
    this.#blocked = blocked;
    // A dual-stack socket reports an IPv4 peer in its IPv4-mapped IPv6 form.
    this.remoteAddress = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
    this.remotePort = socket.remotePort;
    this.#backlog = new QuotaAccount(flushQueue.backlog, this.remoteAddress);
  }

  /** Number of bytes that wait to be sent. */
  get backlogBytes(): number {
    return this.#queuedBytes;
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

  /** Sends what the socket accepts at once, then closes. `onClose` of the handler is called with `reason`. */
  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.flush();
    this.#closeReason = reason;
    this.#socket.end();
  }

  /** Closes at once, also when the peer has not closed its side after `close`. */
  terminate(): void {
    this.#destroy(this.#closeReason ?? "terminated");
  }

  #destroy(reason: string): void {
    this.#closeReason = reason;
    this.#discard();
    this.#socket.terminate();
  }

  /** To be called once, when the connection has ended. */
  onClosed(error: Error | undefined): void {
    this.#discard();
    const peerReason = error ? `connection lost: ${error.message}` : "closed by the switch";
    this.handler?.onClose(this.#closeReason ?? peerReason, this.#closeReason === undefined);
  }

  /** Drops the messages that were not sent yet. */
  #discard(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#count();
  }

  /** Counts only the bytes that the socket did not accept. Other bytes are sent at the end of this turn. */
  #count(): void {
    if (!this.#backlog.set(this.#queuedBytes)) this.#destroyBlocked();
  }

  #destroyBlocked(): void {
    this.#destroy("does not read what it is sent");
  }

  /** Uses the encrypted socket from now on. */
  secure(socket: Socket<Channel | undefined>): void {
    this.#socket = socket;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

export interface OpenflowListener {
  readonly host: string;
  readonly port: number;
  /** Closes the port while there are too few file descriptors. To be called at every tick. */
  checkDescriptors(): void;
  /** Closes the listener and every connection. */
  stop(): void;
}

/** The reserve is twice that of the HTTP port, so that a flood of connections here leaves descriptors for requests. */
const DESCRIPTOR_RESERVES = 2;

/**
 * `accept` returns the handler of a new connection, or undefined to close it at once. `certificates` returns those of this
 * service; without it connections are not encrypted.
 */
export function listen(
  settings: Pick<OpenflowSettings, "host" | "port">,
  certificates: (() => Certificates) | undefined,
  accept: (channel: Channel, descriptorsAreLow: boolean) => ChannelHandler | undefined,
  log: Logger,
): OpenflowListener {
  const flushQueue = new FlushQueue();
  const channels = new Set<Channel>();
  const descriptors = new DescriptorMonitor({
    reserves: DESCRIPTOR_RESERVES,
    onChange: (state, limit) => logDescriptors(log, state, limit),
  });
  const handlers: Bun.SocketHandler<Channel | undefined> = {
    data: (socket, chunk) => socket.data?.handler?.onData(chunk),
    drain: (socket) => socket.data?.flush(),
    // With TLS both the encrypted and the plain socket report the end.
    close: ({ data: channel }, error) => {
      if (channel && channels.delete(channel)) channel.onClosed(error);
    },
    error: () => {},
  };
  const onOpen = (socket: Socket<Channel | undefined>) => {
    const channel = new Channel(socket, flushQueue, certificates !== undefined);
    channel.handler = accept(channel, descriptors.isSocketReserved(socket));
    socket.data = channel;
    if (!channel.handler) {
      socket.terminate();
      return;
    }
    channels.add(channel);
    socket.setNoDelay(true);
    if (certificates) startTls(socket, channel, certificates(), handlers);
    // The hello is sent at once, because the peer waits for it.
    else channel.flush();
  };
  const bind = (port: number) =>
    Bun.listen<Channel | undefined>({
      hostname: settings.host,
      port,
      exclusive: true,
      data: undefined,
      socket: {
        ...handlers,
        open: onOpen,
        // With TLS these events are about encrypted bytes. The upgraded socket handles the decrypted ones.
        ...(certificates && { data: () => {}, drain: () => {} }),
      },
    });
  const server = bindFirst(bind, settings);
  let isTaken = false;
  return {
    host: settings.host,
    port: server.port,
    checkDescriptors() {
      const state = descriptors.check();
      if (state === "exhausted") server.suspend();
      else if (state === "enough") isTaken = !resume(server, isTaken ? silentLogger : log);
    },
    stop() {
      server.stop();
      // Stopping the listener does not close connections that were accepted before the port was suspended.
      for (const channel of channels) channel.terminate();
    },
  };
}

function bindFirst(
  bind: (port: number) => Bun.TCPSocketListener<Channel | undefined>,
  { host, port }: Pick<OpenflowSettings, "host" | "port">,
): SuspendableSocket {
  try {
    return new SuspendableSocket(bind, port);
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    throw new SourceError(
      `cannot listen on ${host}:${port}: ${inUse ? "the address is in use" : errorMessage(error)}`,
    );
  }
}

/** Returns false when the port cannot be opened, for example because another process uses it. The caller tries again. */
function resume(server: SuspendableSocket, log: Logger): boolean {
  try {
    server.resume();
    return true;
  } catch (error) {
    log.warn("openflow: cannot listen again, still trying", {
      port: server.port,
      error: errorMessage(error),
    });
    return false;
  }
}

function logDescriptors(log: Logger, state: DescriptorState, limit: number): void {
  if (state === "enough") log.info("openflow: there are enough file descriptors again", { limit });
  else log.warn("openflow: too few file descriptors, new sessions may be refused", { limit });
}

function startTls(
  socket: Socket<Channel | undefined>,
  channel: Channel,
  { cert, key, ca }: Certificates,
  handlers: Bun.SocketHandler<Channel | undefined>,
): void {
  const requiresCertificate = ca !== undefined;
  const [, secure] = socket.upgradeTLS<Channel | undefined>({
    data: channel,
    tls: { cert, key, ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }) },
    socket: {
      ...handlers,
      handshake: (peer, success) => {
        if (!success || (requiresCertificate && !peer.authorized)) {
          peer.terminate();
          return;
        }
        if (requiresCertificate) channel.certificate = readCertificate(peer);
        channel.flush();
      },
    },
  });
  channel.secure(secure);
}

function readCertificate(socket: Socket<Channel | undefined>): PeerCertificate | undefined {
  const { subject, fingerprint256 } = socket.getPeerCertificate() ?? {};
  if (fingerprint256 === undefined) return undefined;
  const name: unknown = subject?.CN;
  return {
    commonName: typeof name === "string" ? name : undefined,
    fingerprint: fingerprintDigits(fingerprint256),
  };
}

/** Converts a SHA-256 fingerprint, with or without colons, to hexadecimal digits in lower case. */
export const fingerprintDigits = (text: string): string => text.replaceAll(":", "").toLowerCase();
