/**
 * The counters of one process: responses by read name and status, shed requests, event streams, TLS handshakes. The main
 * process adds those of its reader processes to its own when it renders `/metrics`.
 */

import type { ConnectionCounters } from "../../http1/handler.ts";
import { createHandshakeCounts, type HandshakeCounts } from "../../http1/tls.ts";
import type { SseHub } from "../stream/sse-hub.ts";
import { addUsage, endedUsage, PerResponse, type UsageCounters, ZERO_USAGE } from "./usage-counters.ts";

export interface ProcessCounters {
  /** Number of responses by read name and status, with keys such as `devices 200`. */
  readonly requests: Readonly<Record<string, number>>;
  readonly shed: number;
  readonly streamsOpen: number;
  readonly streamsOpened: number;
  readonly streamsOverflowed: number;
  /** Number of chunks rendered for all streams. Streams at the same position share a chunk. */
  readonly streamChunks: number;
  readonly tlsHandshakes: Readonly<HandshakeCounts>;
  readonly connectionsEvicted: number;
  readonly slowReaders: number;
  readonly longBodies: number;
  readonly usage: UsageCounters;
}

export const ZERO_COUNTERS: ProcessCounters = {
  requests: {},
  shed: 0,
  streamsOpen: 0,
  streamsOpened: 0,
  streamsOverflowed: 0,
  streamChunks: 0,
  tlsHandshakes: createHandshakeCounts(),
  connectionsEvicted: 0,
  slowReaders: 0,
  longBodies: 0,
  usage: ZERO_USAGE,
};

export function addCounters(a: ProcessCounters, b: ProcessCounters): ProcessCounters {
  const requests = { ...a.requests };
  for (const [key, n] of Object.entries(b.requests)) requests[key] = (requests[key] ?? 0) + n;
  return {
    requests,
    shed: a.shed + b.shed,
    streamsOpen: a.streamsOpen + b.streamsOpen,
    streamsOpened: a.streamsOpened + b.streamsOpened,
    streamsOverflowed: a.streamsOverflowed + b.streamsOverflowed,
    streamChunks: a.streamChunks + b.streamChunks,
    tlsHandshakes: addHandshakes(a.tlsHandshakes, b.tlsHandshakes),
    connectionsEvicted: a.connectionsEvicted + b.connectionsEvicted,
    slowReaders: a.slowReaders + b.slowReaders,
    longBodies: a.longBodies + b.longBodies,
    usage: addUsage(a.usage, b.usage),
  };
}

/** The counters of a process that has ended, whose streams are closed. */
export const endedCounters = (counters: ProcessCounters): ProcessCounters => ({
  ...counters,
  streamsOpen: 0,
  usage: endedUsage(counters.usage),
});

const addHandshakes = (a: HandshakeCounts, b: HandshakeCounts): HandshakeCounts => ({
  completed: a.completed + b.completed,
  failed: a.failed + b.failed,
  timeout: a.timeout + b.timeout,
  displaced: a.displaced + b.displaced,
});

/** A counter of responses. Callers keep the object and increment it, which saves the look-up on every request. */
export interface ResponseCounter {
  count: number;
}

export class RequestCounters {
  readonly #responses = new PerResponse<ResponseCounter>(() => ({ count: 0 }));
  /** Number of TLS handshakes by result, which the listener counts. */
  readonly tlsHandshakes = createHandshakeCounts();
  #shed = 0;

  /** The counter of responses to reads of `read` (`devices`, `topology`, `health`) with this status. */
  responses(read: string, status: number): ResponseCounter {
    return this.#responses.get(read, status);
  }

  countShed(): void {
    this.#shed++;
  }

  snapshot(
    { openCount, openedTotal, overflowedTotal, chunks }: SseHub,
    connections: ConnectionCounters,
    usage: UsageCounters,
  ): ProcessCounters {
    return {
      requests: this.#responses.record(({ count }) => count),
      shed: this.#shed,
      streamsOpen: openCount,
      streamsOpened: openedTotal,
      streamsOverflowed: overflowedTotal,
      streamChunks: chunks.rendered,
      tlsHandshakes: { ...this.tlsHandshakes },
      connectionsEvicted: connections.evicted,
      slowReaders: connections.slowReaders,
      longBodies: connections.longBodies,
      usage,
    };
  }
}
