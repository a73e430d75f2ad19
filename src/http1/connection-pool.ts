/**
 * The open connections of a server, oldest first, and which of them is closed when there are too many. Connections
 * without an authenticated request have slots of their own, so that they cannot take those of authenticated ones, and
 * they are closed first.
 */
import type { BufferAccount } from "./buffer-account.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionLimits } from "./handler.ts";

export class ConnectionPool implements Iterable<Connection> {
  readonly #anonymous = new Set<Connection>();
  readonly #authenticated = new Set<Connection>();

  get size(): number {
    return this.#anonymous.size + this.#authenticated.size;
  }

  *[Symbol.iterator](): Generator<Connection> {
    yield* this.#anonymous;
    yield* this.#authenticated;
  }

  add(connection: Connection): void {
    this.#anonymous.add(connection);
  }

  delete(connection: Connection): void {
    if (!this.#anonymous.delete(connection)) this.#authenticated.delete(connection);
  }

  onAuthenticated(connection: Connection): void {
    if (this.#anonymous.delete(connection)) this.#authenticated.add(connection);
  }

  /** Whether one more connection would be too many. */
  isFull({ maxConnections, maxAnonymousConnections }: ConnectionLimits): boolean {
    return this.size >= maxConnections || this.#anonymous.size >= maxAnonymousConnections;
  }

  /** Closes anonymous connections that hold received bytes, the oldest first, while `isExceeded`. Returns how many. */
  evictHolders(account: BufferAccount): number {
    let evicted = 0;
    for (const connection of this.#anonymous) {
      if (!account.isExceeded) break;
      if (connection.holdsBytes && connection.evict()) evicted++;
    }
    return evicted;
  }

  /**
   * Closes the oldest anonymous connection that is not being served, or else the oldest idle one. Returns false when there
   * is none. With too many anonymous connections an authenticated one is not closed for a further anonymous one.
   */
  evictOldest({ maxAnonymousConnections }: ConnectionLimits): boolean {
    for (const connection of this.#anonymous) if (connection.evict()) return true;
    if (this.#anonymous.size >= maxAnonymousConnections) return false;
    for (const connection of this.#authenticated) if (connection.evict()) return true;
    return false;
  }
}
