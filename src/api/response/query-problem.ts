/**
 * Converts query faults to problems. src/query returns faults as values and does not depend on HTTP. Inside src/api a
 * problem is thrown, and the request handler renders it. Only this file converts one to the other.
 */
import { AmbiguousNameFault, QueryFault } from "../../query/fault.ts";
import { AmbiguousNameProblem, ProblemDetails } from "./problem.ts";

export function problemOf(fault: QueryFault): ProblemDetails {
  const { code, detail } = fault;
  if (fault instanceof AmbiguousNameFault) return new AmbiguousNameProblem(detail, fault.candidates);
  return new ProblemDetails(code, detail, code === "revision-not-reached" ? { "Retry-After": "1" } : {});
}

/** Returns the result of a query function, or throws the problem of its fault. */
export function throwIfFault<T>(result: T | QueryFault): T {
  if (result instanceof QueryFault) throw problemOf(result);
  return result;
}
