/**
 * Encrypts ("seals") values in NATS that only nodes may read: AES-256-GCM with a key derived from the secret of the cluster.
 * The key also depends on `purpose`, so that a sealed value cannot be used in another place.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class ClusterSecret {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  seal(purpose: string, plain: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key(purpose), nonce);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Decrypts a value; undefined when it was sealed with another secret, for another purpose, or was changed. */
  open(purpose: string, sealed: Uint8Array): Uint8Array | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(ALGORITHM, this.#key(purpose), sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  /** Derives a key that only the nodes of the cluster have. */
  derive(purpose: string): Uint8Array {
    return this.#key(`derived ${purpose}`);
  }

  #key(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#secret, "gazetteer cluster", purpose, KEY_BYTES));
  }
}
