/**
 * Snapshots of a cluster's log in a JetStream object store, from which new nodes begin. There are two places, and a new
 * snapshot replaces the older one, so that a node has time to load the newest. Two nodes may write at once: the one that
 * finishes last is refused. Chunks that no place refers to are removed.
 *
 * The metadata of an object describes its snapshot, and is signed with a key derived from the secret of the cluster; its pages
 * are signed too (`snapshot-pages.ts`). An object that no node has written is counted and ignored.
 */

import type { JetStreamManager } from "@nats-io/jetstream";
import { type ObjectInfo, type ObjectStore, Objm, StorageType, setSha256Backend } from "@nats-io/obj";
import Type from "typebox";
import { Value } from "typebox/value";
import { isOtherSequence, type NatsCluster } from "../../cluster/nats/nats-cluster.ts";
import { readSignedText, signText } from "../../cluster/nats/signed.ts";
import type { Clock } from "../../lib/clock.ts";
import type { CompressedPage } from "../embedded.ts";
import type { Snapshot } from "../log.ts";
import { asStreamError } from "./as-stream-error.ts";
import { FORMAT } from "./messages.ts";
import { StreamPosition } from "./position.ts";
import { DamagedSnapshotError, encodePages, readPages } from "./snapshot-pages.ts";
import type { StreamError } from "./stream-error.ts";

const PLACES = ["snapshot-a", "snapshot-b"] as const;
const CHUNK_BYTES = 256 * 1024;
const WRITE_TIMEOUT_MS = 10_000;
/** Time after which a read that gets no bytes fails. */
const STALL_TIMEOUT_MS = 15_000;

setSha256Backend("native");

const Facts = Type.Object({
  format: Type.Integer(),
  /** The id and the sealed signing key of the log. */
  log: Type.String({ minLength: 1 }),
  key: Type.String(),
  position: StreamPosition,
  revision: Type.Integer({ minimum: 0 }),
  time: Type.Integer({ minimum: 0 }),
  graphTime: Type.Integer({ minimum: 0 }),
  versions: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});
/** The facts of a snapshot in any format. */
const OtherFacts = Type.Object({ format: Type.Integer() });
export type ClusterSnapshotFacts = Type.Static<typeof Facts>;

export interface StoredSnapshot {
  readonly facts: ClusterSnapshotFacts;
  /** The signed text of the facts. The signatures of the pages contain it. */
  readonly signed: string;
  readonly bytes: number;
  readonly place: string;
}

interface Place {
  readonly name: string;
  /** Revision of the object, so that a write replaces exactly the object that was read; 0 where the place is empty. */
  readonly revision: number;
  readonly snapshot: StoredSnapshot | undefined;
}

export class ClusterSnapshots {
  readonly #cluster: NatsCluster;
  readonly #bucket: string;
  readonly #clock: Clock;
  readonly #key: Uint8Array;
  /** Ids of objects that no node has written and that are counted already, by place. */
  readonly #counted = new Map<string, string>();

  constructor(cluster: NatsCluster, clock: Clock) {
    this.#cluster = cluster;
    this.#bucket = cluster.names.snapshots;
    this.#clock = clock;
    this.#key = cluster.secret.derive("snapshots");
  }

  /** Whether a place has had an object that no node with this secret has written. */
  get hasForeign(): boolean {
    return this.#counted.size > 0;
  }

  /** The name of the bucket's stream in NATS, for messages to the operator. */
  get stream(): string {
    return `OBJ_${this.#bucket}`;
  }

  /** Whether all snapshots are of this log; true where there are none. Rejects with `StreamError`. */
  async hasOnly(log: string): Promise<boolean> {
    const snapshots = await this.listAll();
    return snapshots.every(({ facts }) => facts.log === log) && !this.hasForeign;
  }

  /** Lists the snapshots of the stream with this creation time, newest first. Makes no bucket. Rejects with `StreamError`. */
  async list(created: string): Promise<StoredSnapshot[]> {
    return (await this.listAll()).filter(({ facts }) => facts.position.created === created);
  }

  /** Lists the snapshots of all streams, including former ones, the newest first. */
  async listAll(): Promise<StoredSnapshot[]> {
    const places = await this.#places(() => this.#find());
    return places
      .flatMap(({ snapshot }) => snapshot ?? [])
      .sort((a, b) => b.facts.revision - a.facts.revision);
  }

  /** Writes a snapshot. Resolves to false when another node was first, and nothing is stored. Rejects with `StreamError`. */
  async write(
    identity: Pick<ClusterSnapshotFacts, "log" | "key" | "position">,
    snapshot: Snapshot,
  ): Promise<boolean> {
    const { revision, time, graphTime, versions, pages } = snapshot;
    const facts: ClusterSnapshotFacts = { format: FORMAT, ...identity, revision, time, graphTime, versions };
    const place = placeToReplace(await this.#places(() => this.#open()), identity);
    const options = { max_chunk_size: CHUNK_BYTES };
    const snapshotText = signText(this.#key, this.#bucket, facts);
    const metadata = { snapshot: snapshotText };
    try {
      const store = await this.#open();
      const { revision: end } = await store.put(
        { name: place.name, options, metadata },
        encodePages(this.#key, snapshotText, pages),
        { previousRevision: place.revision, timeout: WRITE_TIMEOUT_MS },
      );
      // If this fails, the next write removes the chunks.
      await this.#removeUnusedChunks(store, end).catch(() => {});
      return true;
    } catch (error) {
      if (isOtherSequence(error)) return false;
      throw this.#asStreamError(error);
    }
  }

  /**
   * Yields the pages of a snapshot. Throws `DamagedSnapshotError` when they do not belong to it, and `StreamError` when it
   * cannot be read completely. Both also happen when the snapshot is replaced meanwhile.
   */
  async *read({ place, signed }: StoredSnapshot): AsyncGenerator<CompressedPage> {
    try {
      const object = await (await this.#open()).get(place);
      if (!object) throw new Error("the snapshot was deleted");
      object.error.catch(() => {});
      yield* readPages(this.#key, signed, this.#untilStalled(object.data));
    } catch (error) {
      if (error instanceof DamagedSnapshotError) {
        this.#cluster.foreign.count("snapshots");
        throw error;
      }
      throw this.#asStreamError(error);
    }
  }

  async #removeUnusedChunks(store: ObjectStore, end: number): Promise<void> {
    const infos = await Promise.all(PLACES.map((name) => store.info(name)));
    const used = new Set(infos.flatMap((info) => info?.nuid ?? []));
    await removeUnusedChunks(this.#cluster.nats.manager, this.#bucket, end, used);
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

  async #places(open: () => Promise<ObjectStore | undefined>): Promise<Place[]> {
    try {
      const store = await open();
      if (!store) return [];
      return await Promise.all(
        PLACES.map(async (name) => {
          const info = await store.info(name);
          return { name, revision: info?.revision ?? 0, snapshot: this.#snapshotOf(info) };
        }),
      );
    } catch (error) {
      throw this.#asStreamError(error);
    }
  }

  #snapshotOf(info: ObjectInfo | null): StoredSnapshot | undefined {
    if (!info || info.deleted) return undefined;
    const signed = info.metadata?.snapshot ?? "";
    const facts = readSignedText(this.#key, this.#bucket, signed);
    if (Value.Check(Facts, facts)) return { facts, signed, bytes: info.size, place: info.name };
    if (Value.Check(OtherFacts, facts) && facts.format !== FORMAT) return undefined;
    if (this.#counted.get(info.name) !== info.nuid) this.#cluster.foreign.count("snapshots");
    this.#counted.set(info.name, info.nuid);
    return undefined;
  }

  /** Opens the bucket, and makes it where it does not exist or was deleted since. */
  async #open(): Promise<ObjectStore> {
    const found = await this.#find();
    if (found) return found;
    const { nats, replicas } = this.#cluster;
    return new Objm(nats.jetstream).create(this.#bucket, { replicas, storage: StorageType.File });
  }

  /** Opens the bucket; undefined where it does not exist. */
  async #find(): Promise<ObjectStore | undefined> {
    try {
      return await new Objm(this.#cluster.nats.jetstream).open(this.#bucket);
    } catch (error) {
      if (error instanceof Error && error.message === "object store not found") return undefined;
      throw error;
    }
  }

  #asStreamError(error: unknown): StreamError {
    return asStreamError(error, this.#cluster, this.stream);
  }
}

/**
 * Chooses an empty place or one with a snapshot of another stream, else one with a snapshot of another log (of a node that
 * tried to begin this stream and was not the first), else the one with the older snapshot.
 */
function placeToReplace(
  places: readonly Place[],
  { log, position: { created } }: Pick<ClusterSnapshotFacts, "log" | "position">,
): Place {
  const age = ({ snapshot }: Place) => {
    if (snapshot?.facts.position.created !== created) return -2;
    return snapshot.facts.log === log ? snapshot.facts.revision : -1;
  };
  const [first, ...others] = places;
  if (!first) throw new Error("there is no place for a snapshot");
  return others.reduce((oldest, place) => (age(place) < age(oldest) ? place : oldest), first);
}

/**
 * Removes the chunks of incomplete snapshots, which a node that is killed while it writes leaves behind. Called after a
 * snapshot was stored at the sequence `end` of the bucket. A node that began to write before that wants to replace the same
 * place and will be refused, so its chunks are useless even while it still writes. Chunks from `end` on are left alone.
 */
export async function removeUnusedChunks(
  manager: JetStreamManager,
  bucket: string,
  end: number,
  used: ReadonlySet<string>,
): Promise<void> {
  const stream = `OBJ_${bucket}`;
  const prefix = `$O.${bucket}.C.`;
  const { state } = await manager.streams.info(stream, { subjects_filter: `${prefix}>` });
  for (const subject of Object.keys(state.subjects ?? {}))
    if (!used.has(subject.slice(prefix.length)))
      await manager.streams.purge(stream, { filter: subject, seq: end });
}
