/**
 * Runs reads on the scheduler, within the budget of memory: refuses a read over the budget, counts what its response
 * holds, and releases it whatever becomes of the response.
 */
import { isBodySource } from "../http1/body-source.ts";
import { type MemoryAccount, type MemoryBudget, READ_BYTES } from "../lib/memory-budget.ts";
import type { CancelSignal, Scheduler } from "../lib/scheduler.ts";
import { INTERNAL_USER } from "./auth/authenticate.ts";
import { CHUNK_BYTES } from "./body-producer.ts";
import { Problem } from "./problem.ts";
import type { ReadRequest } from "./read-request.ts";
import type { Route } from "./route.ts";
import type { ReadOutcome, Router } from "./router.ts";

export class ReadRunner {
  readonly #router: Router;
  readonly #scheduler: Scheduler;
  readonly #budget: MemoryBudget;

  constructor(router: Router, scheduler: Scheduler, budget: MemoryBudget) {
    this.#router = router;
    this.#scheduler = scheduler;
    this.#budget = budget;
  }

  /** Most reads are complete within the call. Throws a `Problem` for one that is refused. */
  run(route: Route, request: ReadRequest, signal: CancelSignal): ReadOutcome | Promise<ReadOutcome> {
    const { user, owner } = request;
    if (user !== INTERNAL_USER && !this.#budget.admits(user)) throw overBudget();
    const memory = this.#budget.account(user);
    const fail = (error: unknown): never => {
      memory.release();
      throw error;
    };
    try {
      const steps = memory.paced(this.#router.read(route, request, memory));
      const outcome = this.#scheduler.run(owner, steps, signal);
      if (!(outcome instanceof Promise)) return accounted(outcome, memory);
      memory.open(READ_BYTES);
      return outcome.then((complete) => accounted(complete, memory)).catch(fail);
    } catch (error) {
      return fail(error);
    }
  }
}

export const overBudget = (): Problem =>
  new Problem(
    "over-budget",
    "Responses that are not sent yet hold as much memory as they may; read them, and try again in a moment.",
    { "Retry-After": "2" },
  );

/**
 * The response of a read. Its account stays open while its body is produced: then a chunk is reserved, or the read is
 * refused. The body releases the account at its end, and an event stream by itself.
 */
function accounted({ prepared, response }: ReadOutcome, memory: MemoryAccount): ReadOutcome {
  const { body } = response;
  if (!prepared) memory.open(READ_BYTES);
  else if (body !== null && typeof body === "object" && isBodySource(body)) {
    memory.open();
    if (!memory.reserve(CHUNK_BYTES) && memory.user !== INTERNAL_USER) {
      body.close();
      throw overBudget();
    }
  } else memory.release();
  return { prepared, response };
}
