/**
 * Query faults as problems. src/query returns faults as values and knows no HTTP; inside src/api a problem is thrown, and
 * the request handler renders it. This is the only place where one becomes the other.
 */
import { AmbiguousNameFault, QueryFault } from "../../query/fault.ts";
import { FutureRevisionProblem } from "../endpoints/revision-wait.ts";
import { AmbiguousNameProblem, Problem } from "./problem.ts";

export function problemOf(fault: QueryFault): Problem {
  const { code, detail, futureRevision } = fault;
  if (fault instanceof AmbiguousNameFault) return new AmbiguousNameProblem(detail, fault.candidates);
  return futureRevision === undefined
    ? new Problem(code, detail)
    : new FutureRevisionProblem(code, detail, futureRevision);
}

/** Returns the result of a query function, or throws the problem of its fault. */
export function throwIfFault<T>(result: T | QueryFault): T {
  if (result instanceof QueryFault) throw problemOf(result);
  return result;
}
