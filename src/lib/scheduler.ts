/**
 * The cooperative scheduler. Everything that grows with the network runs here in slices, and the event loop handles
 * sockets between them.
 *
 * It is fair between owners, not between computations: an owner is a user, a source or a task of the service, and a user
 * with a hundred heavy requests gets the same share as one with a single request. The owner that has used the least time
 * is next. A turn of the event loop spends at most `TURN_MS` here.
 *
 * A computation that is short ends within the call of `run`, without a promise: most reads take microseconds. What all of
 * them may take in one turn is bounded too.
 */
import { createBoundedCache } from "./bounded-cache.ts";
import type { Runnable } from "./steps.ts";

/** Of one turn of the event loop. */
const TURN_MS = 4;
/** Of one owner before the next one has its slice. */
const SLICE_MS = 1;
/** A step this long delays others noticeably. It is counted, so that it can be found. */
const LONG_STEP_MS = 10;
/** How often the signal of a computation is read while it waits for a promise. */
const PARKED_CHECK_MS = 100;
/** Owners whose usage is reported. */
const MAX_OWNERS = 10_000;

/** The computation was cancelled: its signal aborted. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** An `AbortSignal`, or anything else that knows whether the result is still needed. It is read before each slice. */
export interface CancelSignal {
  readonly aborted: boolean;
}

export interface OwnerUsage {
  readonly owner: string;
  /** Time on the event loop so far. */
  readonly loopMs: number;
  /** Computations that are not complete. */
  readonly running: number;
}

export interface SchedulerOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn?: (callback: () => void) => void;
}

interface Task {
  /** Runs one step. A promise is what the computation waits for. Never throws. */
  step(): "over" | "pause" | Promise<unknown>;
  cancel(): void;
  readonly signal: CancelSignal | undefined;
}

class Owner {
  readonly name: string;
  readonly tasks: Task[] = [];
  /** Tasks that wait for a promise. */
  waiting = 0;
  loopMs = 0;
  /** The time it has used since it last became active, on the common scale of all owners. Decides which one is next. */
  virtualMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export class Scheduler {
  readonly #now: () => number;
  readonly #nextTurn: (callback: () => void) => void;
  /** An owner that is evicted while it has work completes it, and is counted from zero afterwards. */
  readonly #owners = createBoundedCache<string, Owner>({ maxSize: MAX_OWNERS });
  /** The one that was used most recently, so that it is not evicted. */
  #lastOwner: Owner | undefined;
  /** The owners with work. */
  readonly #active = new Set<Owner>();
  /** How far the owners are on that scale: never decreases. Who becomes active starts here, at the earliest. */
  #virtualNow = 0;
  #isTurnScheduled = false;
  /** What computations have taken within calls of `run` in this turn. */
  #inlineMs = 0;
  #longSteps = 0;

  constructor({ now = () => performance.now(), nextTurn = setImmediate }: SchedulerOptions = {}) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Steps that took longer than `LONG_STEP_MS`. Each is a defect. */
  get longSteps(): number {
    return this.#longSteps;
  }

  /** Of the owners that have work or had work recently. */
  *usage(): Generator<OwnerUsage> {
    for (const { name, loopMs, tasks, waiting } of this.#owners.values())
      yield { owner: name, loopMs, running: tasks.length + waiting };
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
    // Requests of one user often come one after the other.
    if (this.#lastOwner?.name === name) return this.#lastOwner;
    let owner = this.#owners.get(name);
    if (!owner) {
      owner = new Owner(name);
      this.#owners.set(name, owner);
    }
    this.#lastOwner = owner;
    return owner;
  }

  /** Undefined when the computation is not short. */
  #runInline<Result>(owner: Owner, steps: Runnable<Result>): { readonly result: Result } | undefined {
    const start = this.#now();
    this.#catchUp(owner);
    // The budget of the turn is renewed in the next one.
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
      // Without competitors nobody is owed the time.
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

  /** A computation that waits is cancelled as well, although it has no slices: it may wait for long. */
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

  /** An owner that was idle does not save up time: otherwise it could hold back all others afterwards. */
  #catchUp(owner: Owner): void {
    owner.virtualMs = Math.max(owner.virtualMs, this.#virtualNow);
  }

  #charge(owner: Owner, usedMs: number): void {
    owner.loopMs += usedMs;
    owner.virtualMs += usedMs;
  }

  /** The active owner that has used the least. */
  #least(): Owner | undefined {
    let least: Owner | undefined;
    for (const owner of this.#active) if (!least || owner.virtualMs < least.virtualMs) least = owner;
    return least;
  }
}
