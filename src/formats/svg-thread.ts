/**
 * The service's side of the thread that draws (`svg-worker.ts`). The thread starts with the first drawing and stays for the
 * next one. It is stopped when nothing was drawn for a while, and after a large drawing, to release its memory. When a
 * thread ends unexpectedly, the drawings that it held fail, and the next drawing starts another thread.
 *
 * The parts of a drawing are sent in batches, then the thread draws, then its document is read in chunks, so that neither
 * the parts nor the document are ever whole in this thread. A drawing is an iterator over the chunks; it returns a promise
 * when the next chunk has not arrived. Only a few chunks are requested ahead of the reader.
 */

import { errorMessage } from "../lib/error-message.ts";
import { moduleUrl } from "../lib/program-files.ts";
import { RequestWorker } from "../lib/request-worker.ts";
import { type Paced, type Steps, waitFor } from "../lib/steps.ts";
import type { Device, Link, Topology } from "../model/entity.ts";
import type { LostCable } from "./drawing-style.ts";

const IDLE_TIMEOUT_MS = 60_000;
/** A thread that has drawn a document of more bytes is stopped, to release its memory. */
const MAX_BYTES_TO_STAY = 4 * 1024 * 1024;
/** The size of a batch of parts, in characters. */
const BATCH_CHARS = 65_536;
const CHUNKS_AHEAD = 2;
const encoder = new TextEncoder();

/** The parts of a drawing. They are sent in batches, each a JSON array. */
export interface DrawingParts {
  readonly devices: readonly [device: Device, hosts: number];
  readonly links: Link;
  readonly lost: LostCable;
}
export type DrawingPart = keyof DrawingParts;

/** The operations of the thread. `id` is the id of the drawing. */
export type SvgOperations = {
  add: (request: {
    readonly id: number;
    readonly part: DrawingPart;
    readonly json: Uint8Array<ArrayBuffer>;
  }) => void;
  /** Returns the length of the document in bytes. `next` returns its chunks. */
  draw: (request: { readonly id: number; readonly topology: Topology; readonly revision: number }) => number;
  /** Returns the next chunk, or undefined after the last one. */
  next: (id: number) => Uint8Array<ArrayBuffer> | undefined;
  drop: (id: number) => void;
};

export interface SvgThreadOptions {
  /** The module that the thread runs; tests replace it. */
  readonly worker?: URL;
  readonly idleTimeoutMs?: number;
}

type SvgWorker = RequestWorker<SvgOperations>;

export class SvgThread implements Disposable {
  readonly #idleTimeoutMs: number;
  /** The drawings that are not drawn yet or not read to the end. */
  readonly #drawings = new Set<ThreadDrawing>();
  readonly #worker: SvgWorker;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;
  #hasDrawnLarge = false;

  constructor(options: SvgThreadOptions = {}) {
    this.#idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
    this.#worker = new RequestWorker({
      url: options.worker ?? moduleUrl("formats/svg-worker"),
      name: "svg",
      ref: false,
      onLost: (reason) => this.#failAll(`the thread that draws has failed: ${reason}`),
    });
  }

  get isRunning(): boolean {
    return this.#worker.isRunning;
  }

  /** Number of threads that were started since the process started. */
  get started(): number {
    return this.#worker.started;
  }

  /** The number of bytes of an owner's documents that are not read yet. */
  heldBytes(owner: string): number {
    let bytes = 0;
    for (const drawing of this.#drawings) if (drawing.owner === owner) bytes += drawing.bytesLeft;
    return bytes;
  }

  /** Begins a drawing, which must be read to its end or closed. */
  begin(owner: string): ThreadDrawing {
    clearTimeout(this.#idleTimer);
    this.#worker.start();
    const drawing = new ThreadDrawing(++this.#lastId, owner, this.#worker, () => this.#onEnd(drawing));
    this.#drawings.add(drawing);
    return drawing;
  }

  /** Fails the drawings that are not read to the end, and stops the thread. */
  [Symbol.dispose](): void {
    clearTimeout(this.#idleTimer);
    this.#failAll("the service stops");
  }

  /** Stops the thread when its last drawing was abandoned while it was drawn, or was large; otherwise after a timeout. */
  #onEnd(drawing: ThreadDrawing): void {
    if (drawing.bytes > MAX_BYTES_TO_STAY) this.#hasDrawnLarge = true;
    if (!this.#drawings.delete(drawing) || this.#drawings.size > 0) return;
    if (drawing.isUnderWay || this.#hasDrawnLarge) this.#stop("it is not needed any more");
    else
      this.#idleTimer = setTimeout(
        () => this.#stop("nothing was drawn for a while"),
        this.#idleTimeoutMs,
      ).unref();
  }

  #failAll(reason: string): void {
    const drawings = [...this.#drawings];
    this.#drawings.clear();
    for (const drawing of drawings) drawing.fail(reason);
    this.#stop(reason);
  }

  #stop(reason: string): void {
    this.#hasDrawnLarge = false;
    this.#worker.stop(reason);
  }
}

export class ThreadDrawing implements IterableIterator<Uint8Array | Promise<unknown>> {
  readonly owner: string;
  readonly #id: number;
  readonly #worker: SvgWorker;
  /** Called once, when the drawing is read to its end, is closed earlier, or fails. */
  readonly #onEnd: () => void;
  #state: "new" | "under way" | "drawn" | "ended" = "new";
  #bytes = 0;
  /** The number of bytes of the document that the thread still holds. */
  #bytesLeft = 0;
  readonly #arrived: Uint8Array[] = [];
  /** Resolves when the drawing is drawn, when a chunk arrives, and when the drawing ends. */
  #arrival = Promise.withResolvers<void>();
  #failure: Error | undefined;

  constructor(id: number, owner: string, worker: SvgWorker, onEnd: () => void) {
    this.#id = id;
    this.owner = owner;
    this.#worker = worker;
    this.#onEnd = onEnd;
  }

  get isUnderWay(): boolean {
    return this.#state === "under way";
  }

  /** Length of the document; 0 until it is drawn. */
  get bytes(): number {
    return this.#bytes;
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Sends parts as JSON texts. */
  *send(part: DrawingPart, texts: Paced<string>): Steps<void> {
    let batch = "";
    for (const text of texts) {
      if (text === undefined) {
        yield;
        continue;
      }
      batch += batch === "" ? text : `,${text}`;
      if (batch.length < BATCH_CHARS) continue;
      this.#sendBatch(part, batch);
      batch = "";
      yield;
    }
    if (batch !== "") this.#sendBatch(part, batch);
  }

  /** Draws the parts that were sent. Returns when the chunks can be read. */
  *draw(topology: Topology, revision: number): Steps<void> {
    if (this.#state === "new") {
      this.#state = "under way";
      const drawn = this.#worker.request("draw", { id: this.#id, topology, revision });
      drawn.then(
        (bytes) => this.#onDrawn(bytes),
        (error: unknown) => this.#onFailure(error),
      );
    }
    while (this.isUnderWay) yield* waitFor(this.#arrival.promise);
    if (this.#failure) throw this.#failure;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Uint8Array | Promise<unknown>, undefined> {
    if (this.#failure) throw this.#failure;
    const chunk = this.#arrived.shift();
    if (chunk) {
      if (this.#bytesLeft > 0) this.#requestChunk();
      return { done: false, value: chunk };
    }
    if (this.#state === "drawn" && this.#bytesLeft > 0) return { done: false, value: this.#arrival.promise };
    return this.return();
  }

  /** Ends the drawing in any state, and releases what the thread holds of it. */
  return(): { readonly done: true; readonly value: undefined } {
    if (this.#state !== "ended") {
      const isHeld = this.#state !== "drawn" || this.#bytesLeft > 0;
      if (isHeld) this.#worker.request("drop", this.#id).catch(() => {});
      this.#onEnd();
      this.#end();
    }
    return { done: true, value: undefined };
  }

  fail(reason: string): void {
    this.#failure ??= new Error(reason);
    this.#end();
  }

  #onDrawn(bytes: number): void {
    if (!this.isUnderWay) return;
    this.#state = "drawn";
    this.#bytes = bytes;
    this.#bytesLeft = bytes;
    for (let i = 0; i < CHUNKS_AHEAD; i++) this.#requestChunk();
    this.#wake();
  }

  #requestChunk(): void {
    this.#worker.request("next", this.#id).then(
      (chunk) => {
        if (!chunk || this.#state !== "drawn") return;
        this.#bytesLeft -= chunk.length;
        this.#arrived.push(chunk);
        this.#wake();
      },
      (error: unknown) => this.#onFailure(error),
    );
  }

  #sendBatch(part: DrawingPart, items: string): void {
    if (this.#state === "ended") return;
    const json = encoder.encode(`[${items}]`);
    const added = this.#worker.request("add", { id: this.#id, part, json }, [json.buffer]);
    added.catch((error: unknown) => this.#onFailure(error));
  }

  /** Fails the drawing, unless it has ended. */
  #onFailure(error: unknown): void {
    if (this.#state === "ended") return;
    this.fail(errorMessage(error));
    this.#onEnd();
  }

  #end(): void {
    this.#state = "ended";
    this.#bytesLeft = 0;
    this.#arrived.length = 0;
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#arrival;
    this.#arrival = Promise.withResolvers();
    resolve();
  }
}
