/**
 * Whether a connection reads from its socket, and what it has read and not handled: bytes that are discarded are counted,
 * and bytes that an anonymous connection holds are in the account of all such connections.
 */
import type { BufferAccount } from "./buffer-account.ts";
import type { Socket } from "./handler.ts";

/** After the last response so many bytes are read and dropped. */
const MAX_DISCARDED_BYTES = 1024 * 1024;

export class ReadControl {
  readonly #socket: Pick<Socket, "pause" | "resume">;
  readonly #account: BufferAccount;
  #paused = false;
  #closed = false;
  #discardedBytes = 0;
  #heldBytes = 0;

  constructor(socket: Pick<Socket, "pause" | "resume">, account: BufferAccount) {
    this.#socket = socket;
    this.#account = account;
  }

  pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused || this.#closed) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Returns whether more is discarded than is allowed. */
  discard(length: number): boolean {
    this.#discardedBytes += length;
    return this.#discardedBytes > MAX_DISCARDED_BYTES;
  }

  /** The last response is sent: from now on everything is discarded, up to the bound. */
  restartDiscarding(): void {
    this.#discardedBytes = 0;
  }

  /** `bytes` are held by an anonymous connection. May close connections, also this one. */
  setHeld(bytes: number): void {
    if (bytes === this.#heldBytes) return;
    const before = this.#heldBytes;
    this.#heldBytes = bytes;
    this.#account.change(before, bytes);
  }

  close(): void {
    this.#closed = true;
    this.setHeld(0);
  }
}
