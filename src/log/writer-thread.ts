/** The log's end of the connection to the writer thread of a log file; `writer-worker.ts` is the thread's end. */
import { moduleUrl } from "../lib/program-files.ts";
import { RequestWorker, WorkerLostError } from "../lib/request-worker.ts";
import type { LogStats } from "./log.ts";
import type { WriteRequest } from "./writer.ts";

export interface OpenRequest {
  readonly path: string;
  /** The current statistics; undefined where the thread must read them from the file. */
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
  /** The statistics that the caller has read, so that the first thread need not read them. */
  readonly stats: LogStats;
  readonly onStats: (stats: LogStats) => void;
  /** The module that the thread runs. */
  readonly worker?: URL;
}

export class WriterThread {
  readonly #worker: RequestWorker<WriterOperations, LogStats>;

  constructor({ path, stats, onStats, worker: url = moduleUrl("log/writer-worker") }: WriterThreadOptions) {
    this.#worker = new RequestWorker({
      url,
      name: "log-writer",
      ref: true,
      // A thread after the first one reads the statistics itself, because it is unknown what the one before it has written.
      onStart: () => {
        const request = { path, stats: this.#worker.started === 1 ? stats : undefined };
        this.#worker.request("open", request).catch(() => {});
      },
      onEvent: onStats,
    });
    this.#worker.start();
  }

  /** Carries out a request. Rejects with `WorkerLostError` where it is unknown whether it was carried out. */
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
  // The parts of a compressed batch are copied, because its log needs them again where the write fails.
  if (request.op === "append")
    return request.batches.flatMap(({ parts, isCompressed }) =>
      isCompressed ? [] : parts.map((bytes) => bytes.buffer),
    );
  return request.op === "storePages" ? [request.block.bytes.buffer] : [];
}
