/** What a connection keeps for a request that it may get again, byte by byte. */
import type { CachedResponse } from "./response-cache.ts";

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
