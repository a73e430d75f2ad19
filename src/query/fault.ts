/**
 * The faults of a query. Faults are values: functions of this folder return `T | QueryFault`, and callers check with
 * `instanceof`. A fault does not depend on HTTP; src/api turns it into a problem with a status. It is not an Error, because
 * a stack trace costs more than parsing the query.
 */
import { quote } from "../lib/error-text.ts";
import type { AmbiguousName } from "../view/device-lookup.ts";

/** A subset of the codes in docs/errors.md. */
export type QueryFaultCode =
  | "ambiguous-name"
  | "bad-parameter"
  | "bad-cursor"
  | "cursor-expired"
  | "revision-unknown"
  | "revision-not-reached"
  | "revision-expired";

export class QueryFault {
  readonly code: QueryFaultCode;
  /** The parameter at fault, or the request header that replaces it (`Gazetteer-Min-Revision`). */
  readonly parameter: string;
  /** The message for the client: what is wrong and what is allowed. */
  readonly detail: string;
  /** The requested revision, where it is later than the newest one: another node may have it. */
  readonly futureRevision: number | undefined;

  constructor(code: QueryFaultCode, parameter: string, detail: string, futureRevision?: number) {
    this.futureRevision = futureRevision;
    this.code = code;
    this.parameter = parameter;
    this.detail = detail;
  }
}

/** The fault of a query that names a device by a name that several devices have. */
export class AmbiguousNameFault extends QueryFault {
  /** The ids of some of these devices. */
  readonly candidates: readonly string[];

  constructor({ name, candidates, count }: AmbiguousName) {
    const more = count > candidates.length ? ` and ${count - candidates.length} more` : "";
    super(
      "ambiguous-name",
      "",
      `${count} devices are called ${quote(name)}: ${candidates.map(quote).join(", ")}${more}; give the id of one of them.`,
    );
    this.candidates = candidates;
  }
}

/** `reason` continues the sentence `The parameter "x" …`. */
export const badParameter = (parameter: string, reason: string): QueryFault =>
  new QueryFault("bad-parameter", parameter, `The parameter ${quote(parameter)} ${reason}`);
