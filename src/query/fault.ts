/**
 * What can be wrong with a query. Faults are values: functions of this folder return `T | QueryFault`, and callers check
 * with `instanceof`. A fault knows no HTTP; src/api turns it into a problem with a status. It is no Error, because a
 * stack trace costs more than parsing the query.
 */
import { quote } from "../lib/error-text.ts";

/** A subset of the codes in docs/errors.md. */
export type QueryFaultCode =
  | "bad-parameter"
  | "bad-cursor"
  | "cursor-expired"
  | "revision-unknown"
  | "revision-expired";

export class QueryFault {
  readonly code: QueryFaultCode;
  /** The parameter at fault, or the request header that stands for it (`Last-Event-ID`). */
  readonly parameter: string;
  /** For the client: what is wrong and what is allowed. */
  readonly detail: string;
  /** The revision that it names, where that is after the newest one: another node may have it. */
  readonly futureRevision: number | undefined;

  constructor(code: QueryFaultCode, parameter: string, detail: string, futureRevision?: number) {
    this.futureRevision = futureRevision;
    this.code = code;
    this.parameter = parameter;
    this.detail = detail;
  }
}

/** `reason` continues the sentence `The parameter "x" …`. */
export const badParameter = (parameter: string, reason: string): QueryFault =>
  new QueryFault("bad-parameter", parameter, `The parameter ${quote(parameter)} ${reason}`);
