/**
 * The thread that draws, as the service sees it. It starts with the first drawing and stays for the next one. It ends when
 * nothing was drawn for a while, and after a large drawing, which returns its memory.
 *
 * Parts go to the thread in batches, and the document comes back in chunks as they are read: neither is whole here. A
 * thread that ends unexpectedly fails the drawings it holds, and the next drawing starts another one.
 */
import { errorMessage } from "../lib/error-message.ts";
import type { SvgReply, SvgRequest } from "./svg-messages.ts";
import { ThreadDrawing } from "./thread-drawing.ts";

const IDLE_TIMEOUT_MS = 60_000;
/** Of a document. A thread that has drawn a larger one is ended. */
const MAX_BYTES_TO_STAY = 4 * 1024 * 1024;

export interface SvgThreadOptions {
  /** The module that the thread runs. */
  readonly worker?: URL;
  readonly idleTimeoutMs?: number;
}

export class SvgThread implements Disposable {
  readonly #url: URL;
  readonly #idleTimeoutMs: number;
  /** Those that are not complete: under way, or not read to the end. */
  readonly #drawings = new Map<number, ThreadDrawing>();
  #worker: Worker | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;
  #started = 0;
  #hasDrawnLarge = false;

  constructor(options: SvgThreadOptions = {}) {
    this.#url = options.worker ?? new URL("./svg-worker.ts", import.meta.url);
    this.#idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Threads that were started so far. */
  get started(): number {
    return this.#started;
  }

  /** The bytes of an owner's documents that are not read yet. */
  heldBytes(owner: string): number {
    let bytes = 0;
    for (const drawing of this.#drawings.values()) if (drawing.owner === owner) bytes += drawing.bytesLeft;
    return bytes;
  }

  /** Begins a drawing, which must be read to its end or closed. */
  begin(owner: string): ThreadDrawing {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const drawing = new ThreadDrawing(++this.#lastId, owner, {
      post: (request, transfer) => this.#post(worker, request, transfer),
      onEnd: () => this.#onEnd(drawing),
    });
    this.#drawings.set(drawing.id, drawing);
    return drawing;
  }

  /** Fails the drawings that are not complete. */
  [Symbol.dispose](): void {
    clearTimeout(this.#idleTimer);
    this.#stop();
    this.#failAll("the service stops");
  }

  #start(): Worker {
    // The thread does not keep a process alive that has nothing else to do.
    const worker = new Worker(this.#url.href, { name: "svg", ref: false });
    this.#started++;
    worker.addEventListener("message", ({ data }: MessageEvent<SvgReply>) => this.#onReply(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#onLost(worker, errorMessage(event.message));
    });
    worker.addEventListener("close", () => this.#onLost(worker, "it ended"));
    return worker;
  }

  /** What concerns a thread that is gone is dropped: its drawings have failed. */
  #post(worker: Worker, request: SvgRequest, transfer: ArrayBuffer[] = []): void {
    if (worker === this.#worker) worker.postMessage(request, transfer);
  }

  #onReply(reply: SvgReply): void {
    if (reply.type === "drawn" && reply.bytes > MAX_BYTES_TO_STAY) this.#hasDrawnLarge = true;
    this.#drawings.get(reply.id)?.onReply(reply);
  }

  /** A thread that draws what nobody needs is ended, unless it holds what somebody reads. */
  #onEnd(drawing: ThreadDrawing): void {
    if (!this.#drawings.delete(drawing.id) || this.#drawings.size > 0) return;
    if (drawing.isUnderWay || this.#hasDrawnLarge) this.#stop();
    else this.#idleTimer = setTimeout(() => this.#stop(), this.#idleTimeoutMs).unref();
  }

  #onLost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    this.#stop();
    this.#failAll(`the thread that draws has failed: ${reason}`);
  }

  #failAll(reason: string): void {
    const drawings = [...this.#drawings.values()];
    this.#drawings.clear();
    for (const drawing of drawings) drawing.fail(reason);
  }

  #stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#hasDrawnLarge = false;
    worker?.terminate();
  }
}
