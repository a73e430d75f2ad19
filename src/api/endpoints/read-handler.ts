/**
 * Produces the response to a request and its route: parses the query, negotiates the format, resolves the revisions that the
 * query names, and then renders the representation or opens the event stream, in steps. Throws a `ProblemDetails` if the
 * query is not valid.
 */
import type { Format } from "../../formats/formats.ts";
import { isBodySource } from "../../http1/body-source.ts";
import type { Clock } from "../../lib/clock.ts";
import { quote } from "../../lib/error-text.ts";
import { type MemoryAccount, type MemoryBudget, READ_BYTES } from "../../lib/memory-budget.ts";
import type { CancelSignal, Scheduler } from "../../lib/scheduler.ts";
import { isSteps, type ResultOrSteps, type Runnable, type Steps, stepsOf } from "../../lib/steps.ts";
import type { Log } from "../../log/log.ts";
import { badParameter, QueryFault } from "../../query/fault.ts";
import { createParameter, type QueryParameter } from "../../query/parameter.ts";
import { parseQuery } from "../../query/parse-query.ts";
import type { Problems } from "../../query/problems/problems.ts";
import type { ParsedQuery } from "../../query/query.ts";
import {
  type NamedRevisions,
  NONE_NAMED,
  notReached,
  parseEventId,
  parseMinRevision,
  type ResetReason,
  resolveRevisions,
} from "../../query/revision.ts";
import type { History } from "../../view/history.ts";
import type { View } from "../../view/view.ts";
import { INTERNAL_USER } from "../auth/authenticate.ts";
import type { ReadRequest } from "../exchange.ts";
import type { Dialect } from "../onos/dialect.ts";
import { CHUNK_BYTES, type ProducerScope } from "../response/body-producer.ts";
import type { BodyRenderer } from "../response/body-renderer.ts";
import { LOG_HEADER } from "../response/common-headers.ts";
import { ProblemDetails, problemOf, throwIfFault } from "../response/problem.ts";
import type { ReadResponse, Representation } from "../response/representation.ts";
import type { StreamStart } from "../stream/change-cursor.ts";
import type { SharedChunks } from "../stream/shared-chunks.ts";
import { resetRecord } from "../stream/sse.ts";
import type { SseHub } from "../stream/sse-hub.ts";
import type { Drawings } from "./drawings.ts";
import type { Variant } from "./endpoint.ts";
import type { ReadContext, ReadLimits, RequestContext } from "./read-context.ts";
import { awaitRevision, REVISION_WAIT_MS } from "./revision-wait.ts";
import type { Route } from "./routing.ts";

/*
 * Splits and percent-decodes the query string of a request target. src/query interprets the parameters. Text that cannot be
 * decoded is rejected, because guessing could turn a filter into another one.
 */

const MAX_PARAMETERS = 100;
const AMPERSAND = 0x26;

export function parseQueryString(text: string): QueryParameter[] {
  const parameters: QueryParameter[] = [];
  const isEncoded = text.includes("%") || text.includes("+");
  for (let start = 0; start < text.length; start++) {
    if (text.charCodeAt(start) === AMPERSAND) continue;
    const ampersand = text.indexOf("&", start);
    const end = ampersand < 0 ? text.length : ampersand;
    if (parameters.length === MAX_PARAMETERS) throw tooManyParameters(text);
    parameters.push(parseParameter(text.slice(start, end), isEncoded));
    start = end;
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

function parseParameter(text: string, isEncoded: boolean): QueryParameter {
  const equals = text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  const value = equals < 0 ? "" : text.slice(equals + 1);
  if (!isEncoded) return throwIfFault(createParameter(name, value));
  const decodedName = decode(name, text);
  return throwIfFault(createParameter(decodedName, decode(value, decodedName)));
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
  readonly memory: MemoryBudget;
  readonly limits: ReadLimits;
  /** Whether other nodes write to the log, so that a revision may exist that this node has not reached. */
  readonly isClustered: boolean;
  readonly clock: Clock;
}

/**
 * Runs reads on the scheduler, within the memory budget: refuses a read that exceeds the budget, counts the memory that its
 * response holds, and releases it whether the response is sent or not.
 */
export class ReadHandler {
  readonly #options: ReadHandlerOptions;

  constructor(options: ReadHandlerOptions) {
    const { context, streams } = options;
    this.#options = options;
    context.problems.onList(() => streams.wakeAll());
  }

  /** Runs a read. Most are complete within the call. Throws a `ProblemDetails` if the read is refused. */
  run(route: Route, request: ReadRequest, signal: CancelSignal): ReadResponse | Promise<ReadResponse> {
    const { context, memory: budget } = this.#options;
    const { user, owner } = request;
    if (user !== INTERNAL_USER && !budget.admits(user)) throw overBudget();
    const memory = budget.account(user);
    try {
      const read = new Read(this.#options, route, request, memory);
      const response = context.scheduler.run(owner, read, signal);
      return response instanceof Promise ? accountLater(response, memory) : account(response, memory);
    } catch (error) {
      memory.release();
      throw error;
    }
  }
}

async function accountLater(pending: Promise<ReadResponse>, memory: MemoryAccount): Promise<ReadResponse> {
  memory.open(READ_BYTES);
  try {
    return account(await pending, memory);
  } catch (error) {
    memory.release();
    throw error;
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
function account(response: ReadResponse, memory: MemoryAccount): ReadResponse {
  const { body, info } = response;
  if (!info) memory.open(READ_BYTES);
  else if (body !== null && typeof body === "object" && isBodySource(body)) {
    memory.open();
    if (!memory.reserve(CHUNK_BYTES) && memory.user !== INTERNAL_USER) {
      body.close();
      throw overBudget();
    }
  } else memory.release();
  return response;
}

/**
 * One read on the scheduler. The look-up of an entity is complete in the first step, because a generator would cost more
 * than the look-up. Any other read continues in steps of its own.
 */
class Read implements Runnable<ReadResponse>, RequestContext, ProducerScope {
  readonly memory: MemoryAccount;
  revisions = NONE_NAMED;
  readonly #options: ReadHandlerOptions;
  readonly #route: Route;
  readonly #request: ReadRequest;
  #steps: Runnable<ReadResponse> | undefined;

  constructor(options: ReadHandlerOptions, route: Route, request: ReadRequest, memory: MemoryAccount) {
    this.#options = options;
    this.#route = route;
    this.#request = request;
    this.memory = memory;
  }

  /* The context of the request, and the scope of its body. A context of its own would take longer than the look-up of an entity. */

  get view(): View {
    return this.#options.context.view;
  }

  get history(): History {
    return this.#options.context.history;
  }

  get log(): Log {
    return this.#options.context.log;
  }

  get scheduler(): Scheduler {
    return this.#options.context.scheduler;
  }

  get problems(): Problems {
    return this.#options.context.problems;
  }

  get drawings(): Drawings {
    return this.#options.context.drawings;
  }

  get limits(): ReadLimits {
    return this.#options.limits;
  }

  get chunks(): SharedChunks {
    return this.#options.streams.chunks;
  }

  get dialect(): Dialect {
    return this.#request.dialect;
  }

  get owner(): string {
    return this.#request.owner;
  }

  *awaitRevision(revision: number): Steps<boolean> {
    const { isClustered, clock } = this.#options;
    if (isClustered) yield* this.#waitFor(revision, clock.monotonic() + REVISION_WAIT_MS);
    return isClustered;
  }

  next(): IteratorResult<undefined | Promise<unknown>, ReadResponse> {
    if (this.#steps) return this.#steps.next();
    const response = this.#begin();
    if (!isSteps(response)) return { done: true, value: response };
    this.#steps = this.memory.paced(response);
    return this.#steps.next();
  }

  return(): void {
    this.#steps?.return();
  }

  /** Parses the query and reads. A read that names a future revision waits for it for a short time. */
  #begin(): ResultOrSteps<ReadResponse> {
    const { limits } = this.#options;
    const { dialect, queryText, accept } = this.#request;
    const { endpoint } = this.#route.endpoint;
    const parameters = dialect.parameters(parseQueryString(queryText), endpoint.parameters);
    const pageLimit = endpoint.maxLimit?.(limits) ?? limits.pageLimit;
    const { acceptsNames } = dialect;
    const query = throwIfFault(parseQuery(parameters, endpoint.parameters, { pageLimit, acceptsNames }));
    const { variant, negotiator } = this.#route.endpoint.variantOf(query);
    const format = negotiator.negotiate(query.format, accept);
    if (format.stream) rejectUnstreamableParameters(query);
    const revisions = this.#resolve(query, format);
    return revisions instanceof QueryFault
      ? this.#readWhenReached(variant, query, format, revisions)
      : this.#readNow(variant, query, format, revisions);
  }

  /** Returns the fault of a revision that the view may still reach, and throws any other. */
  #resolve(query: ParsedQuery, format: Format): NamedRevisions | QueryFault {
    const { history, view } = this.#options.context;
    const needed = neededRevision(query, this.#request);
    if (needed > view.revision) return notReached(needed, view.revision);
    // A browser reconnects with the URL it started with and its position in the header, so the header takes precedence.
    const named = format.stream && this.#request.lastEventId ? NOTHING_NAMED : query;
    const revisions = resolveRevisions(history, named);
    // A single node has every revision that exists.
    const mayCome = revisions instanceof QueryFault && revisions.futureRevision !== undefined;
    if (revisions instanceof QueryFault && !(this.#options.isClustered && mayCome))
      throw problemOf(revisions);
    return revisions;
  }

  *#readWhenReached(
    variant: Variant<unknown>,
    query: ParsedQuery,
    format: Format,
    fault: QueryFault,
  ): Steps<ReadResponse> {
    const deadline = this.#options.clock.monotonic() + REVISION_WAIT_MS;
    let revisions: NamedRevisions | QueryFault = fault;
    while (revisions instanceof QueryFault) {
      yield* this.#waitFor(revisions.futureRevision ?? 0, deadline);
      revisions = this.#resolve(query, format);
    }
    return yield* stepsOf(this.#readNow(variant, query, format, revisions));
  }

  #readNow(
    variant: Variant<unknown>,
    query: ParsedQuery,
    format: Format,
    revisions: NamedRevisions,
  ): ResultOrSteps<ReadResponse> {
    this.revisions = revisions;
    if (format.stream) return this.#openStream(variant, query, format);
    const representation = variant.read(this, this.#route.params, query, format, this.#request);
    return isSteps(representation) ? this.#respondInSteps(representation) : this.#respond(representation);
  }

  #respond(representation: Representation): ResultOrSteps<ReadResponse> {
    return this.#options.renderer.respond(representation, this.#request, this);
  }

  *#respondInSteps(representation: Steps<Representation>): Steps<ReadResponse> {
    return yield* stepsOf(this.#respond(yield* representation));
  }

  /** Waits for a revision. Throws a `ProblemDetails` if the view does not reach it before `deadline`. */
  *#waitFor(revision: number, deadline: number): Steps<void> {
    const { context, clock } = this.#options;
    if (yield* awaitRevision(context.history, revision, clock, deadline)) return;
    throw problemOf(notReached(revision, context.view.revision));
  }

  *#openStream(variant: Variant<unknown>, query: ParsedQuery, format: Format): Steps<ReadResponse> {
    const { method, user, owner, lastEventId } = this.#request;
    const { streams } = this.#options;
    const { memory, revisions } = this;
    const start: StreamStart = lastEventId
      ? yield* this.#resolveEventId(this.history, lastEventId)
      : revisions.since;
    const since = typeof start === "number" ? start : undefined;
    const headers = {
      "Content-Type": format.contentType,
      "Cache-Control": "private, no-cache",
      Vary: "Accept",
      "Gazetteer-Revision": String(since ?? this.view.revision),
      [LOG_HEADER]: this.log.id,
      // This header keeps a proxy from buffering, which would delay events.
      "X-Accel-Buffering": "no",
    };
    if (method === "HEAD" || since !== undefined) memory.release();
    if (method === "HEAD") return { status: 200, headers, body: null };
    streams.requireRoom(user);
    if (!variant.stream) throw new Error("a variant with a stream format has no stream");
    const streamed = user === INTERNAL_USER ? { ...query, includesMissing: true } : query;
    const cursor = yield* variant.stream(this, this.#route.params, streamed, start);
    headers["Gazetteer-Revision"] = String(cursor.revision);
    const firstRecord = typeof start === "string" ? resetRecord(start, cursor.revision) : "";
    const body = streams.openStream({ user, owner, cursor, firstRecord, memory });
    return { status: 200, headers, body };
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

/** The minimum revision that the view must have: the higher one of the parameter and the header. */
function neededRevision({ minRevision = 0 }: ParsedQuery, { minRevision: header }: ReadRequest): number {
  if (header === null) return minRevision;
  return Math.max(minRevision, throwIfFault(parseMinRevision(header, "Gazetteer-Min-Revision")));
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
