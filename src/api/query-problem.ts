/**
 * Query faults as problems. src/query returns faults as values and knows no HTTP; inside src/api a problem is thrown, and
 * the request handler renders it. This is the only place where one becomes the other.
 */
import { QueryFault } from "../query/fault.ts";
import { Problem } from "./problem.ts";
import { FutureRevisionProblem } from "./revision-wait.ts";

export const problemOf = ({ code, detail, futureRevision }: QueryFault): Problem =>
  futureRevision === undefined
    ? new Problem(code, detail)
    : new FutureRevisionProblem(code, detail, futureRevision);

/** Returns the result of a query function, or throws the problem of its fault. */
export function throwIfFault<T>(result: T | QueryFault): T {
  if (result instanceof QueryFault) throw problemOf(result);
  return result;
}
