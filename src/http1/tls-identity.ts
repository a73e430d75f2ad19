/** The certificate and key of a TLS listener, which may be replaced while it listens. */

/** PEM texts. */
export interface TlsIdentity {
  /** The certificate, followed by those of intermediate authorities. */
  readonly cert: string;
  readonly key: string;
  /** When given, clients are requested to send a certificate, which is verified against these authorities. */
  readonly clientCa?: string;
}

export class LiveTlsIdentity {
  readonly #listeners = new Set<(before: TlsIdentity) => void>();
  #current: TlsIdentity;

  constructor(identity: TlsIdentity) {
    this.#current = identity;
  }

  /** Another object after each change. */
  get current(): TlsIdentity {
    return this.#current;
  }

  /** Handshakes that start from now on use the new one. */
  replace(identity: TlsIdentity): void {
    const before = this.#current;
    this.#current = identity;
    for (const listener of this.#listeners) listener(before);
  }

  /** Returns the function that removes the listener. */
  onChange(listener: (before: TlsIdentity) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
