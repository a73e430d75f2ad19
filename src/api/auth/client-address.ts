/**
 * The address of the client that a request comes from. Without trusted proxies it is the peer of the connection. If the
 * peer is a trusted proxy or one of the service's own processes, the client is the rightmost hop in the header that is not
 * trusted, because everything to its left was not written by a trusted proxy. `Forwarded` takes precedence over
 * `X-Forwarded-For`.
 *
 * If a proxy does not name the address (`unknown`, an obfuscated identifier, a malformed header), its own address is used.
 */
import type { ConnectionOrigin } from "../../http1/handler.ts";
import { AddressRanges, parseAddress } from "../../lib/address-ranges.ts";
import { type Hop, parseForwarded, parseForwardedFor } from "./forwarded.ts";

interface RequestHeaders {
  header(name: string): string | null;
}

export interface RequestClient {
  /** The address in canonical form. It is empty for a request that the service's own processes send for themselves. */
  readonly address: string;
  /** Whether the client is the peer of the connection, so that the connection has no other clients. */
  readonly isPeer: boolean;
}

export class ClientAddresses {
  readonly #trusted: AddressRanges;

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = new AddressRanges(trustedProxies);
  }

  clientOf(request: RequestHeaders, { remoteAddress, isOwnProcess }: ConnectionOrigin): RequestClient {
    const peer = canonical(remoteAddress);
    if (!isOwnProcess && !this.#trusted.includes(peer)) return { address: peer, isPeer: true };
    return { address: this.#rightmostUntrusted(hopsOf(request), peer), isPeer: false };
  }

  /** Whether the connection comes from a trusted proxy, and not from a process of the service. */
  isTrustedProxy({ remoteAddress, isOwnProcess }: ConnectionOrigin): boolean {
    return !isOwnProcess && this.#trusted.includes(canonical(remoteAddress));
  }

  #rightmostUntrusted(hops: readonly Hop[], peer: string): string {
    let address = peer;
    for (const hop of hops.toReversed()) {
      // The hops to the left of an unnamed one cannot be attributed to a trusted proxy.
      if (hop === undefined) return address;
      address = hop;
      if (!this.#trusted.includes(hop)) return address;
    }
    return address;
  }
}

function hopsOf(request: RequestHeaders): readonly Hop[] {
  const forwarded = request.header("forwarded");
  if (forwarded !== null) return parseForwarded(forwarded) ?? [];
  const forwardedFor = request.header("x-forwarded-for");
  return forwardedFor === null ? [] : parseForwardedFor(forwardedFor);
}

const canonical = (address: string): string => parseAddress(address)?.toString() ?? address;
