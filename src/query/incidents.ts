/**
 * Searches the history for the incident before or after a revision. Alarms are read from the batches of the log, so that a
 * device that was down for a second is found too; a comparison of two states would not show it. A search reads a limited
 * number of batches, and the caller continues where it stopped.
 */
import { COST, collectPaced, Pause, type PausingSteps, type Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import { cableId } from "../model/cable.ts";
import {
  type Alarm,
  availabilityEventOf,
  INCIDENT_GAP_MS,
  type Incident,
  type IncidentSearch,
  MAX_LISTED_ALARMS,
} from "../model/incident.ts";
import type { History } from "../view/history.ts";
import { parseStored } from "../view/view.ts";

export const DIRECTIONS = ["previous", "next"] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface SearchLimits {
  /** Number of batches that one search reads. */
  readonly maxBatches: number;
  /** Number of batches read at once in a search for an earlier incident, because the log is read forwards. */
  readonly chunkBatches: number;
}
const LIMITS: SearchLimits = { maxBatches: 20_000, chunkBatches: 500 };

/** The alarms of one batch. */
interface Moment {
  readonly revision: number;
  readonly time: number;
  readonly alarms: readonly Alarm[];
}

/** Finds an incident. `revision` must resolve. An incident that ends at `revision` is not the previous one. */
export function* findIncident(
  history: History,
  direction: Direction,
  revision: number,
  limits = LIMITS,
): Steps<IncidentSearch> {
  return direction === "next"
    ? yield* findNext(history, revision, limits)
    : yield* findPrevious(history, revision, limits);
}

function* findNext(
  history: History,
  revision: number,
  { maxBatches }: SearchLimits,
): PausingSteps<IncidentSearch> {
  const newest = history.view.revision;
  const until = Math.min(newest, revision + maxBatches);
  const found: Moment[] = [];
  for (const moment of alarmsBetween(history, revision, until)) {
    const last = found.at(-1);
    if (moment && last && isApart(last, moment)) break;
    if (moment) found.push(moment);
    else yield;
  }
  return resultOf(history, found, until, until === newest);
}

function* findPrevious(
  history: History,
  revision: number,
  { maxBatches, chunkBatches }: SearchLimits,
): PausingSteps<IncidentSearch> {
  const { oldest } = history.log.stats();
  const limit = Math.max(oldest, revision - maxBatches);
  /** The moments from the first revision that was read. */
  let found: Moment[] = [];
  let start = revision;
  while (start > limit) {
    const chunkStart = Math.max(limit, start - chunkBatches);
    found = [...(yield* collectPaced(alarmsBetween(history, chunkStart, start))), ...found];
    start = chunkStart;
    const { moments, isWhole } = lastBefore(found, revision, history.timeOf(start));
    if (isWhole) return resultOf(history, moments, start, false);
  }
  const { moments } = lastBefore(found, revision, Number.NEGATIVE_INFINITY);
  // The next search starts at a revision that was read, because an alarm at its start would count as the present one.
  return resultOf(history, moments, Math.min(revision, start + 1), start === oldest);
}

/** The moments of the last incident that does not end at `revision`, and whether its beginning is known. */
function lastBefore(
  found: readonly Moment[],
  revision: number,
  readSinceMs: number,
): { readonly moments: readonly Moment[]; readonly isWhole: boolean } {
  let end = found.length;
  if (found.at(-1)?.revision === revision) end = startOfRun(found, end);
  const start = startOfRun(found, end);
  const first = found[start];
  const isWhole = first !== undefined && end > 0 && (start > 0 || first.time - readSinceMs > INCIDENT_GAP_MS);
  return { moments: found.slice(start, end), isWhole };
}

/** The index of the first moment of the incident whose last moment is before `end`. */
function startOfRun(found: readonly Moment[], end: number): number {
  let start = Math.max(0, end - 1);
  for (;;) {
    const [earlier, later] = [found[start - 1], found[start]];
    if (!earlier || !later || isApart(earlier, later)) return start;
    start--;
  }
}

const isApart = (earlier: Moment, later: Moment): boolean => later.time - earlier.time > INCIDENT_GAP_MS;

function resultOf(
  history: History,
  moments: readonly Moment[],
  searched: number,
  complete: boolean,
): IncidentSearch {
  const [first, last] = [moments[0], moments.at(-1)];
  const end = { revision: searched, time: history.timeOf(searched) };
  if (!first || !last) return { searched: end, complete };
  const alarms = moments.flatMap((moment) => moment.alarms);
  const incident: Incident = {
    from: { revision: first.revision, time: first.time },
    to: { revision: last.revision, time: last.time },
    alarms: alarms.slice(0, MAX_LISTED_ALARMS),
    alarmCount: alarms.length,
  };
  return { incident, searched: end, complete };
}

/** The batches in (from, to] that have alarms. Ends early where batches were pruned. */
function* alarmsBetween(
  history: History,
  from: number,
  to: number,
): Generator<Moment | undefined, void, void> {
  const pause = new Pause();
  for (const batch of history.batches(from, to)) {
    if (!batch) {
      yield;
      continue;
    }
    const alarms: Alarm[] = [];
    for (const entry of batch.entries) {
      const alarm = alarmOf(entry);
      if (alarm) alarms.push(alarm);
      if (pause.due(COST.key)) yield;
    }
    if (alarms.length > 0) yield { revision: batch.revision, time: batch.time, alarms };
  }
}

function alarmOf(entry: LogEntry): Alarm | undefined {
  const { kind, id, before, after } = entry;
  const event = availabilityEventOf(entry);
  if (event === undefined || event === "recovered" || event === "added") return undefined;
  if (kind !== "links") return { resource: "devices", id, event };
  return { resource: kind, id, cable: cableId(parseStored(kind, after ?? before ?? "")), event };
}
