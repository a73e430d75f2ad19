/**
 * One drawing that a thread makes: its parts are sent in steps, then it is drawn, then its chunks are read. It is an
 * iterator over the chunks, with a promise wherever the next one has not arrived. Only a few chunks are requested ahead of
 * the reader.
 */
import { type Paced, type Steps, waitFor } from "../lib/steps.ts";
import type { Topology } from "../model/entity.ts";
import type { DrawingPart, SvgReply, SvgRequest } from "./svg-messages.ts";

/** Of a batch of parts. */
const BATCH_CHARS = 65_536;
const CHUNKS_AHEAD = 2;
const encoder = new TextEncoder();

interface Thread {
  readonly post: (request: SvgRequest, transfer?: ArrayBuffer[]) => void;
  /** Called once: the drawing is read to its end, or closed before. */
  readonly onEnd: () => void;
}

export class ThreadDrawing implements IterableIterator<Uint8Array | Promise<unknown>> {
  readonly id: number;
  readonly owner: string;
  readonly #thread: Thread;
  #state: "new" | "under way" | "drawn" | "ended" = "new";
  /** Of the document that the thread still holds. */
  #bytesLeft = 0;
  readonly #arrived: Uint8Array[] = [];
  /** Resolves with the next message of the thread. */
  #arrival = Promise.withResolvers<void>();
  #failure: Error | undefined;

  constructor(id: number, owner: string, thread: Thread) {
    this.id = id;
    this.owner = owner;
    this.#thread = thread;
  }

  get isUnderWay(): boolean {
    return this.#state === "under way";
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

  /** Draws what was sent. Complete when the chunks can be read. */
  *draw(topology: Topology, revision: number): Steps<void> {
    this.#state = "under way";
    this.#thread.post({ op: "draw", id: this.id, topology, revision });
    while (this.isUnderWay && !this.#failure) yield* waitFor(this.#arrival.promise);
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

  /** Ends the drawing, whatever its state. */
  return(): { readonly done: true; readonly value: undefined } {
    if (this.#state !== "ended") {
      const isHeld = this.#state !== "drawn" || this.#bytesLeft > 0;
      if (isHeld) this.#thread.post({ op: "drop", id: this.id });
      this.#thread.onEnd();
      this.#end();
    }
    return { done: true, value: undefined };
  }

  onReply(reply: SvgReply): void {
    if (reply.type === "failed") {
      this.fail(reply.reason);
      this.#thread.onEnd();
      return;
    }
    if (reply.type === "drawn") {
      this.#state = "drawn";
      this.#bytesLeft = reply.bytes;
      for (let i = 0; i < CHUNKS_AHEAD; i++) this.#requestChunk();
    } else {
      this.#bytesLeft -= reply.chunk.length;
      this.#arrived.push(reply.chunk);
    }
    this.#wake();
  }

  fail(reason: string): void {
    this.#failure = new Error(reason);
    this.#end();
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

  #requestChunk(): void {
    this.#thread.post({ op: "next", id: this.id });
  }

  #sendBatch(part: DrawingPart, items: string): void {
    const json = encoder.encode(`[${items}]`);
    this.#thread.post({ op: "add", id: this.id, part, json }, [json.buffer]);
  }
}
