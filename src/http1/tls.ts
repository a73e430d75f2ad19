/**
 * TLS on accepted sockets. A socket is plain until its first record, the ClientHello, has arrived completely. Then the
 * handshake starts with the certificate that is current at that time, so a reload of the certificate needs no new
 * listener and loses no connection.
 *
 * Everything here happens before authentication, so it is bounded:
 * - A peer that sends nothing, or a part of a ClientHello, costs a TCP socket and no TLS state.
 * - The signature of a handshake takes up to a few milliseconds. Handshakes start in turns of the event loop, fairly
 *   between client addresses, so that a burst of handshakes does not delay requests.
 * - The number of unfinished handshakes, their bytes and their duration are limited. When there are too many, the oldest
 *   one of the address that has the most is closed.
 *
 * Only TLS 1.2 and 1.3 are accepted, which is the default of the runtime. The runtime does not support renegotiation.
 */
import type { Clock } from "../lib/clock.ts";
import { Multimap } from "../lib/multimap.ts";
import { Scheduler } from "../lib/scheduler.ts";
import type { Steps } from "../lib/steps.ts";
import type { Connection } from "./connection.ts";
import type { ClientCertificate, ConnectionOrigin, Socket } from "./handler.ts";
import type { LiveTlsIdentity, TlsIdentity } from "./tls-identity.ts";

/** Number of handshakes by result. Those counted as `displaced` were closed because there were too many unfinished ones. */
export type HandshakeCounts = Record<"completed" | "failed" | "timeout" | "displaced", number>;
export const createHandshakeCounts = (): HandshakeCounts => ({
  completed: 0,
  failed: 0,
  timeout: 0,
  displaced: 0,
});

export interface TlsAcceptorOptions {
  /** The certificate and key. Each handshake uses the current ones. */
  readonly identity: LiveTlsIdentity;
  readonly counts: HandshakeCounts;
  readonly clock: Clock;
  /** Whether the file descriptor of the socket is one of the reserved last ones of the process. */
  readonly isReserved: (tcp: object) => boolean;
  readonly onSecure: (socket: SecureSocket, origin: ConnectionOrigin) => Connection | undefined;
  readonly onClosed: (connection: Connection) => void;
  readonly onError: (error: unknown) => void;
  /** Sends the response to a client that speaks HTTP without TLS, then closes the socket. */
  readonly onPlainHttp: (socket: Pick<Socket, "write" | "end">) => void;
}

type RawSocket = Bun.Socket<Handshake | undefined>;
export type SecureSocket = Bun.Socket<Handshake>;

/** Adds an option that the runtime's types lack: the bytes that were read from the socket before the upgrade. */
interface UpgradeOptions extends Bun.TLSUpgradeOptions<Handshake> {
  readonly initialData: Uint8Array;
}

export const MAX_HANDSHAKES = 1000;
export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Maximum size of a whole handshake. A chain of client certificates is the largest part. */
const MAX_HANDSHAKE_BYTES = 64 * 1024;
/** Maximum size of a ClientHello, which is one record. A client sends nothing more before it has the response. */
const MAX_HELLO_BYTES = 20 * 1024;
const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 0x16;
/** The ciphers of TLS 1.2 with forward secrecy and authenticated encryption. All ciphers of TLS 1.3 have both. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20";

/** One accepted socket. `connection` is set once the handshake is complete. */
class Handshake {
  /** The accepted socket until the upgrade to TLS, then the encrypting socket that replaces it. */
  socket: RawSocket | SecureSocket;
  /** The address of the client when the socket was accepted. */
  readonly address: string;
  /** The time on the monotonic clock at which the handshake must be complete. */
  readonly deadline: number;
  connection: Connection | undefined;
  /** The bytes received before the handshake starts; undefined from then on. */
  hello: Buffer | undefined = Buffer.alloc(0);
  isQueued = false;
  /** The trusted authorities for client certificates of the identity that the handshake started with. */
  clientCa: string | undefined;
  receivedBytes = 0;

  constructor(tcp: RawSocket, address: string, deadline: number) {
    this.socket = tcp;
    this.address = address;
    this.deadline = deadline;
  }
}

export class TlsAcceptor {
  readonly #options: TlsAcceptorOptions;
  /** The unfinished handshakes by client address, oldest first. */
  readonly #unfinished = new Multimap<string, Handshake>();
  #unfinishedCount = 0;
  /** Starts handshakes, fairly between client addresses. */
  readonly #scheduler = new Scheduler();
  #identity: TlsIdentity | undefined;
  #tlsOptions: Bun.TLSOptions = {};

  constructor(options: TlsAcceptorOptions) {
    this.#options = options;
  }

  #accept(tcp: RawSocket): void {
    const { remoteAddress } = tcp;
    const isFull = this.#options.isReserved(tcp) || this.#unfinishedCount >= MAX_HANDSHAKES;
    // A socket without an address was reset by the client already.
    if (!remoteAddress || (isFull && !this.#displaceOne())) {
      tcp.terminate();
      return;
    }
    const handshake = new Handshake(
      tcp,
      remoteAddress,
      this.#options.clock.monotonic() + HANDSHAKE_TIMEOUT_MS,
    );
    tcp.data = handshake;
    this.#unfinished.add(handshake.address, handshake);
    this.#unfinishedCount++;
  }

  /** Handles the accepted sockets. After the upgrade they still report the encrypted bytes and their closing. */
  readonly rawHandler: Bun.SocketHandler<Handshake | undefined> = {
    open: (tcp) => {
      tcp.setNoDelay(true);
      this.#accept(tcp);
    },
    data: (tcp, bytes) => {
      if (tcp.data && !tcp.data.connection) this.#onHandshakeBytes(tcp.data, bytes);
    },
    end: (tcp) => {
      if (tcp.data?.hello) tcp.terminate();
    },
    close: (tcp) => {
      if (tcp.data) this.#finish(tcp.data, "failed");
    },
    error: (tcp, error) => {
      tcp.terminate();
      this.#options.onError(error);
    },
  };

  readonly #secureHandler: Bun.SocketHandler<Handshake> = {
    open: (socket) => {
      socket.data.socket = socket;
    },
    handshake: (socket, success) => {
      if (success) this.#onCompleted(socket);
    },
    data: (socket, bytes) => socket.data.connection?.onData(bytes),
    drain: (socket) => socket.data.connection?.onDrain(),
    end: (socket) => {
      if (socket.data.connection) socket.data.connection.onEnd();
      else socket.terminate();
    },
    close: (socket) => {
      const { connection } = socket.data;
      if (connection) this.#options.onClosed(connection);
      else this.#finish(socket.data, "failed");
    },
    error: (socket, error) => {
      socket.terminate();
      this.#options.onError(error);
    },
  };

  /** Closes the handshakes that take too long. Called periodically. */
  checkTimeouts(): void {
    const now = this.#options.clock.monotonic();
    for (const ofAddress of this.#unfinished.values()) {
      for (const handshake of ofAddress) {
        if (handshake.deadline > now) break;
        this.#close(handshake, "timeout");
      }
    }
  }

  closeUnfinished(): void {
    for (const ofAddress of this.#unfinished.values()) {
      for (const handshake of ofAddress) this.#close(handshake, "failed");
    }
  }

  #onHandshakeBytes(handshake: Handshake, bytes: Buffer): void {
    const { hello } = handshake;
    handshake.receivedBytes += bytes.length;
    if (handshake.receivedBytes > (hello ? MAX_HELLO_BYTES : MAX_HANDSHAKE_BYTES)) {
      this.#close(handshake, "failed");
      return;
    }
    if (!hello) return;
    handshake.hello = Buffer.concat([hello, bytes]);
    if (handshake.isQueued) return;
    const progress = helloProgress(handshake.hello);
    if (progress === "complete") this.#enqueue(handshake);
    else if (progress !== "partial") {
      this.#finish(handshake, "failed");
      if (progress === "http") this.#options.onPlainHttp(handshake.socket);
      else handshake.socket.terminate();
    }
  }

  /** Starts the handshake at once, or in a later turn of the event loop. */
  #enqueue(handshake: Handshake): void {
    handshake.isQueued = true;
    void this.#scheduler.run(handshake.address, this.#startSteps(handshake));
  }

  *#startSteps(handshake: Handshake): Steps<void> {
    // The scheduler ends the slice here if earlier handshakes have used it up.
    yield;
    if (this.#isUnfinished(handshake)) this.#start(handshake);
  }

  #start(handshake: Handshake): void {
    const { socket: tcp, hello: initialData = Buffer.alloc(0) } = handshake;
    handshake.hello = undefined;
    try {
      const tls = this.#currentTlsOptions();
      handshake.clientCa = this.#identity?.clientCa;
      const upgrade: UpgradeOptions = { data: handshake, tls, socket: this.#secureHandler, initialData };
      tcp.upgradeTLS(upgrade);
    } catch (error) {
      this.#close(handshake, "failed");
      this.#options.onError(error);
    }
  }

  #currentTlsOptions(): Bun.TLSOptions {
    const identity = this.#options.identity.current;
    if (identity !== this.#identity) {
      this.#identity = identity;
      const { cert, key, clientCa } = identity;
      // The handshake succeeds without a valid certificate, so that the client gets an HTTP response that states the reason.
      const client = clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: false };
      this.#tlsOptions = { cert, key, ciphers: CIPHERS, ...client };
    }
    return this.#tlsOptions;
  }

  #onCompleted(socket: SecureSocket): void {
    const handshake = socket.data;
    if (!this.#isUnfinished(handshake)) return;
    const { clientCa } = handshake;
    // The authorities were replaced during the handshake, so the certificate was not verified against the current ones.
    if (clientCa !== this.#options.identity.current.clientCa) {
      this.#close(handshake, "failed");
      return;
    }
    this.#finish(handshake, "completed");
    handshake.connection = this.#options.onSecure(socket, {
      remoteAddress: handshake.address,
      isOwnProcess: false,
      clientCertificate: clientCa === undefined ? undefined : clientCertificate(socket),
    });
  }

  #isUnfinished(handshake: Handshake): boolean {
    return this.#unfinished.of(handshake.address).has(handshake);
  }

  /** Does nothing when the handshake is finished already. */
  #finish(handshake: Handshake, result: keyof HandshakeCounts): void {
    if (!this.#unfinished.remove(handshake.address, handshake)) return;
    this.#unfinishedCount--;
    this.#options.counts[result]++;
  }

  #close(handshake: Handshake, result: keyof HandshakeCounts): void {
    this.#finish(handshake, result);
    handshake.hello = undefined;
    handshake.socket.terminate();
  }

  /** Closes the oldest handshake of the address that has the most. Returns false if there is none. */
  #displaceOne(): boolean {
    let most = new Set<Handshake>();
    for (const ofAddress of this.#unfinished.values()) if (ofAddress.size > most.size) most = ofAddress;
    for (const oldest of most) {
      this.#close(oldest, "displaced");
      return true;
    }
    return false;
  }
}

type HelloProgress = "partial" | "complete" | "http" | "garbage";

/** Whether the bytes are a handshake record of TLS, and whether all of it has arrived. */
function helloProgress(bytes: Buffer): HelloProgress {
  const [type, major] = bytes;
  if (type === undefined) return "partial";
  if (type !== HANDSHAKE_RECORD) return isLetter(type) ? "http" : "garbage";
  if (major !== undefined && major !== 3) return "garbage";
  if (bytes.length < RECORD_HEADER_BYTES) return "partial";
  return bytes.length >= RECORD_HEADER_BYTES + bytes.readUInt16BE(3) ? "complete" : "partial";
}

/** Whether the byte can be the first one of an HTTP method. */
const isLetter = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

function clientCertificate(socket: SecureSocket): ClientCertificate | undefined {
  const { subject } = socket.getPeerCertificate() ?? {};
  if (subject === undefined) return undefined;
  const { CN: name } = subject;
  return { commonName: socket.authorized && typeof name === "string" ? name : undefined };
}
