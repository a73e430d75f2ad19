/**
 * The access log: one JSON line for each response, written to a file or to standard output. Lines are collected in memory
 * and written once a second, so that a request never waits for its line. While the disk is slower than the requests, lines
 * beyond `MAX_BUFFERED_BYTES` are dropped and counted.
 *
 * The file is opened for appending, so that several processes may share it. `reopen` follows a rotation.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "../../lib/clock.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";

export interface AccessEntry {
  /** The name of the user; undefined if the credentials were missing or wrong. */
  readonly user: string | undefined;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** The number of bytes of the body. */
  readonly bytes: number;
  /** Time from the request until its response is ready, or until the end of a streamed one; 0 for one from the cache. */
  readonly ms: number;
  readonly id: string;
  readonly address: string;
  /** What the client or a proxy sent to find this request again in the logs of other programs. */
  readonly correlation: Correlation;
}

/** The header `X-Request-Id`, and the ids of `traceparent` (W3C Trace Context). Headers that are not valid are left out. */
export interface Correlation {
  readonly requestId?: string;
  readonly traceId?: string;
  readonly parentId?: string;
}

export const STANDARD_OUTPUT = "-";
const FLUSH_INTERVAL_MS = 1000;
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
const FILE_MODE = 0o640;

type Write = (text: string) => Promise<unknown>;

export class AccessLog {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #lines: string[] = [];
  #bufferedLength = 0;
  #file: FileHandle | undefined;
  #mustReopen = false;
  #isFailing = false;
  #dropped = 0;

  constructor(path: string, clock: Clock, logger: Logger) {
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Number of lines that were not written. */
  get dropped(): number {
    return this.#dropped;
  }

  add({ user, method, target, status, bytes, ms, id, address, correlation }: AccessEntry): void {
    if (this.#bufferedLength > MAX_BUFFERED_BYTES) {
      this.#dropped++;
      return;
    }
    const time = new Date(this.#clock.now()).toISOString();
    const rounded = Math.round(ms * 1000) / 1000;
    // JSON escapes the characters that could end the line.
    const entry = { time, user, method, target, status, bytes, ms: rounded, id, address, ...correlation };
    const line = `${JSON.stringify(entry)}\n`;
    this.#lines.push(line);
    this.#bufferedLength += line.length;
  }

  /** Makes the next write open the file again, after a rotation has renamed it. */
  reopen(): void {
    this.#mustReopen = true;
  }

  /** Writes once a second until the signal aborts, and then once more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(FLUSH_INTERVAL_MS, signal);
      await this.flush();
    }
    await this.#file?.close();
  }

  async flush(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    try {
      const write = await this.#open();
      await write(lines.join(""));
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += lines.length;
      if (!this.#isFailing) this.#logger.error("access log failed", { reason: errorMessage(error) });
      this.#isFailing = true;
    } finally {
      this.#bufferedLength = this.#lines.reduce((sum, { length }) => sum + length, 0);
    }
  }

  async #open(): Promise<Write> {
    if (this.#path === STANDARD_OUTPUT)
      return (text) => new Promise((resolve) => process.stdout.write(text, () => resolve(undefined)));
    if (this.#mustReopen || this.#isFailing) {
      this.#mustReopen = false;
      await this.#file?.close();
      this.#file = undefined;
    }
    this.#file ??= await open(this.#path, "a", FILE_MODE);
    const file = this.#file;
    return (text) => file.appendFile(text);
  }
}
