/**
 * The list of problems of a watch, yielded again whenever it changes. A problem can also end because time passes, without a
 * new revision. A lost connection is therefore not resumed at a revision: the next connection sends the whole list, which is
 * short.
 */
import type { NetworkProblem } from "../model/network-problem.ts";
import { compareProblems, type ProblemKind } from "../model/problem-kinds.ts";
import type { EventRecord } from "./event-stream.ts";
import { parseBody } from "./stream-records.ts";
import type { StreamState } from "./watch.ts";

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

export class ProblemsState implements StreamState<WatchedProblems> {
  readonly resumes = false;
  since: number | undefined;
  #problems: readonly NetworkProblem[] = [];
  /** The changed problems by id; undefined stands for a removed problem. */
  readonly #changed = new Map<string, NetworkProblem | undefined>();

  startConnection(): void {
    this.since = undefined;
    this.#problems = [];
    this.#changed.clear();
  }

  /**
   * Yields one list after the snapshot and one after each complete change. The last record of a change has the id. A list
   * before it would mix problems of two different states.
   */
  *receive({ event, data, hasId }: EventRecord): Generator<WatchedProblems, void, void> {
    const { revision, value } = parseBody<{ readonly revision: number; readonly value?: NetworkProblem }>(
      data,
    );
    if (value) this.#changed.set(value.id, event === "removed" ? undefined : value);
    if (!hasId) return;
    this.#problems = mergeChanged(this.#problems, this.#changed);
    this.#changed.clear();
    this.since = revision;
    yield { revision, problems: this.#problems };
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
