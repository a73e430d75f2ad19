/** An ordered stream of bytes in both directions with a bounded output, such as a connection: what sends and what receives. */

export interface ByteHandler {
  onData(chunk: Uint8Array): void;
  /** Everything that was sent is on its way, after some of it had to wait. */
  onDrain?(): void;
  /** `byPeer`: the connection was closed by the peer or lost, not closed here. */
  onClose(reason: string, byPeer: boolean): void;
}

export interface ByteChannel {
  /** Bytes that wait to be sent. */
  readonly backlogBytes: number;
  send(bytes: Uint8Array): void;
  /**
   * Sends what can be sent at once, then closes. `onClose` of the handler is called with `reason`. `byPeer` is what the other
   * end of a channel between nodes gets: the connection that it stands for was closed by its peer.
   */
  close(reason: string, byPeer?: boolean): void;
  /** Closes at once, after `close`. */
  terminate(): void;
  pause(): void;
  resume(): void;
}
