/** Counts what a node finds in NATS beside the log that no node of its cluster has written. It is ignored. */

type ForeignPlace = "requests" | "channels" | "snapshots";

export class ForeignMessages {
  readonly counts: Record<ForeignPlace, number> = { requests: 0, channels: 0, snapshots: 0 };

  count(place: ForeignPlace): void {
    this.counts[place]++;
  }
}
