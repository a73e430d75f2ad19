/**
 * The datapath ids that an operator has listed, and the certificates they are bound to. Listed switches are known from the
 * start. Unless `allowOthers` is set, no other switch is accepted.
 */
import type { OpenflowOptions } from "../options.ts";

/** The certificate that a switch presented, verified against the configured authority. */
export interface PeerCertificate {
  readonly commonName: string | undefined;
  /** SHA-256 of the certificate, hexadecimal digits in lower case. */
  readonly fingerprint: string;
}

export class AllowList {
  /** The certificate by device id; undefined where none is bound. */
  readonly #certificates = new Map<string, string | undefined>();
  readonly #acceptsOthers: boolean;

  constructor(options: Pick<OpenflowOptions, "allow" | "allowOthers">) {
    for (const entry of options.allow ?? []) {
      const { id, certificate } = typeof entry === "string" ? { id: entry, certificate: undefined } : entry;
      this.#certificates.set(canonicalDeviceId(id), certificate);
    }
    this.#acceptsOthers = options.allowOthers ?? options.allow === undefined;
  }

  has(device: string): boolean {
    return this.#certificates.has(device);
  }

  /** Why a session of this device is not accepted; undefined when it is. */
  refusal(device: string, certificate: PeerCertificate | undefined): string | undefined {
    if (!this.has(device)) return this.#acceptsOthers ? undefined : "this datapath id is not allowed";
    const bound = this.#certificates.get(device);
    if (bound === undefined || (certificate && isBoundTo(certificate, bound))) return undefined;
    return "this datapath id is bound to another certificate";
  }

  get hasCertificates(): boolean {
    return [...this.#certificates.values()].some((certificate) => certificate !== undefined);
  }
}

function isBoundTo({ commonName, fingerprint }: PeerCertificate, bound: string): boolean {
  const [, digits] = /^sha256:(.*)$/i.exec(bound) ?? [];
  return digits === undefined ? commonName === bound : fingerprint === fingerprintDigits(digits);
}

export const fingerprintDigits = (text: string): string => text.replaceAll(":", "").toLowerCase();

/** `of:` and 16 hexadecimal digits; the prefix may be missing. */
const canonicalDeviceId = (text: string): string => `of:${text.replace(/^of:/i, "").toLowerCase()}`;
