/**
 * A cluster in NATS: the connection to it, the names of its streams, buckets and subjects, its secret, and the counts of what no
 * node has written there. Everything that the nodes share is opened with one of these.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsClient } from "./nats-client.ts";
import type { ClusterSecret } from "./sealed.ts";

export interface NatsCluster {
  readonly nats: NatsClient;
  readonly names: ClusterNames;
  /** Number of servers that store each stream and bucket. */
  readonly replicas: number;
  readonly secret: ClusterSecret;
  readonly foreign: ForeignMessages;
}

export const natsCluster = (
  nats: NatsClient,
  { name, replicas }: { readonly name: string; readonly replicas: number },
  secret: ClusterSecret,
): NatsCluster => ({ nats, names: clusterNames(name), replicas, secret, foreign: new ForeignMessages() });

/** The names of a cluster's streams, buckets and subjects. Clusters with different names share none of them. */
export interface ClusterNames {
  readonly stream: string;
  /** Subject of every message of the stream. */
  readonly subject: string;
  /** Name of the object store. */
  readonly snapshots: string;
  /** Names of the key-value buckets. */
  readonly leases: string;
  readonly nodes: string;
  readonly users: string;
  /** Subject of requests from the command line to the nodes. */
  readonly requests: string;
}

export const clusterNames = (name: string): ClusterNames => ({
  stream: `GAZETTEER_${name}`,
  subject: `gazetteer.${name}.log`,
  snapshots: `GAZETTEER_${name}_snapshots`,
  leases: `GAZETTEER_${name}_leases`,
  nodes: `GAZETTEER_${name}_nodes`,
  users: `GAZETTEER_${name}_users`,
  requests: `gazetteer.${name}.requests`,
});

/** The traces of a cluster in NATS besides the stream of its log. */
export interface Traces {
  /** The names of the streams of its buckets, for messages to the operator. */
  readonly places: readonly string[];
  /** The nodes in the list of nodes. */
  readonly nodes: readonly { readonly nodeName: string; readonly revision: number }[];
}

export type BucketPlace = "leases" | "nodes" | "users";
type ForeignPlace = "requests" | "snapshots" | BucketPlace;

/** The time and revision of an entry of a bucket. */
interface Written {
  readonly created: Date;
  readonly revision: number;
}

/** Counts messages and entries outside the log that no node of this cluster has written. They are ignored. */
export class ForeignMessages {
  readonly counts: Record<ForeignPlace, number> = {
    requests: 0,
    snapshots: 0,
    leases: 0,
    nodes: 0,
    users: 0,
  };
  readonly #newest = new Map<BucketPlace, Written>();

  count(place: ForeignPlace): void {
    this.counts[place]++;
  }

  /** Counts an entry of a bucket. An entry that is read several times is counted once. */
  countEntry(place: BucketPlace, entry: Written): void {
    const newest = this.#newest.get(place);
    if (newest && !isLater(entry, newest)) return;
    this.#newest.set(place, entry);
    this.count(place);
  }
}

/** Compares times before revisions, because a bucket that was made again has smaller revisions. */
const isLater = (a: Written, b: Written): boolean =>
  a.created > b.created || (a.created.getTime() === b.created.getTime() && a.revision > b.revision);

/** The code of an error that JetStream has returned; 0 for every other error. */
export const jetStreamCode = (error: unknown): number =>
  error instanceof JetStreamApiError ? error.code : 0;

export const isStreamMissing = (error: unknown): boolean => jetStreamCode(error) === 10059;

/** Whether a message or entry was refused because the last one is not the expected one. Other errors leave that open. */
export const isOtherSequence = (error: unknown): boolean => [10071, 10164].includes(jetStreamCode(error));
