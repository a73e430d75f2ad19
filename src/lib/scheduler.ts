/**
 * The cooperative scheduler. All work that grows with the network runs here in slices, and the event loop handles sockets
 * between them.
 *
 * It is fair between owners, not between computations: an owner is a user, a source or a task of the service, and a user
 * with a hundred heavy requests gets the same share as one with a single request. The owner that has used the least time is
 * next. A turn of the event loop spends at most `TURN_MS` here.
 *
 * A short computation ends within the call of `run`, without a promise, because most reads take microseconds. The total
 * time of such computations in one turn is bounded too.
 */
import { createBoundedCache } from "./bounded-cache.ts";
import type { Runnable } from "./steps.ts";

/** Time that one turn of the event loop spends here. */
const TURN_MS = 4;
/** Time that one owner gets before the next one. */
const SLICE_MS = 1;
/** A step longer than this delays others noticeably. Such steps are counted, so that they can be found. */
const LONG_STEP_MS = 10;
/** Interval at which the signal of a computation is checked while it waits for a promise. */
const PARKED_CHECK_MS = 100;
/** Number of owners whose usage is kept. */
const MAX_OWNERS = 10_000;

/** The error of a computation whose signal aborted. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** An `AbortSignal`, or any object that reports whether the result is still needed. It is read before each slice. */
export interface CancelSignal {
  readonly aborted: boolean;
}

export interface OwnerUsage {
  readonly owner: string;
  /** Total time used on the event loop. */
  readonly loopMs: number;
  /** Number of computations that are not complete. */
  readonly running: number;
  /** Number of those that wait for something off the event loop. */
  readonly waiting: number;
}

export interface SchedulerOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn?: (callback: () => void) => void;
}

interface Task {
  /** Runs one step. A returned promise is one that the computation waits for. Never throws. */
  step(): "over" | "pause" | Promise<unknown>;
  cancel(): void;
  readonly signal: CancelSignal | undefined;
}

class Owner {
  readonly name: string;
  readonly tasks: Task[] = [];
  /** Number of tasks that wait for a promise. */
  waiting = 0;
  loopMs = 0;
  /** Time used since the owner last became active, on a scale common to all owners. The owner with the lowest value is next. */
  virtualMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export class Scheduler {
  readonly #now: () => number;
  readonly #nextTurn: (callback: () => void) => void;
  /** The owners by name. An evicted owner with work completes it; its usage is counted from zero afterwards. */
  readonly #owners = createBoundedCache<string, Owner>({ maxSize: MAX_OWNERS });
  /** The owner that was used most recently. */
  #lastOwner: Owner | undefined;
  /** The owners with work. */
  readonly #active = new Set<Owner>();
  /** The current position on the scale of `virtualMs`, which never decreases. A newly active owner starts here or later. */
  #virtualNow = 0;
  #isTurnScheduled = false;
  /** Time that computations have taken within calls of `run` in this turn. */
  #inlineMs = 0;
  #longSteps = 0;

  constructor({ now = () => performance.now(), nextTurn = setImmediate }: SchedulerOptions = {}) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Number of steps that took longer than `LONG_STEP_MS`. Each is a defect. */
  get longSteps(): number {
    return this.#longSteps;
  }

  /** The usage of the owners that have work or had work recently. */
  *usage(): Generator<OwnerUsage> {
    for (const { name, loopMs, tasks, waiting } of this.#owners.values())
      yield { owner: name, loopMs, running: tasks.length + waiting, waiting };
  }

  /**
   * Runs a computation for an owner. Returns its result at once when it is short, and a promise otherwise. When the signal
   * aborts, the computation ends (its `finally` blocks run) and the promise is rejected with `Cancelled`.
   */
  run<Result>(name: string, steps: Runnable<Result>, signal?: CancelSignal): Result | Promise<Result> {
    const owner = this.#owner(name);
    if (owner.tasks.length === 0 && this.#inlineMs < TURN_MS) {
      const outcome = this.#runInline(owner, steps);
      if (outcome) return outcome.result;
    }
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          const { value, done } = steps.next();
          if (!done) return value ?? "pause";
          resolve(value);
        } catch (error) {
          reject(error);
        }
        return "over";
      };
      const cancel = () => {
        reject(new Cancelled("the computation was cancelled"));
        steps.return();
      };
      this.#enqueue(owner, { step, cancel, signal });
    });
  }

  #owner(name: string): Owner {
    // Requests of one user often follow each other directly.
    if (this.#lastOwner?.name === name) return this.#lastOwner;
    let owner = this.#owners.get(name);
    if (!owner) {
      owner = new Owner(name);
      this.#owners.set(name, owner);
    }
    this.#lastOwner = owner;
    return owner;
  }

  /** Returns undefined when the computation is not short. */
  #runInline<Result>(owner: Owner, steps: Runnable<Result>): { readonly result: Result } | undefined {
    const start = this.#now();
    this.#catchUp(owner);
    // The turn that is scheduled here resets the inline budget.
    if (this.#inlineMs === 0) this.#scheduleTurn();
    try {
      for (;;) {
        const { value, done } = steps.next();
        if (done) return { result: value };
        if (value || this.#now() - start >= SLICE_MS) return undefined;
      }
    } finally {
      const usedMs = this.#now() - start;
      this.#inlineMs += Math.max(usedMs, Number.MIN_VALUE);
      this.#charge(owner, usedMs);
      // If no other owner is active, no owner falls behind because of this time.
      if (this.#active.size === 0) this.#virtualNow = owner.virtualMs;
    }
  }

  #enqueue(owner: Owner, task: Task): void {
    if (!this.#active.has(owner)) this.#catchUp(owner);
    this.#active.add(owner);
    owner.tasks.push(task);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    this.#nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnScheduled = false;
    this.#inlineMs = 0;
    const end = this.#now() + TURN_MS;
    for (let owner = this.#least(); owner; owner = this.#least()) {
      this.#virtualNow = Math.max(this.#virtualNow, owner.virtualMs);
      if (this.#runSlice(owner) >= end) break;
    }
    if (this.#active.size > 0) this.#scheduleTurn();
  }

  /** Runs the owner's next task for one slice. Returns the time at its end. */
  #runSlice(owner: Owner): number {
    const start = this.#now();
    let now = start;
    const task = owner.tasks.shift();
    let next: ReturnType<Task["step"]> = "pause";
    if (!task || task.signal?.aborted) {
      task?.cancel();
      next = "over";
    } else {
      while (next === "pause" && now - start < SLICE_MS) {
        const stepStart = now;
        next = task.step();
        now = this.#now();
        if (now - stepStart > LONG_STEP_MS) this.#longSteps++;
      }
      if (next === "pause") owner.tasks.push(task);
      else if (next !== "over") this.#park(owner, task, next);
    }
    this.#charge(owner, now - start);
    if (owner.tasks.length === 0) this.#active.delete(owner);
    return now;
  }

  /** Waits for the promise, and checks the signal meanwhile, because the wait may be long and the task has no slices. */
  #park(owner: Owner, task: Task, until: Promise<unknown>): void {
    owner.waiting++;
    let isParked = true;
    const wake = () => {
      if (!isParked) return;
      isParked = false;
      clearInterval(check);
      owner.waiting--;
      this.#enqueue(owner, task);
    };
    const { signal } = task;
    const check = signal && setInterval(() => signal.aborted && wake(), PARKED_CHECK_MS).unref();
    until.then(wake, wake);
  }

  /** An owner that was idle does not accumulate a claim on time; otherwise it could block all others afterwards. */
  #catchUp(owner: Owner): void {
    owner.virtualMs = Math.max(owner.virtualMs, this.#virtualNow);
  }

  #charge(owner: Owner, usedMs: number): void {
    owner.loopMs += usedMs;
    owner.virtualMs += usedMs;
  }

  /** The active owner that has used the least time. */
  #least(): Owner | undefined {
    let least: Owner | undefined;
    for (const owner of this.#active) if (!least || owner.virtualMs < least.virtualMs) least = owner;
    return least;
  }
}
