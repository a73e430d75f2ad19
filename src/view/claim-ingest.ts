/**
 * Receives the claims of one source: validates each record, drops, counts and logs the invalid ones, and commits the rest.
 * Claims that come from the thread of a source were validated there. Also reads from the view which claims the source has.
 *
 * Records are validated in steps on the scheduler. A large set is committed as several batches, each of which is one
 * revision, and other sources commit between them. Calls of one source are committed in order and never interleave.
 */
import type { Logger } from "../lib/logger.ts";
import { ShardedSet } from "../lib/sharded-set.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import {
  type ClaimChange,
  type ClaimFault,
  type Claims,
  type ClaimTypes,
  canonicalClaim,
  claimedId,
  maxLengthOf,
} from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import type { CanonicalChange } from "./commit.ts";
import type { Committer } from "./committer.ts";
import { claimsKey, parseClaimsKey } from "./indexes.ts";
import { claimedKey, recoverClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";

const CHANGES_PER_BATCH = 1000;
/** A batch of large claims is complete earlier, because it is in memory several times until it is stored. */
const BYTES_PER_BATCH = 4 * 1024 * 1024;
/** After this many invalid records only the count increases, so that a broken source does not flood the log. */
const MAX_LOGGED_RECORDS = 10;

export class ClaimIngest {
  readonly #committer: Committer;
  readonly #source: string;
  readonly #log: Logger;
  #lastCommit: Promise<void> = Promise.resolve();
  #rejectedCount = 0;

  constructor(committer: Committer, source: string, log: Logger) {
    this.#committer = committer;
    this.#source = source;
    this.#log = log;
  }

  /** Number of invalid records so far. */
  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  replace(all: Claims): Promise<void> {
    return this.#inOrder(() => this.#replace(all));
  }

  apply(changes: readonly ClaimChange[]): Promise<void> {
    return this.#inOrder(() => this.#commitAll(this.#checkChanges(changes)));
  }

  /** Counts and logs a record that is not committed. */
  reject(kind: Kind, { field, message, record }: ClaimFault): void {
    if (++this.#rejectedCount > MAX_LOGGED_RECORDS) return;
    this.#log.warn("record refused", { source: this.#source, kind, record, field, why: message });
  }

  /** The claims of this source in the view, including those from before a restart of the service. */
  async lastClaims(): Promise<Claims> {
    await this.#lastCommit;
    const read = <K extends Kind>(kind: K) =>
      this.#committer.runBetweenCommits(this.#source, claimsOf(this.#committer.view, this.#source, kind));
    return {
      devices: await read("devices"),
      ports: await read("ports"),
      links: await read("links"),
      hosts: await read("hosts"),
    };
  }

  async #inOrder(commit: () => Promise<void>): Promise<void> {
    const committed = this.#lastCommit.then(commit);
    this.#lastCommit = committed.catch(() => {});
    await committed;
  }

  async #replace(all: Claims): Promise<void> {
    const reading = claimedKeysOf(this.#committer.view, this.#source);
    const claimed = await this.#committer.runBetweenCommits(this.#source, reading);
    await this.#commitAll(this.#checkReplacement(all, claimed));
  }

  async #commitAll(changes: Iterable<CanonicalChange | undefined>): Promise<void> {
    const iterator = changes[Symbol.iterator]();
    for (;;) {
      const { batch, isLast } = await this.#committer.run(this.#source, nextBatch(iterator));
      if (batch.length > 0) await this.#committer.commit(this.#source, batch);
      if (isLast) break;
    }
    if (this.#committer.isMergeDue) await this.#committer.mergeAgain();
  }

  /** Validates changes. Undefined stands for a record that was rejected. */
  *#checkChanges(changes: readonly ClaimChange[]): Generator<CanonicalChange | undefined> {
    for (const change of changes) {
      if (change.op === "remove") yield { kind: change.kind, id: change.id, claim: undefined };
      else if (change.isCanonical) yield canonicalChange(change.kind, change.claim);
      else yield this.#check(change.kind, change.claim);
    }
  }

  /** Validates a replacement. Additions come first, so that an entity whose id changes is never missing from the graph. */
  *#checkReplacement(all: Claims, claimed: ClaimedKeys): Generator<CanonicalChange | undefined> {
    for (const kind of KINDS) {
      for (const record of all[kind] ?? []) {
        const checked = all.isCanonical ? canonicalChange(kind, record) : this.#check(kind, record);
        if (checked) claimed[kind].delete(idKey(kind, checked.id));
        yield checked;
      }
    }
    for (const kind of KINDS.toReversed())
      for (const id of claimed[kind]) yield { kind, id, claim: undefined };
  }

  #check<K extends Kind>(kind: K, record: ClaimTypes[K]): CanonicalChange | undefined {
    const result = canonicalClaim(kind, record);
    if (result.ok) return canonicalChange(kind, result.claim, result.id);
    this.reject(kind, result.fault);
    return undefined;
  }
}

const canonicalChange = <K extends Kind>(kind: K, claim: ClaimTypes[K], id = claimedId(claim)) =>
  ({ kind, id, claim }) as CanonicalChange;

interface NextBatch {
  readonly batch: readonly CanonicalChange[];
  readonly isLast: boolean;
}

function* nextBatch(changes: Iterator<CanonicalChange | undefined>): Steps<NextBatch> {
  const batch: CanonicalChange[] = [];
  const pause = new Pause();
  for (let bytes = 0; batch.length < CHANGES_PER_BATCH && bytes < BYTES_PER_BATCH; ) {
    const { value, done } = changes.next();
    if (done) return { batch, isLast: true };
    const length = value?.claim ? maxLengthOf(value.claim) : 0;
    if (value) batch.push(value);
    bytes += length;
    if (pause.due(COST.entity, length)) yield;
  }
  return { batch, isLast: false };
}

/** The keys (see `idKey`) of the ids that a source uses. */
type ClaimedKeys = Readonly<Record<Kind, ShardedSet>>;

/** The keys of the entities that `source` claims, both shown and held back. */
export function* claimedKeysOf(view: View, source: string): Steps<ClaimedKeys> {
  const keys = {
    devices: new ShardedSet(),
    ports: new ShardedSet(),
    links: new ShardedSet(),
    hosts: new ShardedSet(),
  };
  for (const kind of KINDS) {
    yield* addEntityKeys(view, keys[kind], source, kind);
    yield* toClaimedKeys(view, keys[kind], source, kind);
  }
  return keys;
}

function* addEntityKeys(view: View, keys: ShardedSet, source: string, kind: Kind): Steps<void> {
  const pause = new Pause();
  for (const id of view.indexes(kind).named("source").current(source)) {
    keys.add(idKey(kind, id));
    if (pause.due(COST.key)) yield;
  }
  for (const stored of view.indexes("claims").named("source").current(source)) {
    const parsed = parseClaimsKey(stored);
    // Entities that are shown are in the set already.
    if (parsed?.kind === kind) keys.add(parsed.key);
    if (pause.due(COST.key)) yield;
  }
}

/** Replaces the keys of entities that the source claims under other ids by the keys of those ids. */
function* toClaimedKeys(view: View, keys: ShardedSet, source: string, kind: Kind): Steps<void> {
  const claimedKeys: string[] = [];
  const pause = new Pause();
  for (const stored of view.indexes("claims").named("movedFrom").current(source)) {
    const parsed = parseClaimsKey(stored);
    if (parsed?.kind !== kind) continue;
    keys.delete(parsed.key);
    const text = view.get("claims", stored) ?? "[]";
    for (const [name, claim] of parseStored("claims", text))
      if (name === source) claimedKeys.push(claimedKey(kind, claim));
    if (pause.due(COST.key, text.length)) yield;
  }
  for (const key of claimedKeys) keys.add(key);
}

/** The claims of `source` of one kind, in canonical form. */
function* claimsOf<K extends Kind>(view: View, source: string, kind: K): Steps<ClaimTypes[K][]> {
  const found: ClaimTypes[K][] = [];
  const pause = new Pause();
  const keys = new ShardedSet();
  yield* addEntityKeys(view, keys, source, kind);
  for (const key of keys) {
    const storedClaims = view.get("claims", claimsKey(kind, key));
    const text = view.get(kind, view.spelledId(kind, key));
    if (storedClaims !== undefined) {
      const claims: readonly [string, ClaimTypes[K]][] = JSON.parse(storedClaims);
      for (const [name, claim] of claims) if (name === source) found.push(claim);
    } else if (text !== undefined) found.push(recoverClaim(kind, parseStored(kind, text)));
    if (pause.due(COST.key, (storedClaims ?? text)?.length)) yield;
  }
  return found;
}
