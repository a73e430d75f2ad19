/**
 * Collects claims and ids as JSON texts, and sends them as batches of bytes. The receiver parses one batch in one go, so a
 * batch is limited by records and by length.
 */
import type { Kind } from "../../model/ids.ts";
import type { BatchReport } from "./protocol.ts";

const MAX_RECORDS = 100;
const MAX_CHARS = 64 * 1024;

export class BatchWriter {
  readonly #send: (batch: BatchReport) => void;
  readonly #encoder = new TextEncoder();
  #op: BatchReport["op"] = "set";
  #kind: Kind = "devices";
  #texts: string[] = [];
  #chars = 0;
  #count = 0;

  constructor(send: (batch: BatchReport) => void) {
    this.#send = send;
  }

  /** The changes since the last `flush` or `discard`. */
  get count(): number {
    return this.#count;
  }

  add(op: BatchReport["op"], kind: Kind, json: string): void {
    if (op !== this.#op || kind !== this.#kind) {
      this.#sendBatch();
      this.#op = op;
      this.#kind = kind;
    }
    this.#texts.push(json);
    this.#chars += json.length;
    this.#count++;
    if (this.#texts.length >= MAX_RECORDS || this.#chars >= MAX_CHARS) this.#sendBatch();
  }

  /** Sends what is left. */
  flush(): void {
    this.#sendBatch();
    this.#count = 0;
  }

  discard(): void {
    this.#texts = [];
    this.#chars = 0;
    this.#count = 0;
  }

  #sendBatch(): void {
    if (this.#texts.length === 0) return;
    const json = this.#encoder.encode(`[${this.#texts.join(",")}]`);
    this.#texts = [];
    this.#chars = 0;
    this.#send({ op: this.#op, kind: this.#kind, json });
  }
}
