/**
 * The sink of a source that runs in a thread. It validates each claim and compares a digest of its canonical form with that of
 * the last one. It sends only differences to the service, so a poll in which nothing changed is an empty change.
 *
 * The first set of a run is sent as a whole, because the service may have claims from before. When reading or committing a set
 * fails, the digests may be wrong, so the next set is sent as a whole as well. Digests have a random seed, so that a peer
 * cannot construct a changed record with the same digest.
 *
 * Claims whose fields are in another order count as different here. They are sent, and the view finds that they are equal.
 */
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import {
  type Claim,
  type ClaimChange,
  type ClaimFault,
  type Claims,
  canonicalClaim,
  claimedId,
} from "../../model/claim.ts";
import { forKinds, idKey, KINDS, type Kind } from "../../model/ids.ts";
import { type RejectedRecord, type Sink, SourceError } from "../source.ts";
import { BatchWriter } from "./claim-batches.ts";
import type { BatchReport, CommitMode } from "./protocol.ts";

/** The connection to the service. */
export interface Outlet {
  sendBatch(batch: BatchReport): void;
  /** Discards the batches since the last commit. */
  discard(): void;
  /** Resolves when the service has committed the batches since the last commit. */
  commit(mode: CommitMode): Promise<void>;
  reject(records: readonly RejectedRecord[]): void;
  markStale(reason: string): void;
  /** Reads the last claims of the source; absent where the service does not store them. */
  lastClaims?(): Promise<Claims>;
  setUpstreamLogs(ids: readonly string[]): void;
  /** Called when a set of this many records is read, and its memory can be released while the service commits it. */
  onSetRead(records: number): void;
}

/** Maximum number of changes in one commit of the service. */
const CHANGES_PER_COMMIT = 1000;
/** Number of records between two pauses, at which the thread checks for a stop. */
const RECORDS_PER_SLICE = 2000;
const REJECTED_PER_MESSAGE = 100;

export class DiffingSink implements Sink {
  readonly lastClaims?: () => Promise<Claims>;
  readonly #outlet: Outlet;
  readonly #signal: AbortSignal;
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;
  readonly #batches: BatchWriter;
  readonly #faults = new ReportedFaults();
  #rejected: RejectedRecord[] = [];
  #tables = createTables();
  /** Whether the tables have the digests of exactly the claims that the service has. */
  #isComplete = false;
  #lastCall: Promise<void> = Promise.resolve();

  constructor(outlet: Outlet, signal: AbortSignal) {
    if (outlet.lastClaims) this.lastClaims = outlet.lastClaims.bind(outlet);
    this.#outlet = outlet;
    this.#signal = signal;
    this.#batches = new BatchWriter((batch) => outlet.sendBatch(batch));
  }

  replace(all: Claims): Promise<void> {
    return this.#inOrder(() => this.#replace(all));
  }

  apply(changes: readonly ClaimChange[]): Promise<void> {
    return this.#inOrder(() => this.#apply(changes));
  }

  reject(kind: Kind, fault: ClaimFault): void {
    this.#reject({ kind, fault }, "");
  }

  markStale(reason: string): void {
    this.#sendRejected();
    this.#outlet.markStale(reason);
  }

  setUpstreamLogs(ids: readonly string[]): void {
    this.#outlet.setUpstreamLogs(ids);
  }

  /** Runs calls one after the other, even if the source does not await them. */
  #inOrder(call: () => Promise<void>): Promise<void> {
    const done = this.#lastCall.then(() => this.#orDiscard(call));
    this.#lastCall = done.catch(() => {});
    return done;
  }

  async #orDiscard(call: () => Promise<void>): Promise<void> {
    if (this.#signal.aborted) throw new SourceError("the source was stopped");
    try {
      await call();
    } catch (error) {
      this.#isComplete = false;
      this.#batches.discard();
      this.#outlet.discard();
      throw error;
    }
  }

  async #replace(all: Claims): Promise<void> {
    const isFirst = !this.#isComplete;
    if (isFirst) this.#tables = createTables();
    let committed = 0;
    let records = 0;
    for (const _ of this.#writeDifferences(all)) {
      if (++records % RECORDS_PER_SLICE === 0) await this.#pause();
      // A full set is committed as a whole.
      if (isFirst || this.#batches.count < CHANGES_PER_COMMIT) continue;
      await this.#commit("apply");
      committed++;
    }
    this.#faults.endPass();
    this.#outlet.onSetRead(records);
    if (isFirst) await this.#commit("replace");
    else if (committed === 0 || this.#batches.count > 0) await this.#commit("apply");
    this.#isComplete = true;
  }

  /** Writes the differences, and yields after each record. Additions come before removals, as in a commit of a full set. */
  *#writeDifferences(all: Claims): Generator<void> {
    for (const kind of KINDS) {
      const table = this.#tables[kind];
      table.beginPass();
      for (const record of all[kind] ?? []) {
        const checked = all.isCanonical ? encodeClaim(record) : this.#check(kind, record);
        if (checked) this.#writeIfDifferent(kind, checked);
        yield;
      }
    }
    for (const kind of KINDS.toReversed()) {
      for (const key of this.#tables[kind].removeUnseen()) {
        this.#batches.add("remove", kind, JSON.stringify(key));
        yield;
      }
    }
  }

  #writeIfDifferent(kind: Kind, { id, json }: EncodedClaim): void {
    const digest = this.#digest(json);
    const result = this.#tables[kind].see(idKey(kind, id), digest);
    if (result === "different") this.#batches.add("set", kind, json);
    else if (result === "repeated" && !this.#tables[kind].has(idKey(kind, id), digest)) {
      this.#reject({ kind, fault: { field: "", message: `is a second record of ${id}` } }, json);
    }
  }

  async #apply(changes: readonly ClaimChange[]): Promise<void> {
    let committed = 0;
    for (const change of changes) {
      this.#writeChange(change);
      if (this.#batches.count < CHANGES_PER_COMMIT) continue;
      await this.#commit("apply");
      committed++;
    }
    if (committed === 0 || this.#batches.count > 0) await this.#commit("apply");
  }

  #writeChange(change: ClaimChange): void {
    const { kind } = change;
    if (change.op === "remove") {
      const key = idKey(kind, change.id);
      // While the tables are incomplete, the service may have claims that are not in them.
      if (this.#tables[kind].delete(key) || !this.#isComplete) {
        this.#batches.add("remove", kind, JSON.stringify(key));
      }
      return;
    }
    const checked = this.#check(kind, change.claim);
    if (!checked) return;
    const result = this.#tables[kind].set(idKey(kind, checked.id), this.#digest(checked.json));
    if (result === "different") this.#batches.add("set", kind, checked.json);
  }

  /** Returns the canonical form; undefined when the record is not valid, which is reported. */
  #check(kind: Kind, record: unknown): EncodedClaim | undefined {
    const result = canonicalClaim(kind, record);
    if (result.ok) return encodeClaim(result.claim, result.id);
    this.#reject({ kind, fault: result.fault }, JSON.stringify(record) ?? "");
    return undefined;
  }

  /** Reports a rejected record once. `content` distinguishes records that have the same fault. */
  #reject(record: RejectedRecord, content: string): void {
    const { kind, fault } = record;
    if (!this.#faults.isNew(this.#digest(`${kind} ${fault.field} ${fault.message} ${content}`))) return;
    this.#rejected.push(record);
    if (this.#rejected.length >= REJECTED_PER_MESSAGE) this.#sendRejected();
  }

  #sendRejected(): void {
    if (this.#rejected.length > 0) this.#outlet.reject(this.#rejected);
    this.#rejected = [];
  }

  async #commit(mode: CommitMode): Promise<void> {
    this.#sendRejected();
    this.#batches.flush();
    await this.#outlet.commit(mode);
  }

  async #pause(): Promise<void> {
    await yieldToLoop();
    if (this.#signal.aborted) throw new SourceError("the source was stopped");
  }

  #digest(text: string): bigint {
    return Bun.hash.wyhash(text, this.#seed);
  }
}

/** A canonical claim as JSON. */
interface EncodedClaim {
  readonly id: string;
  readonly json: string;
}

const encodeClaim = (claim: Claim, id = claimedId(claim)): EncodedClaim => ({
  id,
  json: JSON.stringify(claim),
});

const createTables = () => forKinds(() => new DigestTable());

const INITIAL_ENTRIES = 256;

type DigestResult = "same" | "different" | "repeated";

/**
 * Stores a digest of the last claim of each entity instead of the claim, so that an entity costs its id and twelve bytes. A
 * pass over a full set finds the claims that differ, and at its end the entities that were not in the set.
 */
class DigestTable {
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  #digests = new BigUint64Array(INITIAL_ENTRIES);
  /** The pass in which each entry was last seen. */
  #passes = new Uint32Array(INITIAL_ENTRIES);
  #pass = 0;

  get size(): number {
    return this.#slots.size;
  }

  beginPass(): void {
    this.#pass++;
  }

  /** Stores the digest. Returns `repeated` when the entity was in this pass already; then the first digest stays. */
  see(key: string, digest: bigint): DigestResult {
    const slot = this.#slots.get(key);
    if (slot !== undefined && this.#passes[slot] === this.#pass) return "repeated";
    return this.set(key, digest);
  }

  /** Stores the digest of an entity, also outside of a pass. */
  set(key: string, digest: bigint): "same" | "different" {
    let slot = this.#slots.get(key);
    const isSame = slot !== undefined && this.#digests[slot] === digest;
    slot ??= this.#add(key);
    this.#digests[slot] = digest;
    this.#passes[slot] = this.#pass;
    return isSame ? "same" : "different";
  }

  /** Deletes an entry. Returns whether it existed. */
  delete(key: string): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#free.push(slot);
    return true;
  }

  /** Whether the entity has this digest. */
  has(key: string, digest: bigint): boolean {
    const slot = this.#slots.get(key);
    return slot !== undefined && this.#digests[slot] === digest;
  }

  /** Removes the entries that were not in this pass, and yields their keys. */
  *removeUnseen(): Generator<string> {
    for (const [key, slot] of this.#slots) {
      if (this.#passes[slot] === this.#pass) continue;
      this.delete(key);
      yield key;
    }
  }

  #add(key: string): number {
    const slot = this.#free.pop() ?? this.#slots.size;
    this.#slots.set(key, slot);
    if (slot >= this.#digests.length) this.#grow();
    return slot;
  }

  #grow(): void {
    const digests = new BigUint64Array(this.#digests.length * 2);
    const passes = new Uint32Array(this.#passes.length * 2);
    digests.set(this.#digests);
    passes.set(this.#passes);
    this.#digests = digests;
    this.#passes = passes;
  }
}

// `ReportedFaults` remembers which rejected records were reported. A polling source reads the same invalid record in every
// poll. It is reported once, and again if it returns after a poll without it. Equal faults are counted, so an additional one
// is reported.

/** Maximum number of remembered faults, which limits the memory. Those above it are reported in each poll. */
const MAX_REMEMBERED = 100_000;

class ReportedFaults {
  #before = new Map<bigint, number>();
  #now = new Map<bigint, number>();

  /** Counts a fault, identified by the digest of its record, and returns whether it is new. */
  isNew(digest: bigint): boolean {
    const count = (this.#now.get(digest) ?? 0) + 1;
    if (count > 1 || this.#now.size < MAX_REMEMBERED) this.#now.set(digest, count);
    return count > (this.#before.get(digest) ?? 0);
  }

  /** Call this when a poll is complete. */
  endPass(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }
}
