/**
 * A listening socket that can be closed for a while and opened again on the same address. While there are no free file
 * descriptors, an open one would keep the runtime busy with connections that it cannot accept.
 */
interface Bound {
  readonly hostname: string;
  readonly port: number;
  stop(closeActiveConnections?: boolean): void;
}

export class SuspendableSocket {
  readonly hostname: string;
  readonly port: number;
  readonly #bind: (port: number) => Bound;
  #bound: Bound | undefined;
  #stopped = false;

  /** Throws the runtime's error when the address is not available. */
  constructor(bind: (port: number) => Bound, port: number) {
    this.#bind = bind;
    this.#bound = bind(port);
    this.hostname = this.#bound.hostname;
    this.port = this.#bound.port;
  }

  suspend(): void {
    this.#bound?.stop(false);
    this.#bound = undefined;
  }

  /** Opens the socket again. The caller retries when this throws, because the address may be in use meanwhile. */
  resume(): void {
    if (!this.#stopped) this.#bound ??= this.#bind(this.port);
  }

  stop(): void {
    this.#stopped = true;
    this.suspend();
  }
}
