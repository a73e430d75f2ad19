/**
 * Snapshots of a cluster's log in a JetStream object store, from which new nodes begin. There are two places, and a new
 * snapshot replaces the older one, so that a node that loads the newest has time to. Two nodes that write at once do no
 * harm: the one that finishes last is refused.
 *
 * An object is a sequence of compressed pages, each after the letter of its collection and its length. What they are a
 * snapshot of stands in the metadata of the object.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import { type ObjectInfo, type ObjectStore, Objm, StorageType, setSha256Backend } from "@nats-io/obj";
import Type from "typebox";
import { Value } from "typebox/value";
import type { Clock } from "../../lib/clock.ts";
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import type { Engine } from "../../nats/engine.ts";
import { compress } from "../batch-codec.ts";
import type { CompressedPage } from "../embedded.ts";
import { type Snapshot, STORE_KINDS } from "../log.ts";
import { asStreamError } from "./as-stream-error.ts";
import { Position } from "./position.ts";
import type { StreamError } from "./stream-error.ts";

const PLACES = ["snapshot-a", "snapshot-b"] as const;
const CHUNK_BYTES = 256 * 1024;
const HEAD_BYTES = 5;
const WRONG_LAST_SEQUENCE: ReadonlySet<number> = new Set([10071, 10164]);
const WRITE_TIMEOUT_MS = 10_000;
/** Of a read that gets no bytes. */
const STALL_TIMEOUT_MS = 15_000;

setSha256Backend("native");

const Facts = Type.Object({
  /** The id and the sealed signing key of the log. */
  log: Type.String({ minLength: 1 }),
  key: Type.String(),
  position: Position,
  revision: Type.Integer({ minimum: 0 }),
  time: Type.Integer({ minimum: 0 }),
  graphTime: Type.Integer({ minimum: 0 }),
  versions: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});
export type ClusterSnapshotFacts = Type.Static<typeof Facts>;

export interface StoredSnapshot {
  readonly facts: ClusterSnapshotFacts;
  readonly bytes: number;
  readonly place: string;
}

interface Place {
  readonly name: string;
  /** For replacing exactly what was seen; 0 where the place is empty. */
  readonly revision: number;
  readonly snapshot: StoredSnapshot | undefined;
}

export interface ClusterSnapshotsOptions {
  readonly bucket: string;
  readonly replicas: number;
}

export class ClusterSnapshots {
  readonly #engine: Engine;
  readonly #options: ClusterSnapshotsOptions;
  readonly #clock: Clock;
  #store: ObjectStore | undefined;

  constructor(engine: Engine, options: ClusterSnapshotsOptions, clock: Clock) {
    this.#engine = engine;
    this.#options = options;
    this.#clock = clock;
  }

  /** Those of the stream that was created then, the newest first. Rejects with `StreamError`. */
  async list(created: string): Promise<StoredSnapshot[]> {
    const places = await this.#places();
    return places
      .flatMap(({ snapshot }) => snapshot ?? [])
      .filter(({ facts }) => facts.position.created === created)
      .sort((a, b) => b.facts.revision - a.facts.revision);
  }

  /** Returns whether it is stored: not when another node was first. Rejects with `StreamError`. */
  async write(
    identity: Pick<ClusterSnapshotFacts, "log" | "key" | "position">,
    snapshot: Snapshot,
  ): Promise<boolean> {
    const { revision, time, graphTime, versions, pages } = snapshot;
    const facts: ClusterSnapshotFacts = { ...identity, revision, time, graphTime, versions };
    const place = placeToReplace(await this.#places(), identity.position.created);
    const options = { max_chunk_size: CHUNK_BYTES };
    const metadata = { snapshot: JSON.stringify(facts) };
    try {
      const store = await this.#open();
      await store.put({ name: place.name, options, metadata }, streamOf(pages), {
        previousRevision: place.revision,
        timeout: WRITE_TIMEOUT_MS,
      });
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code)) return false;
      throw this.#asStreamError(error);
    }
  }

  /** Its pages. Throws `StreamError` when it cannot be read completely, also because it was replaced meanwhile. */
  async *read({ place }: StoredSnapshot): AsyncGenerator<CompressedPage> {
    try {
      const object = await (await this.#open()).get(place);
      if (!object) throw new Error("the snapshot was deleted");
      object.error.catch(() => {});
      yield* pagesOf(this.#untilStalled(object.data));
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  async *#untilStalled(data: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = data.getReader();
    try {
      for (;;) {
        const stalled = new AbortController();
        const next = await Promise.race([
          reader.read(),
          this.#clock.sleep(STALL_TIMEOUT_MS, stalled.signal).then(() => undefined),
        ]);
        stalled.abort();
        if (!next) throw new Error("the snapshot does not arrive");
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  async #places(): Promise<Place[]> {
    try {
      const store = await this.#open();
      return await Promise.all(
        PLACES.map(async (name) => {
          const info = await store.info(name);
          return { name, revision: info?.revision ?? 0, snapshot: snapshotOf(info) };
        }),
      );
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  /** Makes the bucket where it does not exist; also when it was deleted since. */
  async #open(): Promise<ObjectStore> {
    const { bucket, replicas } = this.#options;
    const known = this.#store;
    if (known && (await exists(known))) return known;
    const objects = new Objm(this.#engine.jetstream);
    const store = await objects.create(bucket, { replicas, storage: StorageType.File });
    this.#store = store;
    return store;
  }

  #asStreamError(error: unknown): StreamError {
    const { bucket, replicas } = this.#options;
    return asStreamError(error, this.#engine, { stream: `OBJ_${bucket}`, replicas });
  }
}

async function exists(store: ObjectStore): Promise<boolean> {
  try {
    await store.status();
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === "object store not found") return false;
    throw error;
  }
}

/** One that is no snapshot of this stream, else the older one. */
function placeToReplace(places: readonly Place[], created: string): Place {
  const age = ({ snapshot }: Place) =>
    snapshot?.facts.position.created === created ? snapshot.facts.revision : -1;
  const [first, ...others] = places;
  if (!first) throw new Error("there is no place for a snapshot");
  return others.reduce((oldest, place) => (age(place) < age(oldest) ? place : oldest), first);
}

function snapshotOf(info: ObjectInfo | null): StoredSnapshot | undefined {
  if (!info || info.deleted) return undefined;
  try {
    const facts: unknown = JSON.parse(info.metadata?.snapshot ?? "");
    return Value.Check(Facts, facts) ? { facts, bytes: info.size, place: info.name } : undefined;
  } catch {
    return undefined;
  }
}

/** One page at a time, when the store wants more. */
function streamOf(pages: Snapshot["pages"]): ReadableStream<Uint8Array> {
  const encoded = encodePages(pages);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await yieldToLoop();
        const { value, done } = encoded.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

function* encodePages(pages: Snapshot["pages"]): Generator<Uint8Array, void, void> {
  for (const kind of STORE_KINDS) {
    for (const page of pages[kind]) {
      const data = compress(page.encode());
      const head = Buffer.alloc(HEAD_BYTES);
      head.write(kind.charAt(0), 0, "latin1");
      head.writeUInt32BE(data.length, 1);
      yield Buffer.concat([head, data]);
    }
  }
}

/** The pages of an object, in the order of their collections. Throws when it is malformed. */
async function* pagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CompressedPage> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + rest.readUInt32BE(at + 1);
      if (end > rest.length) break;
      const letter = rest.toString("latin1", at, at + 1);
      const kind = STORE_KINDS.find((candidate) => candidate.charAt(0) === letter);
      if (kind === undefined) throw new Error("a page of the snapshot has an unknown kind");
      yield { kind, data: rest.subarray(at + HEAD_BYTES, end) };
      at = end;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new Error("the snapshot is incomplete");
}
