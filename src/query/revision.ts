/**
 * Resolves the texts of `at`, `since`, `diff`, `from` and `to`: a revision number, or an RFC 3339 time. A revision that is
 * no longer kept or does not exist yet, and a time before the first revision, are faults that name the oldest or newest
 * revision.
 */

import { quote } from "../lib/error-text.ts";
import type { Steps } from "../lib/steps.ts";
import type { History, Resolved } from "../view/history.ts";
import type { NetworkState } from "../view/view.ts";
import { badParameter, QueryFault } from "./fault.ts";
import type { ParsedQuery } from "./query.ts";

/** The pattern is also in the OpenAPI document. */
export const REVISION_PATTERN = "\\d{1,15}";
const TIME_PATTERN = "\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?([Zz]|[+-]\\d\\d:\\d\\d)";
/** The pattern is also in the OpenAPI document, so it uses the syntax that all languages share. */
export const REVISION_OR_TIME_PATTERN = `(${REVISION_PATTERN}|${TIME_PATTERN})`;
const REVISION = new RegExp(`^${REVISION_PATTERN}$`);
const TIME = new RegExp(`^${TIME_PATTERN}$`);

export const MIN_REVISION = "min-revision";

/** `parameter` is `min-revision`, or the header `Gazetteer-Min-Revision`. */
export function parseMinRevision(text: string, parameter = MIN_REVISION): number | QueryFault {
  if (REVISION.test(text)) return Number(text);
  return badParameter(parameter, `is ${quote(text)}; it must be a revision, as Gazetteer-Revision has it.`);
}

/** The revisions that the parameters of a query name, resolved before anything is read. */
export interface NamedRevisions {
  readonly at: number | undefined;
  readonly since: number | undefined;
  readonly diff: { readonly from: number; readonly to: number } | undefined;
}

export const NONE_NAMED: NamedRevisions = { at: undefined, since: undefined, diff: undefined };

/**
 * Resolves the revisions. A fault with a `futureRevision` may be temporary: another node, or the writer, may have that
 * revision already. A cursor contains the revision of its pages, so `at` beside it is ignored; it may have expired
 * meanwhile.
 */
export function resolveRevisions(
  history: History,
  query: Pick<ParsedQuery, "at" | "cursor" | "since" | "diff">,
): NamedRevisions | QueryFault {
  const { since, diff } = query;
  const at = query.cursor === undefined ? query.at : undefined;
  if (at === undefined && since === undefined && diff === undefined) return NONE_NAMED;
  const resolvedAt = at === undefined ? undefined : resolveRevisionOrTime(history, "at", at);
  if (resolvedAt instanceof QueryFault) return resolvedAt;
  const resolvedSince = since === undefined ? undefined : resolveSince(history, since);
  if (resolvedSince instanceof QueryFault) return resolvedSince;
  const resolvedDiff = diff === undefined ? undefined : resolveDiff(history, diff);
  if (resolvedDiff instanceof QueryFault) return resolvedDiff;
  return { at: resolvedAt, since: resolvedSince, diff: resolvedDiff };
}

/** The fault of a query that needs at least this revision, if the view does not have it yet. */
export const notReached = (revision: number, newest: number, parameter = MIN_REVISION): QueryFault =>
  new QueryFault(
    "revision-not-reached",
    parameter,
    `This node has not reached revision ${revision} yet; its newest is ${newest}. Try again in a moment.`,
    revision,
  );

/** The state at a revision; the current one if `revision` is undefined. */
export function* stateAt(history: History, revision: number | undefined): Steps<NetworkState> {
  return revision === undefined ? history.view.capture() : yield* history.stateAt(revision);
}

/** Epoch milliseconds at which `revision`, which `at` names, was current. If `at` is a time, it is that time, at most `now`. */
export function timeOfMoment(history: History, revision: number, at: string, now: number): number {
  const started = history.timeOf(revision);
  if (REVISION.test(at)) return started;
  const time = parseTime("at", at);
  return time instanceof QueryFault ? started : Math.max(started, Math.min(time, now));
}

function resolveRevisionOrTime(history: History, parameter: string, text: string): number | QueryFault {
  if (REVISION.test(text)) return resolveRevision(history, Number(text), parameter);
  const time = parseTime(parameter, text, "a revision or a time");
  return time instanceof QueryFault ? time : revisionOf(history.resolveTime(time), parameter);
}

/** Resolves a revision after which all changes are kept. */
function resolveSince(history: History, text: string): number | QueryFault {
  if (REVISION.test(text)) return resolveRevision(history, Number(text), "since");
  const allowed = "it must be a revision: the Gazetteer-Revision of a list, or the revision of an event.";
  return badParameter("since", `is ${quote(text)}; ${allowed}`);
}

/** The reason why a stream begins with a snapshot although its client sent an event id. */
export type ResetReason = "other-log" | "expired" | "unknown-revision";

/** Parses `LOG.REVISION`, the id of an event. A plain number is a revision of this log. */
export function parseEventId(logId: string, id: string): number | ResetReason {
  const dot = id.lastIndexOf(".");
  if (dot >= 0 && id.slice(0, dot) !== logId) return "other-log";
  const revision = id.slice(dot + 1);
  return REVISION.test(revision) ? Number(revision) : "unknown-revision";
}

/** Both ends of `diff=A..B`; `A..` ends with the newest revision. */
function resolveDiff(history: History, text: string): { from: number; to: number } | QueryFault {
  const [fromText = "", toText, ...more] = text.split("..");
  if (fromText === "" || toText === undefined || more.length > 0) {
    const allowed = "it must be A..B (or A.. for until now), each a revision or an RFC 3339 time.";
    return badParameter("diff", `is ${quote(text)}; ${allowed}`);
  }
  const from = resolveRevisionOrTime(history, "diff", fromText);
  if (from instanceof QueryFault) return from;
  const to = toText === "" ? history.view.revision : resolveRevisionOrTime(history, "diff", toText);
  return to instanceof QueryFault ? to : { from, to };
}

/** Epoch milliseconds of an RFC 3339 time. */
export function parseTime(parameter: string, text: string, expected = "a time"): number | QueryFault {
  const time = TIME.test(text) ? Date.parse(text.toUpperCase().replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  // An unescaped + in a query string is decoded as a space.
  const plus = / \d\d:\d\d$/.test(text) ? " (a + in an address must be written %2B)" : "";
  return badParameter(
    parameter,
    `is ${quote(text)}; it must be ${expected} such as 2026-11-15T03:00:00Z${plus}.`,
  );
}

const resolveRevision = (history: History, revision: number, parameter: string): number | QueryFault =>
  revisionOf(history.resolve(revision), parameter, revision);

/** `named` is the revision in the parameter; undefined where the parameter is a time. */
function revisionOf(resolved: Resolved, parameter: string, named?: number): number | QueryFault {
  if (resolved.ok) return resolved.revision;
  const { fault } = resolved;
  if (fault.code === "revision-unknown") {
    const detail = `${parameter} names a revision after the newest, which is ${fault.newest}.`;
    return new QueryFault("revision-unknown", parameter, detail, named);
  }
  const oldestTime = new Date(fault.oldestTime).toISOString();
  return new QueryFault(
    "revision-expired",
    parameter,
    `${parameter} names a state before the oldest that is kept: revision ${fault.oldest}, ${oldestTime}. Begin there, or list again without ${parameter}.`,
  );
}
