/** The writer of a log file in a thread of its own (`writer-worker.ts`), as the log sees it. */
import { RequestWorker, WorkerLostError } from "../lib/request-worker.ts";
import type { LogStats } from "./log.ts";
import type { WriteRequest } from "./writer.ts";

export interface OpenRequest {
  readonly path: string;
  /** Undefined where the thread must read them. */
  readonly stats: LogStats | undefined;
}

/** The operations of the thread. `close` completes the writes in flight first. */
export type WriterOperations = {
  open: (request: OpenRequest) => void;
  write: (request: WriteRequest) => void;
  close: (request: undefined) => void;
};

export interface WriterThreadOptions {
  readonly path: string;
  /** Known to the caller, so that the thread need not read them. */
  readonly stats: LogStats;
  readonly onStats: (stats: LogStats) => void;
  /** The module that the thread runs. */
  readonly worker?: URL;
}

export class WriterThread {
  readonly #worker: RequestWorker<WriterOperations, LogStats>;

  constructor({
    path,
    stats,
    onStats,
    worker: url = new URL("./writer-worker.ts", import.meta.url),
  }: WriterThreadOptions) {
    this.#worker = new RequestWorker({
      url,
      name: "log-writer",
      ref: true,
      // Another thread than the first one reads the statistics itself: what was written meanwhile is unknown.
      onStart: () => {
        const request = { path, stats: this.#worker.started === 1 ? stats : undefined };
        this.#worker.request("open", request).catch(() => {});
      },
      onEvent: onStats,
    });
    this.#worker.start();
  }

  /** Rejects with `WorkerLostError` where it is unknown whether the request was carried out. */
  write(request: WriteRequest): Promise<void> {
    return this.#worker.request("write", request, buffersOf(request));
  }

  /** Resolves once the writes in flight are complete and the thread has closed the file. */
  async close(): Promise<void> {
    if (!this.#worker.isRunning) return;
    await this.#worker.request("close", undefined).catch((error: unknown) => {
      if (!(error instanceof WorkerLostError)) throw error;
    });
    this.#worker.stop("the log is closed");
  }
}

function buffersOf(request: WriteRequest): ArrayBuffer[] {
  if (request.op === "append") return request.parts.map(({ bytes }) => bytes.buffer);
  return request.op === "storePages" ? [request.block.bytes.buffer] : [];
}
