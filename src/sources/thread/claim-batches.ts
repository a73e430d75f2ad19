/**
 * Claims as batches of bytes. Those that arrived become claims again: as iterables that parse one batch at a time and then drop it, so that a large
 * set is never in memory as objects; or as lists.
 *
 * They are not validated here: the thread has done that, and the sink of the service does it again.
 */
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import type { ClaimChange, Claims, ClaimTypes } from "../../model/claim.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import type { BatchReport } from "./protocol.ts";

const RECORDS_PER_SLICE = 100;
const decoder = new TextDecoder();

/** Empties `batches`, so that each is dropped once it is parsed. Each kind can be iterated once. */
export function takeClaims(batches: BatchReport[]): Claims {
  const byKind = Map.groupBy(batches.splice(0), ({ kind }) => kind);
  const parse = <K extends Kind>(kind: K) => parseBatches<K>(byKind.get(kind) ?? []);
  return {
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

/** All claims in memory, to be iterated any number of times. */
export function readClaims(batches: BatchReport[]): Claims {
  const { devices = [], ports = [], links = [], hosts = [] } = takeClaims(batches);
  return { devices: [...devices], ports: [...ports], links: [...links], hosts: [...hosts] };
}

/** Sends claims in batches. Other work runs between two of them. */
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

/** Other work runs between two batches. */
export async function changesIn(batches: readonly BatchReport[]): Promise<ClaimChange[]> {
  const changes: ClaimChange[] = [];
  for (const [index, { op, kind, json }] of batches.entries()) {
    if (index > 0) await yieldToLoop();
    for (const item of JSON.parse(decoder.decode(json))) {
      changes.push(op === "remove" ? { op, kind, id: item } : { op, kind, claim: item });
    }
  }
  return changes;
}

// Collects claims and ids as JSON texts, and sends them as batches of bytes. The receiver parses one batch in one go, so a
// batch is limited by records and by length.

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
