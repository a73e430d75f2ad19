/**
 * The address of the client that a request comes from. Without trusted proxies it is the peer of the connection. When the
 * peer is a trusted proxy, or one of the service's own processes, the proxies name the client: of the chain of hops the rightmost one counts that is not trusted,
 * because everything left of it was written by somebody else. `Forwarded` wins over `X-Forwarded-For`.
 *
 * Where a proxy does not name the address (`unknown`, an obfuscated identifier, a malformed header), its own counts.
 */
import type { ConnectionOrigin } from "../../http1/handler.ts";
import { AddressRanges, parseAddress } from "../../lib/address-ranges.ts";
import { type Hop, parseForwarded, parseForwardedFor } from "./forwarded.ts";

interface RequestHeaders {
  header(name: string): string | null;
}

export interface RequestClient {
  /** In canonical form. Empty for the service's own processes. */
  readonly address: string;
  /** Whether the peer of the connection is the client, so that the connection has no other clients. */
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

  #rightmostUntrusted(hops: readonly Hop[], peer: string): string {
    let address = peer;
    for (const hop of hops.toReversed()) {
      // What stands left of it is not from a trusted proxy.
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
