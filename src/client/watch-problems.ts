/**
 * Yields the list of problems again whenever it changes. A problem can also end because time passes, without a new
 * revision. A lost connection is therefore not resumed at a revision: the next connection sends the whole list, which is
 * short.
 */
import { createBackoff } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { NetworkProblem } from "../model/network-problem.ts";
import { compareProblems, type ProblemKind } from "../model/problem-kinds.ts";
import { ClientError, createLocalError } from "./client-error.ts";
import { type EventRecord, EventStreamParser } from "./event-stream.ts";
import type { WatchOptions } from "./watch.ts";

const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

export interface ProblemsResult {
  /** The problems of this page, worst first. */
  readonly problems: NetworkProblem[];
  /** The number of problems of each kind, on all pages together. */
  readonly counts: Readonly<Record<ProblemKind, number>>;
  readonly next?: string;
}

export interface WatchedProblems {
  readonly revision: number;
  /** All problems, worst first. */
  readonly problems: readonly NetworkProblem[];
}

export interface ProblemsContext {
  /** Opening and reading may throw a `ClientError`. */
  connect(): Promise<AsyncGenerator<Uint8Array, void, void>>;
  readonly clock: Clock;
  readonly random: () => number;
}

export async function* watchProblems(
  { connect, clock, random }: ProblemsContext,
  { signal, onState = () => {} }: Pick<WatchOptions, "signal" | "onState">,
): AsyncGenerator<WatchedProblems, void, void> {
  const backoff = createBackoff(INITIAL_BACKOFF_MS, MAX_BACKOFF_MS, random);
  try {
    while (!signal?.aborted) {
      let reason = "the connection ended";
      onState({ state: "connecting" });
      try {
        const chunks = await connect();
        onState({ state: "connected" });
        for await (const list of readLists(chunks)) {
          backoff.reset();
          yield list;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (!(error instanceof ClientError) || !error.transient) throw error;
        reason = error.detail;
      }
      if (signal?.aborted) return;
      const afterMs = backoff.nextMs();
      onState({ state: "reconnecting", afterMs, reason });
      await clock.sleep(afterMs, signal);
    }
  } finally {
    onState({ state: "closed" });
  }
}

/**
 * Yields one list after the snapshot and one after each complete change. The last record of a change has the id. A change
 * may arrive in several chunks; a list in between would mix problems of two different states.
 */
async function* readLists(
  chunks: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<WatchedProblems, void, void> {
  const parser = new EventStreamParser();
  let problems: readonly NetworkProblem[] = [];
  /** The changed problems by id; undefined stands for a removed problem. */
  const changed = new Map<string, NetworkProblem | undefined>();
  for await (const chunk of chunks) {
    for (const record of parser.push(chunk)) {
      if (record.event === "overflow" || record.event === "closing") return;
      const { revision, value } = parseRecord(record);
      if (value) changed.set(value.id, record.event === "removed" ? undefined : value);
      if (!record.hasId) continue;
      problems = mergeChanged(problems, changed);
      changed.clear();
      yield { revision, problems };
    }
  }
}

/** Sorts only the changed problems, because there may be a hundred thousand others, which stay the same objects. */
function mergeChanged(
  problems: readonly NetworkProblem[],
  changed: ReadonlyMap<string, NetworkProblem | undefined>,
): NetworkProblem[] {
  const added = [...changed.values()].filter((one) => one !== undefined).sort(compareProblems);
  const merged: NetworkProblem[] = [];
  let i = 0;
  for (const problem of problems) {
    if (changed.has(problem.id)) continue;
    for (let next = added[i]; next && compareProblems(next, problem) < 0; next = added[++i])
      merged.push(next);
    merged.push(problem);
  }
  return merged.concat(added.slice(i));
}

interface RecordBody {
  readonly revision: number;
  readonly value?: NetworkProblem;
}

/** The fields of the problem are not checked: the OpenAPI document guarantees them. */
function parseRecord({ event, data }: EventRecord): RecordBody {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw createLocalError("protocol", `the stream's ${event} record is not JSON`, error);
  }
}
