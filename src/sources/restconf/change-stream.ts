/**
 * Uses OpenDaylight's stream of changes as a signal: every event, and every end of the stream, makes the source list again.
 * The events are not applied, because they have no ids and no order relative to a list, and a change of a link needs the
 * ports of the inventory anyway. So the stream needs no memory, whatever a peer sends.
 *
 * The source calls `ensureOpen` after each list that succeeded. When the server does not offer the stream, it is not
 * requested again until `reset`, which is called after a failure, because the server may then have another version.
 */
import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { UpstreamError } from "../upstream/exchange.ts";
import type { RestconfClient } from "./restconf-client.ts";

/** Delay between a change and the list, so that changes which arrive together cause one list. */
const SETTLE_MS = 500;
const MAX_REOPEN_MS = 60_000;

interface ChangeStreamOptions {
  readonly client: RestconfClient;
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when something has changed or may have changed. The caller lists again. */
  readonly onChange: () => void;
}

interface StreamCounters {
  /** 1 while a stream is open. */
  stream_connected: number;
  stream_events_total: number;
  stream_breaks_total: number;
}

export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  readonly #counters: StreamCounters;
  readonly #backoff = createBackoff(SETTLE_MS, MAX_REOPEN_MS);
  #following: Promise<void> | undefined;
  #settling: Promise<void> | undefined;
  #isOffered = true;

  constructor(options: ChangeStreamOptions, counters: StreamCounters) {
    this.#options = options;
    this.#counters = counters;
  }

  ensureOpen(): void {
    if (this.#following || !this.#isOffered || this.#options.signal.aborted) return;
    this.#following = this.#follow().finally(() => {
      this.#following = undefined;
    });
  }

  reset(): void {
    this.#isOffered = true;
  }

  /** Resolves when nothing is running any more. To be called after the signal aborted. */
  async ended(): Promise<void> {
    await Promise.all([this.#following, this.#settling]);
  }

  async #follow(): Promise<void> {
    const { client, path, clock, signal } = this.#options;
    const stream = await client.openChanges(path, signal);
    if (!stream.ok) {
      this.#isOffered = stream.offered;
      return;
    }
    const openedAt = clock.monotonic();
    this.#counters.stream_connected = 1;
    const scanner = new EventScanner();
    try {
      // The first event is a snapshot. The list that it causes contains what changed before the stream was open.
      for await (const chunk of stream.chunks) {
        const events = scanner.push(chunk);
        this.#counters.stream_events_total += events;
        if (events > 0) this.#settle();
      }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
    } finally {
      this.#counters.stream_connected = 0;
    }
    if (signal.aborted) return;
    this.#counters.stream_breaks_total++;
    if (clock.monotonic() - openedAt > MAX_REOPEN_MS) this.#backoff.reset();
    // A server that closes each stream at once must not cause lists without a pause.
    await clock.sleep(this.#backoff.nextMs(), signal);
    this.#options.onChange();
  }

  #settle(): void {
    const { clock, signal, onChange } = this.#options;
    this.#settling ??= clock.sleep(SETTLE_MS, signal).then(() => {
      this.#settling = undefined;
      if (!signal.aborted) onChange();
    });
  }
}

const LF = 0x0a;
const CR = 0x0d;
const FIELD = new TextEncoder().encode("data:");

/**
 * Counts the `data` lines of a `text/event-stream` whose chunks are cut anywhere. It stores no text, because the snapshot
 * of a large network is one line. Comments such as `: ping` are not counted.
 */
export class EventScanner {
  /** Number of bytes of `FIELD` that the line has matched so far; negative when it is another line. */
  #matched = 0;

  /** Returns the number of `data` lines whose field name ends in this chunk. */
  push(chunk: Uint8Array): number {
    let lines = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LF || byte === CR) {
        this.#matched = 0;
        continue;
      }
      if (this.#matched < 0) {
        at = endOfLine(chunk, at) - 1;
        continue;
      }
      this.#matched = byte === FIELD[this.#matched] ? this.#matched + 1 : -1;
      if (this.#matched === FIELD.length) {
        lines++;
        this.#matched = -1;
      }
    }
    return lines;
  }
}

function endOfLine(chunk: Uint8Array, from: number): number {
  const lf = chunk.indexOf(LF, from);
  const end = lf < 0 ? chunk.length : lf;
  const cr = chunk.subarray(from, end).indexOf(CR);
  return cr < 0 ? end : from + cr;
}
