/** The certificate and key of a TLS listener, which may be replaced while it listens. */

/** The certificate and key of a listener, as PEM texts. */
export interface TlsIdentity {
  /** The certificate, followed by those of intermediate authorities. */
  readonly cert: string;
  readonly key: string;
  /** The authorities for client certificates. If set, clients are requested to send a certificate, which these verify. */
  readonly clientCa?: string;
}

export class LiveTlsIdentity {
  readonly #listeners = new Set<(before: TlsIdentity) => void>();
  #current: TlsIdentity;

  constructor(identity: TlsIdentity) {
    this.#current = identity;
  }

  /** The current identity. Each change sets another object. */
  get current(): TlsIdentity {
    return this.#current;
  }

  /** Sets the identity that handshakes use which start from now on. */
  replace(identity: TlsIdentity): void {
    const before = this.#current;
    this.#current = identity;
    for (const listener of this.#listeners) listener(before);
  }

  /** Calls the listener after each change. Returns the function that removes it. */
  onChange(listener: (before: TlsIdentity) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
