/** What the handler keeps with a parsed request, so that a repeated one costs no look-up. */
import type { CachedResponse } from "./response/response-cache.ts";

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
