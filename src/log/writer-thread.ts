/**
 * The writer of a log file in a thread of its own. Requests are messages; the bytes in them are transferred, not copied.
 * A thread that ends unexpectedly fails its requests with `WriterLostError`, and the next request starts another one.
 */
import { errorMessage } from "../lib/error-message.ts";
import type { LogStats } from "./log.ts";
import type { WriteRequest } from "./writer.ts";

export type WriterMessage =
  | { readonly op: "open"; readonly path: string; readonly stats: LogStats | undefined }
  | { readonly op: "write"; readonly n: number; readonly request: WriteRequest }
  | { readonly op: "close" };

export type WriterReply =
  | { readonly type: "stats"; readonly stats: LogStats }
  | { readonly type: "done"; readonly n: number }
  | { readonly type: "failed"; readonly n: number; readonly reason: string }
  | { readonly type: "closed" };

/** The thread ended during the request, whose outcome is unknown. */
export class WriterLostError extends Error {
  override readonly name = "WriterLostError";
}

export interface WriterThreadOptions {
  readonly path: string;
  /** Known to the caller, so that the thread need not read them. */
  readonly stats: LogStats;
  readonly onStats: (stats: LogStats) => void;
  /** The module that the thread runs. */
  readonly worker?: URL;
}

type Outcome = (error?: Error) => void;

export class WriterThread {
  readonly #options: WriterThreadOptions;
  readonly #inFlight = new Map<number, Outcome>();
  #onClosed: (() => void) | undefined;
  #lastNumber = 0;
  #worker: Worker | undefined;

  constructor(options: WriterThreadOptions) {
    this.#options = options;
    this.#worker = this.#start(options.stats);
  }

  write(request: WriteRequest): Promise<void> {
    this.#worker ??= this.#start(undefined);
    const worker = this.#worker;
    const n = ++this.#lastNumber;
    return new Promise((resolve, reject) => {
      this.#inFlight.set(n, (error) => (error ? reject(error) : resolve()));
      post(worker, { op: "write", n, request }, buffersOf(request));
    });
  }

  /** Resolves once the writes in flight are complete and the thread has closed the file. */
  close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      post(worker, { op: "close" });
    });
  }

  #start(stats: LogStats | undefined): Worker {
    const { path, worker: url = new URL("./writer-worker.ts", import.meta.url) } = this.#options;
    const worker = new Worker(url.href, { name: "log-writer" });
    worker.addEventListener("message", ({ data }: MessageEvent<WriterReply>) => this.#onReply(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#onEnd(worker, errorMessage(event.message));
    });
    worker.addEventListener("close", () => this.#onEnd(worker, "the writer thread ended"));
    post(worker, { op: "open", path, stats });
    return worker;
  }

  #onReply(reply: WriterReply): void {
    if (reply.type === "stats") this.#options.onStats(reply.stats);
    else if (reply.type === "done") this.#complete(reply.n);
    else if (reply.type === "failed") this.#complete(reply.n, new Error(reply.reason));
    else this.#worker?.terminate();
  }

  #complete(n: number, error?: Error): void {
    const outcome = this.#inFlight.get(n);
    this.#inFlight.delete(n);
    outcome?.(error);
  }

  #onEnd(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    for (const n of [...this.#inFlight.keys()]) this.#complete(n, new WriterLostError(reason));
    this.#onClosed?.();
  }
}

const post = (worker: Worker, message: WriterMessage, transfer: ArrayBuffer[] = []): void =>
  worker.postMessage(message, transfer);

function buffersOf(request: WriteRequest): ArrayBuffer[] {
  if (request.op === "append") return request.parts.map(({ bytes }) => bytes.buffer);
  return request.op === "storePages" ? [request.block.bytes.buffer] : [];
}
