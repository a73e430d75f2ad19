/**
 * The changes that only the history has: the links and hosts that were removed, and the hosts that moved, within the last
 * hours. They are read from the log, so that they are the same after a restart, and on every node with as much history.
 * They can be moved forwards to a later revision, so that the log is read once.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import type { Batch, LogEntry } from "../../log/log.ts";
import type { Host, HostLocation, Link } from "../../model/entity.ts";
import type { History } from "../../view/history.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import type { RemovedHost } from "./parts.ts";

/** Number of removed hosts that are kept, because in some networks hosts are added and removed all the time. */
const MAX_REMOVED_HOSTS = 100_000;

export interface LostLink {
  readonly link: Link;
  /** Epoch milliseconds of its removal. */
  readonly time: number;
}

export interface MovedHost {
  readonly from: HostLocation;
  readonly to: HostLocation;
  /** Epoch milliseconds of its last move. */
  readonly time: number;
}

/** The times for which changes are kept, in milliseconds. */
export interface ProblemWindows {
  readonly lostLinkMs: number;
  readonly movedHostMs: number;
}

export class RecentChanges {
  revision: number;
  /** The lost links by id, without those that were added again. */
  readonly lost = new Map<string, LostLink>();
  readonly moved = new Map<string, MovedHost>();
  readonly removedHosts = new Map<string, RemovedHost>();

  private constructor(revision: number) {
    this.revision = revision;
  }

  /** The changes at `state` that are not older than the windows at its time, as far as the history is kept. */
  static *read(
    history: History,
    state: NetworkState,
    { lostLinkMs, movedHostMs }: ProblemWindows,
  ): Steps<RecentChanges> {
    const { log } = history;
    for (;;) {
      const { oldest } = log.stats();
      const from = log.revisionAt(state.time - Math.max(lostLinkMs, movedHostMs)) ?? oldest;
      const recent = new RecentChanges(Math.min(state.revision, Math.max(oldest, from)));
      try {
        yield* recent.#advance(history, state.revision);
        return recent;
      } catch (error) {
        // If history was pruned meanwhile, it is read from its new beginning.
        if (!(error instanceof HistoryPruned) || log.stats().oldest === oldest) throw error;
      }
    }
  }

  /** Moves the changes to a later revision with the given time, and drops those that are then older than the windows. */
  *moveTo(
    history: History,
    revision: number,
    time: number,
    { lostLinkMs, movedHostMs }: ProblemWindows,
  ): Steps<void> {
    yield* this.#advance(history, revision);
    dropUntil(this.lost, time - lostLinkMs);
    dropUntil(this.moved, time - movedHostMs);
    dropUntil(this.removedHosts, time - lostLinkMs);
  }

  *#advance(history: History, to: number): Steps<void> {
    const pause = new Pause();
    for (const batch of history.allBatches(this.revision, to)) {
      if (!batch) {
        yield;
        continue;
      }
      for (const entry of batch.entries) {
        this.#add(entry, batch);
        if (pause.due(COST.key)) yield;
      }
      if (pause.due(COST.key)) yield;
    }
    this.revision = to;
  }

  #add({ kind, id, before, after, changed }: LogEntry, { time }: Batch): void {
    if (kind === "links") {
      if (before !== null && after !== null) return;
      this.lost.delete(id);
      if (before !== null) this.lost.set(id, { link: parseStored("links", before), time });
    } else if (kind === "hosts") {
      if (
        before !== null &&
        after !== null &&
        !changed.includes("location") &&
        !changed.includes("locations")
      )
        return;
      const [was, is] = [parseHost(before), parseHost(after)];
      if (was && is && hasLocation(was, is.location)) return;
      this.moved.delete(id);
      if (was && is) this.moved.set(id, { from: was.location, to: is.location, time });
      this.removedHosts.delete(id);
      if (was && !is) this.#addRemoved(id, { devices: devicesOf(was), time });
    }
  }

  #addRemoved(id: string, host: RemovedHost): void {
    this.removedHosts.set(id, host);
    if (this.removedHosts.size <= MAX_REMOVED_HOSTS) return;
    const [oldest] = this.removedHosts.keys();
    if (oldest !== undefined) this.removedHosts.delete(oldest);
  }
}

/** Changes are in order of time, because an entry that is set again moves to the end. */
function dropUntil(changes: Map<string, { readonly time: number }>, end: number): void {
  for (const [id, { time }] of changes) {
    if (time > end) break;
    changes.delete(id);
  }
}

const devicesOf = ({ locations }: Host): string[] => [
  ...new Set(locations.map(({ elementId }) => elementId)),
];

const parseHost = (text: string | null): Host | undefined =>
  text === null ? undefined : parseStored("hosts", text);

/** A host at several locations does not move when another of them becomes the first. */
const hasLocation = ({ locations }: Host, { elementId, port }: HostLocation): boolean =>
  locations.some((at) => at.elementId === elementId && at.port === port);
