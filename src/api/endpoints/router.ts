/**
 * From a route and a query to the resource that is read: parses the query, negotiates the format, and renders the
 * representation or opens the event stream, in steps. Throws a `Problem` for a query that is not valid.
 */
import { DOCUMENT_FORMATS, type DocumentParameter, type Format } from "../../formats/formats.ts";
import { IterableBodySource } from "../../http1/body-source.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { MemoryAccount } from "../../lib/memory-budget.ts";
import { isSteps, type ResultOrSteps, type Steps, stepsOf } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { badParameter } from "../../query/fault.ts";
import { parseQuery } from "../../query/parse-query.ts";
import type { Query } from "../../query/query.ts";
import { parseEventId, parseMinRevision, type ResetReason, resolveSince } from "../../query/revision.ts";
import { MAX_HITS } from "../../query/search.ts";
import type { History } from "../../view/history.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import type { ServerLimits } from "../limits/server-limits.ts";
import type { ReadRequest } from "../read-request.ts";
import type { ProducerScope } from "../response/body-producer.ts";
import { type BodyRenderer, conditionalResponse, type PreparedResponse } from "../response/body-renderer.ts";
import { LOG_HEADER } from "../response/common-headers.ts";
import type { Problem } from "../response/problem.ts";
import { problemOf, throwIfFault } from "../response/query-problem.ts";
import type { Representation } from "../response/representation.ts";
import { type ChangeCursor, createChangeCursor, type StreamStart } from "../stream/change-cursor.ts";
import { createProblemsCursor } from "../stream/problems-position.ts";
import { resetRecord } from "../stream/sse.ts";
import type { SseHub } from "../stream/sse-hub.ts";
import { changesRepresentation, diffRepresentation } from "./changes.ts";
import { countsRepresentation } from "./counts.ts";
import { explanationRepresentation } from "./explanation.ts";
import { incidentRepresentation } from "./incident.ts";
import { itemRepresentation } from "./item.ts";
import { listRepresentation } from "./list.ts";
import {
  ITEM_NEGOTIATOR,
  negotiateEntity,
  negotiateFormat,
  negotiatePaths,
  PROBLEMS_NEGOTIATOR,
  SEARCH_NEGOTIATOR,
} from "./negotiate.ts";
import { PARAMETER_SETS, type ReadTarget } from "./parameter-sets.ts";
import { pathExplanationRepresentation } from "./path-explanation.ts";
import { pathsRepresentation } from "./paths.ts";
import { problemsRepresentation } from "./problems.ts";
import { parseQueryString } from "./query-string.ts";
import type { ReadContext, RequestContext } from "./read-context.ts";
import { awaitRevision, FutureRevisionProblem, notReached, REVISION_WAIT_MS } from "./revision-wait.ts";
import type { Route } from "./route.ts";
import { searchRepresentation } from "./search.ts";
import { timelineRepresentation } from "./timeline.ts";
import { topologyRepresentation } from "./topology.ts";

export interface RouterOptions {
  readonly context: ReadContext;
  readonly streams: SseHub;
  readonly renderer: BodyRenderer;
  readonly limits: Pick<ServerLimits, "pageLimit" | "paths">;
  /** Whether other nodes write to the log: then a revision that is not here may exist. */
  readonly isClustered: boolean;
  readonly clock: Clock;
}

export interface ReadOutcome {
  /** Undefined for an event stream, which no other client can share. */
  readonly prepared: PreparedResponse | undefined;
  readonly response: Response;
}

type CollectionRoute = Extract<Route, { read: "list" | "topology" }>;

export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    const { context, streams } = options;
    this.#options = options;
    context.problems.onList(() => streams.wakeAll());
  }

  /**
   * `memory` is the account of the response. A look-up is complete within the call, because steps would cost it more than
   * it does. A read that names a revision to come waits for it, for a short time.
   */
  read(route: Route, request: ReadRequest, memory: MemoryAccount): ResultOrSteps<ReadOutcome> {
    try {
      const outcome = this.#readNow(route, request, memory);
      return isSteps(outcome) ? this.#complete(outcome, route, request, memory) : outcome;
    } catch (error) {
      if (!this.#mayCome(error)) throw error;
      return this.#complete(error, route, request, memory);
    }
  }

  /** Completes a read that has begun. Begins it again when the revision has come that it needs. */
  *#complete(
    first: Steps<ReadOutcome> | FutureRevisionProblem,
    route: Route,
    request: ReadRequest,
    memory: MemoryAccount,
  ): Steps<ReadOutcome> {
    const { context, clock } = this.#options;
    let deadline: number | undefined;
    let begun: ResultOrSteps<ReadOutcome> | FutureRevisionProblem | undefined = first;
    for (;;) {
      try {
        begun ??= this.#readNow(route, request, memory);
        if (begun instanceof FutureRevisionProblem) throw begun;
        return isSteps(begun) ? yield* begun : begun;
      } catch (error) {
        if (!this.#mayCome(error)) throw error;
        begun = undefined;
        const { revision } = error;
        deadline ??= clock.monotonic() + REVISION_WAIT_MS;
        if (!(yield* awaitRevision(context.history, revision, clock, deadline)))
          throw notReached(revision, context.view.revision);
      }
    }
  }

  /** A single node has every revision that exists. With `min-revision` it waits too: a reader process may be behind. */
  #mayCome(error: unknown): error is FutureRevisionProblem {
    if (!(error instanceof FutureRevisionProblem)) return false;
    return this.#options.isClustered || error.code === "revision-not-reached";
  }

  #readNow(route: Route, request: ReadRequest, memory: MemoryAccount): ResultOrSteps<ReadOutcome> {
    const { limits } = this.#options;
    const { dialect } = request;
    const { view, history, log, scheduler, problems, drawings } = this.#options.context;
    // Field by field: a spread takes longer than the look-up of an entity.
    const context: RequestContext = { view, history, log, scheduler, drawings, problems, dialect, memory };
    const set = PARAMETER_SETS[readTargetOf(route)];
    const parameters = dialect.parameters(parseQueryString(request.queryText), set);
    const pageLimit = maxLimitOf(route, limits);
    const { acceptsNames } = dialect;
    const query = throwIfFault(parseQuery(parameters, set, { pageLimit, acceptsNames }));
    requireRevision(context, query, request);
    if (route.read === "item" && !query.explain) {
      negotiateEntity(query, request.accept);
      return this.#respondWith(itemRepresentation(context, route, query), request, memory);
    }
    if (route.read !== "list") return this.#readInSteps(context, route, query, request);
    const { kind } = route;
    const parameter = documentParameterOf(query);
    const format = negotiateFormat(kind, parameter, query.format, request.accept);
    if (parameter || format.stream)
      return this.#readCollection(context, route, query, request, parameter, format);
    return this.#respondWith(
      listRepresentation(context, kind, query, format, request.target),
      request,
      memory,
    );
  }

  *#readInSteps(
    context: RequestContext,
    route: Exclude<Route, { read: "list" }>,
    query: Query,
    request: ReadRequest,
  ): Steps<ReadOutcome> {
    const { limits } = this.#options;
    const { memory } = context;
    if (route.read === "problems") return yield* this.#readProblems(context, query, request, memory);
    if (route.read === "search") {
      SEARCH_NEGOTIATOR.negotiate(query.format, request.accept);
      return yield* this.#respond(yield* searchRepresentation(context, query), request, memory);
    }
    if (route.read !== "topology") {
      if (route.read === "item") negotiateEntity(query, request.accept);
      else if (route.read === "paths") negotiatePaths(query, request.accept);
      else ITEM_NEGOTIATOR.negotiate(query.format, request.accept);
      const item =
        route.read === "paths"
          ? query.explain
            ? yield* pathExplanationRepresentation(context, route, query)
            : yield* pathsRepresentation(context, route, query, limits.paths, request.target)
          : route.read === "item" && query.explain
            ? yield* explanationRepresentation(context, route, query)
            : yield* stepsOf(itemRepresentation(context, route, query));
      return yield* this.#respond(item, request, memory);
    }
    const parameter = documentParameterOf(query);
    const format = negotiateFormat("topology", parameter, query.format, request.accept);
    return yield* this.#readCollection(context, route, query, request, parameter, format);
  }

  /** A stream, a document in place of a collection, or the topology. */
  *#readCollection(
    context: RequestContext,
    route: CollectionRoute,
    query: Query,
    request: ReadRequest,
    parameter: DocumentParameter | undefined,
    format: Format,
  ): Steps<ReadOutcome> {
    const kind = kindOf(route);
    if (format.stream) {
      const streamed = request.user === INTERNAL_USER ? { ...query, includesMissing: true } : query;
      const { chunks } = this.#options.streams;
      return yield* this.#openStream(context, query, format, request, (start) =>
        createChangeCursor(context, kind, streamed, start, chunks),
      );
    }
    const representation = yield* parameter
      ? documentRepresentation(context, kind, query, parameter, format)
      : topologyRepresentation(context, query, format, request.owner);
    return yield* this.#respond(representation, request, context.memory);
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

  *#readProblems(
    context: RequestContext,
    query: Query,
    request: ReadRequest,
    memory: MemoryAccount,
  ): Steps<ReadOutcome> {
    const format = PROBLEMS_NEGOTIATOR.negotiate(query.format, request.accept);
    if (!format.stream)
      return yield* this.#respond(
        yield* problemsRepresentation(context, query, format, request.target),
        request,
        memory,
      );
    const { chunks } = this.#options.streams;
    return yield* this.#openStream(context, query, format, request, (start) =>
      createProblemsCursor(context, query, start, chunks),
    );
  }

  *#openStream(
    context: RequestContext,
    query: Query,
    format: Format,
    request: ReadRequest,
    createCursor: (start: StreamStart) => Steps<ChangeCursor>,
  ): Steps<ReadOutcome> {
    rejectUnstreamableParameters(query);
    // A browser reconnects with the URL it started with. Its position is in the header, which therefore wins.
    const start = request.lastEventId
      ? yield* this.#resolveEventId(context.history, request.lastEventId)
      : resolveSinceOrThrow(context.history, query);
    const since = typeof start === "number" ? start : undefined;
    const headers = {
      "Content-Type": format.contentType,
      "Cache-Control": "private, no-cache",
      Vary: "Accept",
      "Gazetteer-Revision": String(since ?? context.view.revision),
      [LOG_HEADER]: context.log.id,
      // A proxy that buffers would delay events.
      "X-Accel-Buffering": "no",
    };
    // A body source, although it is never read: the length must be unknown, as it is for GET.
    const { memory } = context;
    if (request.method === "HEAD" || since !== undefined) memory.release();
    if (request.method === "HEAD")
      return {
        prepared: undefined,
        response: { status: 200, headers, body: new IterableBodySource([]) },
      };
    const { streams } = this.#options;
    const { user, owner } = request;
    streams.requireRoom(user);
    const cursor = yield* createCursor(start);
    headers["Gazetteer-Revision"] = String(cursor.revision);
    const firstRecord = typeof start === "string" ? resetRecord(start, cursor.revision) : "";
    const body = streams.openStream({ user, owner, cursor, firstRecord, memory });
    return { prepared: undefined, response: { status: 200, headers, body } };
  }

  /**
   * The revision that a client has, or why its stream begins again: a browser would give up for good if it got an error.
   * On a node of a cluster a revision to come is waited for.
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

const resolveSinceOrThrow = (history: History, { since }: Query): number | undefined =>
  since === undefined ? undefined : throwIfFault(resolveSince(history, since));

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

/** Throws when the view does not have the revision that the request needs at least. */
function requireRevision({ view }: RequestContext, { minRevision = 0 }: Query, request: ReadRequest): void {
  const header = request.minRevision;
  const needed =
    header === null
      ? minRevision
      : Math.max(minRevision, throwIfFault(parseMinRevision(header, "Gazetteer-Min-Revision")));
  if (needed > view.revision) throw notReached(needed, view.revision);
}

function maxLimitOf({ read }: Route, { paths, pageLimit }: RouterOptions["limits"]): number {
  if (read === "search") return MAX_HITS;
  return read === "paths" ? paths : pageLimit;
}

function readTargetOf(route: Route): ReadTarget {
  if (route.read === "list") return route.kind;
  if (route.read === "item") return "entity";
  const { read } = route;
  return read === "topology" || read === "paths" || read === "search" || read === "problems" ? read : "item";
}

const kindOf = (route: CollectionRoute): Kind | undefined => (route.read === "list" ? route.kind : undefined);

/** The parameter that selects a document in place of the resource. A query has at most one of them. */
function documentParameterOf(query: Query): DocumentParameter | undefined {
  for (const { parameter } of DOCUMENT_FORMATS) if (query[parameter] !== undefined) return parameter;
  return undefined;
}

function* documentRepresentation(
  context: RequestContext,
  kind: Kind | undefined,
  query: Query,
  parameter: DocumentParameter,
  { contentType }: Format,
): Steps<Representation> {
  switch (parameter) {
    case "since":
      return yield* changesRepresentation(context, kind, query, contentType);
    case "diff":
      return yield* diffRepresentation(context, kind, query, contentType);
    case "timeline":
      return timelineRepresentation(context, query, contentType);
    case "incident":
      return yield* incidentRepresentation(context, query, query.incident ?? "previous", contentType);
    case "count":
      return yield* countsRepresentation(context, query, contentType);
  }
}

const UNSTREAMABLE_PARAMETERS = ["at", "limit", "cursor", "fields"] as const;

function rejectUnstreamableParameters(query: Query): void {
  for (const name of UNSTREAMABLE_PARAMETERS) if (query[name] !== undefined) throw notOnStream(name);
  if (query.sort.length > 0)
    throw problemOf(badParameter("sort", "cannot be used on a stream: changes come in order of revision."));
  if (query.fold) throw notOnStream("fold");
}

const notOnStream = (parameter: string): Problem =>
  problemOf(badParameter(parameter, "cannot be used on a stream; leave it out, or request JSON."));
