/**
 * Produces the response to a request and its route: parses the query, negotiates the format, resolves the revisions that the
 * query names, and then renders the representation or opens the event stream, in steps. Throws a `ProblemDetails` if the
 * query is not valid.
 */
import type { Format } from "../../formats/formats.ts";
import { IterableBodySource } from "../../http1/body-source.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import { quote } from "../../lib/error-text.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import { isSteps, type ResultOrSteps, type Steps, stepsOf } from "../../lib/steps.ts";
import { badParameter, QueryFault } from "../../query/fault.ts";
import { createParameter, type QueryParameter } from "../../query/parameter.ts";
import { parseQuery } from "../../query/parse-query.ts";
import type { ParsedQuery } from "../../query/query.ts";
import {
  type NamedRevisions,
  notReached,
  parseEventId,
  parseMinRevision,
  type ResetReason,
  resolveRevisions,
} from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import type { ReadRequest } from "../exchange.ts";
import type { ProducerScope } from "../response/body-producer.ts";
import { type BodyRenderer, conditionalResponse, type PreparedResponse } from "../response/body-renderer.ts";
import { LOG_HEADER } from "../response/common-headers.ts";
import { ProblemDetails, problemOf, throwIfFault } from "../response/problem.ts";
import type { Representation } from "../response/representation.ts";
import type { StreamStart } from "../stream/change-cursor.ts";
import { resetRecord } from "../stream/sse.ts";
import type { SseHub } from "../stream/sse-hub.ts";
import type { Variant } from "./endpoint.ts";
import type { ReadContext, ReadLimits, RequestContext } from "./read-context.ts";
import { awaitRevision, REVISION_WAIT_MS } from "./revision-wait.ts";
import type { Route } from "./routing.ts";

/*
 * Splits and percent-decodes the query string of a request target. src/query interprets the parameters. Text that cannot be
 * decoded is rejected, because guessing could turn a filter into another one.
 */

const MAX_PARAMETERS = 100;

export function parseQueryString(text: string): QueryParameter[] {
  const parameters: QueryParameter[] = [];
  for (let start = 0; start < text.length; ) {
    const ampersand = text.indexOf("&", start);
    const end = ampersand < 0 ? text.length : ampersand;
    if (end > start) {
      if (parameters.length === MAX_PARAMETERS) throw tooManyParameters(text);
      parameters.push(parseParameter(text.slice(start, end)));
    }
    start = end + 1;
  }
  return parameters;
}

function tooManyParameters(text: string): ProblemDetails {
  const count = text.split("&").filter((part) => part !== "").length;
  return new ProblemDetails(
    "bad-parameter",
    `There are ${count} query parameters; at most ${MAX_PARAMETERS} may be given.`,
  );
}

function parseParameter(text: string): QueryParameter {
  const equals = text.indexOf("=");
  const name = decode(equals < 0 ? text : text.slice(0, equals), text);
  const value = equals < 0 ? "" : decode(text.slice(equals + 1), name);
  return throwIfFault(createParameter(name, value));
}

function decode(text: string, parameter: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new ProblemDetails(
      "bad-parameter",
      `The parameter ${quote(parameter)} is not percent-encoded UTF-8.`,
    );
  }
}

export interface ReadHandlerOptions {
  readonly context: ReadContext;
  readonly streams: SseHub;
  readonly renderer: BodyRenderer;
  readonly limits: ReadLimits;
  /** Whether other nodes write to the log, so that a revision may exist that this node has not reached. */
  readonly isClustered: boolean;
  readonly clock: Clock;
}

export interface ReadOutcome {
  /** The prepared response; undefined for an event stream or a forwarded response, which are not cached. */
  readonly prepared: PreparedResponse | undefined;
  readonly response: Response;
}

/** A request whose query is parsed and whose format is chosen. */
interface ParsedRead {
  readonly route: Route;
  readonly request: ReadRequest;
  readonly query: ParsedQuery;
  readonly variant: Variant<unknown>;
  readonly format: Format;
  readonly memory: MemoryAccount;
}

export class ReadHandler {
  readonly #options: ReadHandlerOptions;

  constructor(options: ReadHandlerOptions) {
    const { context, streams } = options;
    this.#options = options;
    context.problems.onList(() => streams.wakeAll());
  }

  /**
   * Reads. `memory` is the account of the response. The look-up of an entity is complete within the call, because steps would
   * cost more than the look-up. A read that names a future revision waits for it for a short time.
   */
  read(route: Route, request: ReadRequest, memory: MemoryAccount): ResultOrSteps<ReadOutcome> {
    const { limits } = this.#options;
    const { dialect } = request;
    const { endpoint } = route.endpoint;
    const parameters = dialect.parameters(parseQueryString(request.queryText), endpoint.parameters);
    const pageLimit = endpoint.maxLimit?.(limits) ?? limits.pageLimit;
    const { acceptsNames } = dialect;
    const query = throwIfFault(parseQuery(parameters, endpoint.parameters, { pageLimit, acceptsNames }));
    const { variant, negotiator } = route.endpoint.variantOf(query);
    const format = negotiator.negotiate(query.format, request.accept);
    if (format.stream) rejectUnstreamableParameters(query);
    const read: ParsedRead = { route, request, query, variant, format, memory };
    const revisions = this.#resolve(read);
    return revisions instanceof QueryFault
      ? this.#readWhenReached(read, revisions)
      : this.#readNow(read, revisions);
  }

  /** Returns the fault of a revision that the view may still reach, and throws any other. */
  #resolve({ query, request, format }: ParsedRead): NamedRevisions | QueryFault {
    const { history, view } = this.#options.context;
    const needed = neededRevision(query, request);
    if (needed > view.revision) return notReached(needed, view.revision);
    // A browser reconnects with the URL it started with and its position in the header, so the header takes precedence.
    const named = format.stream && request.lastEventId ? NOTHING_NAMED : query;
    const revisions = resolveRevisions(history, named);
    if (revisions instanceof QueryFault && !this.#mayCome(revisions)) throw problemOf(revisions);
    return revisions;
  }

  /** Whether the view may still reach the revision. A single node has every revision that exists. */
  #mayCome({ futureRevision }: QueryFault): boolean {
    return this.#options.isClustered && futureRevision !== undefined;
  }

  *#readWhenReached(read: ParsedRead, fault: QueryFault): Steps<ReadOutcome> {
    const { context, clock } = this.#options;
    const deadline = clock.monotonic() + REVISION_WAIT_MS;
    let revisions: NamedRevisions | QueryFault = fault;
    while (revisions instanceof QueryFault) {
      const { futureRevision = 0 } = revisions;
      if (!(yield* awaitRevision(context.history, futureRevision, clock, deadline)))
        throw problemOf(notReached(futureRevision, context.view.revision));
      revisions = this.#resolve(read);
    }
    return yield* stepsOf(this.#readNow(read, revisions));
  }

  #readNow(read: ParsedRead, revisions: NamedRevisions): ResultOrSteps<ReadOutcome> {
    const { route, request, query, variant, format, memory } = read;
    const { limits, streams } = this.#options;
    const { dialect } = request;
    const { view, history, log, scheduler, problems, drawings } = this.#options.context;
    // The fields are listed, because a spread takes longer than the look-up of an entity.
    const context: RequestContext = {
      view,
      history,
      log,
      scheduler,
      problems,
      drawings,
      dialect,
      memory,
      limits,
      revisions,
      awaitRevision: this.#awaitRevision,
      chunks: streams.chunks,
    };
    if (format.stream) return this.#openStream(context, read);
    return this.#respondWith(variant.read(context, route.params, query, format, request), request, memory);
  }

  readonly #awaitRevision = (revision: number): Steps<boolean> => this.#waitFor(revision);

  *#waitFor(revision: number): Steps<boolean> {
    const { context, isClustered, clock } = this.#options;
    if (!isClustered) return false;
    if (yield* awaitRevision(context.history, revision, clock, clock.monotonic() + REVISION_WAIT_MS))
      return true;
    throw problemOf(notReached(revision, context.view.revision));
  }

  #respondWith(
    representation: ResultOrSteps<Representation>,
    request: ReadRequest,
    memory: MemoryAccount,
  ): ResultOrSteps<ReadOutcome> {
    if (isSteps(representation)) return this.#respond(representation, request, memory);
    const { renderer, context } = this.#options;
    const prepared = renderer.prepare(representation, request.acceptEncoding);
    const scope = { scheduler: context.scheduler, owner: request.owner, memory };
    if (isSteps(prepared)) return prepareAndRespond(prepared, request, scope);
    const response = conditionalResponse(prepared, request.ifNoneMatch, scope);
    return isSteps(response) ? completeResponse(prepared, response) : { prepared, response };
  }

  *#respond(
    representation: ResultOrSteps<Representation>,
    request: ReadRequest,
    memory: MemoryAccount,
  ): Steps<ReadOutcome> {
    const ready = yield* stepsOf(representation);
    return yield* stepsOf(this.#respondWith(ready, request, memory));
  }

  *#openStream(context: RequestContext, read: ParsedRead): Steps<ReadOutcome> {
    const { route, request, query, variant, format } = read;
    const { memory, revisions } = context;
    const start: StreamStart = request.lastEventId
      ? yield* this.#resolveEventId(context.history, request.lastEventId)
      : revisions.since;
    const since = typeof start === "number" ? start : undefined;
    const headers = {
      "Content-Type": format.contentType,
      "Cache-Control": "private, no-cache",
      Vary: "Accept",
      "Gazetteer-Revision": String(since ?? context.view.revision),
      [LOG_HEADER]: context.log.id,
      // This header keeps a proxy from buffering, which would delay events.
      "X-Accel-Buffering": "no",
    };
    // HEAD gets a body source that is never read, because the length must be unknown as it is for GET.
    if (request.method === "HEAD" || since !== undefined) memory.release();
    if (request.method === "HEAD")
      return {
        prepared: undefined,
        response: { status: 200, headers, body: new IterableBodySource([]) },
      };
    const { streams } = this.#options;
    const { user, owner } = request;
    streams.requireRoom(user);
    const streamed = user === INTERNAL_USER ? { ...query, includesMissing: true } : query;
    const cursor = yield* openCursor(variant, context, route.params, streamed, start);
    headers["Gazetteer-Revision"] = String(cursor.revision);
    const firstRecord = typeof start === "string" ? resetRecord(start, cursor.revision) : "";
    const body = streams.openStream({ user, owner, cursor, firstRecord, memory });
    return { prepared: undefined, response: { status: 200, headers, body } };
  }

  /**
   * The revision that a client has, or the reason why its stream begins again. It is not an error, because a browser would not
   * reconnect after one. On a node of a cluster it waits for a future revision.
   */
  *#resolveEventId(history: History, id: string): Steps<number | ResetReason> {
    const { isClustered, clock } = this.#options;
    const revision = parseEventId(history.log.id, id);
    if (typeof revision === "string") return revision;
    let resolved = history.resolve(revision);
    if (isClustered && !resolved.ok && resolved.fault.code === "revision-unknown") {
      yield* awaitRevision(history, revision, clock, clock.monotonic() + REVISION_WAIT_MS);
      resolved = history.resolve(revision);
    }
    if (resolved.ok) return revision;
    return resolved.fault.code === "revision-expired" ? "expired" : "unknown-revision";
  }
}

function* prepareAndRespond(
  preparing: Steps<PreparedResponse>,
  { ifNoneMatch }: ReadRequest,
  scope: ProducerScope,
): Steps<ReadOutcome> {
  const prepared = yield* preparing;
  return yield* completeResponse(prepared, conditionalResponse(prepared, ifNoneMatch, scope));
}

function* completeResponse(
  prepared: PreparedResponse,
  response: ResultOrSteps<Response>,
): Steps<ReadOutcome> {
  return { prepared, response: yield* stepsOf(response) };
}

/** The minimum revision that the view must have: the higher one of the parameter and the header. */
function neededRevision({ minRevision = 0 }: ParsedQuery, { minRevision: header }: ReadRequest): number {
  if (header === null) return minRevision;
  return Math.max(minRevision, throwIfFault(parseMinRevision(header, "Gazetteer-Min-Revision")));
}

function openCursor(
  { stream }: Variant<unknown>,
  context: RequestContext,
  params: unknown,
  query: ParsedQuery,
  start: StreamStart,
) {
  if (!stream) throw new Error("a variant with a stream format has no stream");
  return stream(context, params, query, start);
}

const NOTHING_NAMED = { at: undefined, cursor: undefined, since: undefined, diff: undefined };

const UNSTREAMABLE_PARAMETERS = ["at", "limit", "cursor", "fields"] as const;

function rejectUnstreamableParameters(query: ParsedQuery): void {
  for (const name of UNSTREAMABLE_PARAMETERS) if (query[name] !== undefined) throw notOnStream(name);
  if (query.sort.length > 0)
    throw problemOf(badParameter("sort", "cannot be used on a stream: changes come in order of revision."));
  if (query.fold) throw notOnStream("fold");
}

const notOnStream = (parameter: string): ProblemDetails =>
  problemOf(badParameter(parameter, "cannot be used on a stream; leave it out, or request JSON."));
