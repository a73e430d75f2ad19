/**
 * Runs reads on the scheduler, within the memory budget: refuses a read that exceeds the budget, counts the memory that its
 * response holds, and releases it whether the response is sent or not.
 */
import { isBodySource } from "../../http1/body-source.ts";
import { type MemoryAccount, type MemoryBudget, READ_BYTES } from "../../lib/memory-budget.ts";
import type { CancelSignal, Scheduler } from "../../lib/scheduler.ts";
import { isSteps, type Runnable } from "../../lib/steps.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import type { ReadHandler, ReadOutcome } from "../endpoints/read-handler.ts";
import type { Route } from "../endpoints/routing.ts";
import type { ReadRequest } from "../exchange.ts";
import { CHUNK_BYTES } from "../response/body-producer.ts";
import { ProblemDetails } from "../response/problem.ts";

export class ReadRunner {
  readonly #handler: ReadHandler;
  readonly #scheduler: Scheduler;
  readonly #budget: MemoryBudget;

  constructor(handler: ReadHandler, scheduler: Scheduler, budget: MemoryBudget) {
    this.#handler = handler;
    this.#scheduler = scheduler;
    this.#budget = budget;
  }

  /** Runs a read. Most are complete within the call. Throws a `ProblemDetails` if the read is refused. */
  run(route: Route, request: ReadRequest, signal: CancelSignal): ReadOutcome | Promise<ReadOutcome> {
    const { user, owner } = request;
    if (user !== INTERNAL_USER && !this.#budget.admits(user)) throw overBudget();
    const memory = this.#budget.account(user);
    try {
      const read = new Read(this.#handler, route, request, memory);
      const outcome = this.#scheduler.run(owner, read, signal);
      if (outcome instanceof Promise) return later(outcome, memory);
      account(outcome, memory);
      return outcome;
    } catch (error) {
      memory.release();
      throw error;
    }
  }
}

async function later(pending: Promise<ReadOutcome>, memory: MemoryAccount): Promise<ReadOutcome> {
  memory.open(READ_BYTES);
  try {
    const outcome = await pending;
    account(outcome, memory);
    return outcome;
  } catch (error) {
    memory.release();
    throw error;
  }
}

/** A read on the scheduler. Most reads complete in the first step; the others continue in their own steps. */
class Read implements Runnable<ReadOutcome> {
  readonly #handler: ReadHandler;
  readonly #route: Route;
  readonly #request: ReadRequest;
  readonly #memory: MemoryAccount;
  #steps: Runnable<ReadOutcome> | undefined;

  constructor(handler: ReadHandler, route: Route, request: ReadRequest, memory: MemoryAccount) {
    this.#handler = handler;
    this.#route = route;
    this.#request = request;
    this.#memory = memory;
  }

  next(): IteratorResult<undefined | Promise<unknown>, ReadOutcome> {
    if (this.#steps) return this.#steps.next();
    const outcome = this.#handler.read(this.#route, this.#request, this.#memory);
    if (!isSteps(outcome)) return { done: true, value: outcome };
    this.#steps = this.#memory.paced(outcome);
    return this.#steps.next();
  }

  return(): void {
    this.#steps?.return();
  }
}

export const overBudget = (): ProblemDetails =>
  new ProblemDetails(
    "over-budget",
    "Responses that are not sent yet hold as much memory as they may; read them, and try again in a moment.",
    { "Retry-After": "2" },
  );

/**
 * Counts the response of a read. If its body is produced while it is sent, the account stays open and memory for one chunk
 * is reserved, or the read is refused. The body releases the account at its end; an event stream releases it itself.
 */
function account({ prepared, response }: ReadOutcome, memory: MemoryAccount): void {
  const { body } = response;
  if (!prepared) memory.open(READ_BYTES);
  else if (body !== null && typeof body === "object" && isBodySource(body)) {
    memory.open();
    if (!memory.reserve(CHUNK_BYTES) && memory.user !== INTERNAL_USER) {
      body.close();
      throw overBudget();
    }
  } else memory.release();
}
