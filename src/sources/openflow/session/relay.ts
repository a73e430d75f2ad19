/**
 * What a node does with its switches while another node runs the source: it accepts their connections and relays them
 * there, bytes for bytes, so that one node decides for the whole network. It ends TLS and sends the hello, which is always
 * the same; a switch then stays connected, unread, until the node that runs the source can be reached.
 *
 * The limits of sessions apply on each node. A connection that waits too long is closed: the switch connects again.
 */
import type { ByteChannel, ByteHandler } from "../../../lib/byte-channel.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { HolderChannels } from "../../source.ts";
import type { OpenflowSettings } from "../options.ts";
import { HELLO } from "./handshake.ts";
import { openingOf } from "./relayed-channel.ts";
import { type LimitedSession, SessionLimiter } from "./session-limiter.ts";
import type { Channel } from "./transport.ts";

const MAX_WAIT_MS = 10_000;
/** What a paused socket may still deliver. */
const MAX_WAITING_BYTES = 256 * 1024;
/** What one side has not accepted; then the other one is not read. */
const PAUSE_BYTES = 64 * 1024;

export class Relay {
  readonly #holder: HolderChannels;
  readonly #clock: Clock;
  readonly #connections: SessionLimiter<RelayedConnection>;

  constructor(holder: HolderChannels, settings: OpenflowSettings, clock: Clock) {
    this.#holder = holder;
    this.#clock = clock;
    this.#connections = new SessionLimiter(settings, () => false);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Connections that are not relayed yet. */
  get waiting(): number {
    let count = 0;
    for (const connection of this.#connections.all()) if (!connection.isRelayed) count++;
    return count;
  }

  accept(channel: Channel, descriptorsAreLow: boolean): ByteHandler | undefined {
    if (!this.#connections.makeRoom(channel.remoteAddress, descriptorsAreLow)) return undefined;
    const connection: RelayedConnection = new RelayedConnection(
      channel,
      this.#holder,
      this.#clock.monotonic(),
      () => this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    channel.send(HELLO);
    return connection;
  }

  tick(): void {
    const now = this.#clock.monotonic();
    for (const connection of [...this.#connections.all()]) connection.tick(now);
  }
}

class RelayedConnection implements ByteHandler, LimitedSession {
  readonly channel: Channel;
  readonly #holder: HolderChannels;
  readonly #openedAt: number;
  readonly #onEnd: () => void;
  /** Undefined until the node that runs the source is reached. */
  #toHolder: ByteChannel | undefined;
  /** Received before. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  isClosed = false;

  constructor(channel: Channel, holder: HolderChannels, now: number, onEnd: () => void) {
    this.channel = channel;
    this.#holder = holder;
    this.#openedAt = now;
    this.#onEnd = onEnd;
  }

  get isRelayed(): boolean {
    return this.#toHolder !== undefined;
  }

  onData(chunk: Uint8Array): void {
    if (this.#toHolder) {
      this.#toHolder.send(chunk);
      if (this.#toHolder.backlogBytes > PAUSE_BYTES) this.#pause();
      return;
    }
    // Copied: the buffer of a socket is used again.
    this.#waiting.push(chunk.slice());
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.reject("sends too much before it is relayed");
    else this.#relay();
  }

  onDrain(): void {
    this.#toHolder?.resume();
  }

  onClose(reason: string, byPeer: boolean): void {
    this.isClosed = true;
    this.#onEnd();
    this.#toHolder?.close(reason, byPeer);
  }

  reject(reason: string): void {
    this.channel.close(reason);
  }

  tick(now: number): void {
    if (this.#toHolder || this.isClosed) return;
    if (now - this.#openedAt >= MAX_WAIT_MS) this.channel.terminate();
    else if (this.#waitingBytes > 0) this.#relay();
  }

  /** Not before the first bytes arrive: with TLS, the peer has authenticated itself by then. */
  #relay(): void {
    const toHolder = this.#holder.open(openingOf(this.channel), {
      onData: (bytes) => {
        this.channel.send(bytes.slice());
        if (this.channel.backlogBytes > PAUSE_BYTES) toHolder?.pause();
      },
      onDrain: () => this.#resume(),
      onClose: (reason) => this.channel.close(reason),
    });
    if (!toHolder) {
      this.#pause();
      return;
    }
    this.#toHolder = toHolder;
    for (const bytes of this.#waiting) toHolder.send(bytes);
    this.#waiting = [];
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.channel.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.channel.resume();
  }
}
