/**
 * Encodes claims as batches of bytes, and decodes them. Decoding gives lists, or iterables that parse one batch at a time and
 * then drop it, so that a large set is never in memory as objects.
 *
 * Claims are not validated here and not in the service, because the thread has validated them.
 */
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import type { ClaimChange, Claims, ClaimTypes } from "../../model/claim.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import type { BatchReport } from "./protocol.ts";

const RECORDS_PER_SLICE = 100;
const decoder = new TextDecoder();

/** Decodes claims. Empties `batches`, so that each is dropped once it is parsed. Each kind can be iterated once. */
export function takeClaims(batches: BatchReport[]): Claims {
  const byKind = Map.groupBy(batches.splice(0), ({ kind }) => kind);
  const parse = <K extends Kind>(kind: K) => parseBatches<K>(byKind.get(kind) ?? []);
  return {
    isCanonical: true,
    devices: parse("devices"),
    ports: parse("ports"),
    links: parse("links"),
    hosts: parse("hosts"),
  };
}

function* parseBatches<K extends Kind>(batches: BatchReport[]): Generator<ClaimTypes[K]> {
  batches.reverse();
  for (let batch = batches.pop(); batch; batch = batches.pop()) {
    const claims: readonly ClaimTypes[K][] = JSON.parse(decoder.decode(batch.json));
    yield* claims;
  }
}

/** Decodes claims to lists, which can be iterated any number of times. */
export function readClaims(batches: BatchReport[]): Claims {
  const { devices = [], ports = [], links = [], hosts = [] } = takeClaims(batches);
  return { devices: [...devices], ports: [...ports], links: [...links], hosts: [...hosts] };
}

/** Sends claims in batches. Yields to the event loop between two slices of records. */
export async function sendClaims(claims: Claims, send: (batch: BatchReport) => void): Promise<void> {
  const writer = new BatchWriter(send);
  for (const kind of KINDS) {
    for (const claim of claims[kind] ?? []) {
      writer.add("set", kind, JSON.stringify(claim));
      if (writer.count % RECORDS_PER_SLICE === 0) await yieldToLoop();
    }
  }
  writer.flush();
}

/** Decodes changes. Yields to the event loop between two batches. */
export async function changesIn(batches: readonly BatchReport[]): Promise<ClaimChange[]> {
  const changes: ClaimChange[] = [];
  for (const [index, { op, kind, json }] of batches.entries()) {
    if (index > 0) await yieldToLoop();
    for (const item of JSON.parse(decoder.decode(json))) {
      changes.push(op === "remove" ? { op, kind, id: item } : { op, kind, claim: item, isCanonical: true });
    }
  }
  return changes;
}

// `BatchWriter` collects claims and ids as JSON texts, and sends them as batches of bytes. The receiver parses each batch in
// one step, so a batch is limited in records and in length.

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

  /** Number of changes since the last `flush` or `discard`. */
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

  /** Sends the remaining texts. */
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
