/** What the handler keeps with parsed header lines and requests, so that a repeated one costs no look-up. */
import type { Credential } from "./auth/authenticate.ts";
import type { CachedResponse } from "./response-cache.ts";

/** The `handlerCache` of header lines: whose they are. Valid until any user changes. */
export class CachedAuth {
  readonly generation: number;
  readonly credential: Credential;

  constructor(generation: number, credential: Credential) {
    this.generation = generation;
    this.credential = credential;
  }
}

/** The `handlerCache` of a request: its credential was valid in this generation, and this is its response. */
export class RepeatHit {
  readonly generation: number;
  readonly cachedResponse: CachedResponse;
  readonly ifNoneMatch: string | null;

  constructor(generation: number, cachedResponse: CachedResponse, ifNoneMatch: string | null) {
    this.generation = generation;
    this.cachedResponse = cachedResponse;
    this.ifNoneMatch = ifNoneMatch;
  }
}
