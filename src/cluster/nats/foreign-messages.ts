/** Counts messages and entries outside the log that no node of this cluster has written. They are ignored. */

type BucketPlace = "leases" | "nodes" | "users";
type ForeignPlace = "requests" | "snapshots" | BucketPlace;

/** The time and revision of an entry of a bucket. */
interface Written {
  readonly created: Date;
  readonly revision: number;
}

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
