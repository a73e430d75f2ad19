/**
 * Handles every request of the service, in this order:
 *
 * 1. A request that repeats the previous one on its connection, or whose credential is cached, gets its response from
 *    the response cache, if that has one.
 * 2. OPTIONS and the health endpoints are served without credentials. Those of OPTIONS and `/healthz` are not even looked
 *    up: nothing of the response may depend on a credential that does not count as a failed login when it is wrong.
 * 3. Every other request is authenticated before anything else of it is looked at. Then follow the limits, the route,
 *    the method and the query. From there on every response names the log, a problem too: a client that waits for a
 *    revision learns from a 503 that the revision is of another log.
 *
 * A read runs on the scheduler, as its user: most are complete within the call, any other becomes a promise. It ends when
 * its client goes away.
 *
 * Every exception becomes a problem response. `handle` runs up to 100,000 times a second: it is synchronous for a cached
 * credential, and does little more than two look-ups for a cached response.
 */
import type { CommonHeaders } from "../http1/common-headers.ts";
import { ConnectionCounters, type ConnectionInfo, type Handler } from "../http1/handler.ts";
import type { ParseError, Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import { SerializedResponse } from "../http1/serialized-response.ts";
import type { HandshakeCounts } from "../http1/tls.ts";
import { MemoryBudget, type SharedMemory } from "../lib/memory-budget.ts";
import { Cancelled } from "../lib/scheduler.ts";
import { AuditLog } from "./auth/audit.ts";
import { authProblem } from "./auth/auth-problem.ts";
import { type Credential, INTERNAL_USER } from "./auth/authenticate.ts";
import { KnownHosts } from "./auth/known-hosts.ts";
import { LOGIN_CHECK_PATH } from "./auth/login-relay.ts";
import { Logins } from "./auth/logins.ts";
import { RequestCredentials } from "./auth/request-credentials.ts";
import { ReadHandler, type ReadOutcome } from "./endpoints/read-handler.ts";
import { findRoute } from "./endpoints/routing.ts";
import { ServiceHandler } from "./endpoints/service-handler.ts";
import { parseForwardPath } from "./forwarding/forward-path.ts";
import { createForwarding, type Forwarding } from "./forwarding/forwarding.ts";
import { createReaderRelay, isForMainProcess, type RelayRequest } from "./forwarding/reader-relay.ts";
import type { RequestHandlerOptions } from "./handler-options.ts";
import { Admission } from "./limits/admission.ts";
import { LoadShedder } from "./limits/load-shedder.ts";
import { type ProcessCounters, RequestCounters } from "./metrics/process-counters.ts";
import { type RecordedResponse, type RequestOrigins, RequestRecorder } from "./metrics/request-recorder.ts";
import { UsageRecorder, userUsages } from "./metrics/usage-counters.ts";
import { createPrefixes, dialectOf, type Prefixes } from "./onos/prefixes.ts";
import { isPublic, PublicEndpoints } from "./public-endpoints.ts";
import { isPlainGet, NOT_SENT, pathOf, readRequestOf, UserOwner } from "./read-request.ts";
import { ReadRunner } from "./read-runner.ts";
import { RepeatHit } from "./repeat-hit.ts";
import { RequestState } from "./request-state.ts";
import { addHeaders } from "./response/add-headers.ts";
import { BodyRenderer, type PreparedResponse } from "./response/body-renderer.ts";
import { createCommonHeaders, LOG_HEADER } from "./response/common-headers.ts";
import { type Cors, createCors } from "./response/cors.ts";
import { Problem } from "./response/problem.ts";
import { ProblemResponder } from "./response/problem-response.ts";
import { ResponseCache } from "./response/response-cache.ts";
import { SseHub } from "./stream/sse-hub.ts";

const HEARTBEAT_MS = 15_000;
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A read that is answered now or later. */
interface ServedRead {
  readonly request: Request;
  readonly connection: ConnectionInfo;
  readonly path: string;
  readonly credential: Credential;
  /** For the counters. */
  readName: string;
  rateLimitHeaders: Readonly<Record<string, string>>;
}

export class RequestHandler implements Handler {
  readonly #options: RequestHandlerOptions;
  readonly #credentials: RequestCredentials;
  readonly #streams: SseHub;
  readonly #memory: MemoryBudget;
  readonly #reads: ReadRunner;
  readonly #service: ServiceHandler;
  readonly #public: PublicEndpoints;
  readonly #problems: ProblemResponder;
  readonly #connections: ConnectionCounters;
  readonly #counters = new RequestCounters();
  readonly #usage = new UsageRecorder();
  readonly #recorder: RequestRecorder;
  readonly commonHeaders: CommonHeaders;
  readonly #logHeader: Readonly<Record<string, string>>;
  readonly #responseCache: ResponseCache;
  readonly #loadShedder = new LoadShedder();
  readonly #cors: Cors;
  readonly #hosts: KnownHosts;
  readonly #owner = new UserOwner();
  readonly #logins: Logins;
  readonly #admission: Admission;
  readonly #relay: RelayRequest | undefined;
  readonly #forwarding: Forwarding | undefined;
  readonly #prefixes: Prefixes;
  #isStopping = false;

  constructor(options: RequestHandlerOptions, connections = new ConnectionCounters()) {
    const { context, limits, origins, users, version } = options;
    const { id: logId, signingKey } = context.log;
    const isClustered = options.cluster !== undefined;
    this.#options = options;
    this.#logHeader = { [LOG_HEADER]: logId };
    this.#logins = new Logins(options, new AuditLog(options.logger, options.clock));
    this.#credentials = new RequestCredentials(options, this.#logins);
    this.#connections = connections;
    this.#streams = new SseHub(context.history, context.scheduler, limits, HEARTBEAT_MS);
    const readHandler = new ReadHandler({
      context,
      streams: this.#streams,
      renderer: new BodyRenderer({ logId, signingKey, serviceVersion: version, isClustered }),
      limits,
      isClustered,
      clock: options.clock,
    });
    this.#memory = new MemoryBudget(limits);
    this.#reads = new ReadRunner(readHandler, context.scheduler, this.#memory);
    this.#prefixes = createPrefixes(options.aliases, options.onos);
    this.#forwarding = createForwarding(options, this.#memory);
    const forwards = this.#forwarding?.counters;
    this.#service = new ServiceHandler(options, this.#prefixes, () => this.counters(), forwards);
    this.commonHeaders = createCommonHeaders(origins, options.cluster);
    this.#responseCache = new ResponseCache(this.commonHeaders);
    this.#cors = createCors(origins);
    this.#hosts = new KnownHosts(options.hosts);
    const requestOrigins: RequestOrigins = {
      userOf: (request) => this.#credentials.userOf(request),
      addressOf: (request, connection) => this.#logins.externalAddress(request, connection),
    };
    this.#recorder = new RequestRecorder(this.#usage, options.accessLog, requestOrigins, options.clock);
    this.#problems = new ProblemResponder(this.#cors, this.#counters, options.logger);
    this.#admission = new Admission(limits, options.clock);
    this.#relay = createReaderRelay(options.relay, this.#logins, this.#problems);
    this.#public = new PublicEndpoints({
      service: this.#service,
      problems: this.#problems,
      cors: this.#cors,
      prefixes: this.#prefixes,
      credentials: this.#credentials,
      relay: this.#relay,
      forwarding: this.#forwarding,
    });
    users.onChange((names) => this.#streams.closeStreamsOf(names));
  }

  /** Runs the background work until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, accessLog } = this.#options;
    const shedding = this.#loadShedder.run(clock, signal);
    await Promise.all([this.#streams.runHeartbeat(clock, signal), shedding, accessLog?.run(signal)]);
  }

  /** The listener counts its handshakes here. */
  get tlsHandshakes(): HandshakeCounts {
    return this.#counters.tlsHandshakes;
  }

  counters(): ProcessCounters {
    const { accessLog, context } = this.#options;
    const bytesHeld = (user: string) => this.#memory.bytesOf(user);
    const usage = this.#usage.snapshot(userUsages(context.scheduler.usage(), bytesHeld), {
      loopDelay: this.#loadShedder.delays.snapshot(),
      longSteps: context.scheduler.longSteps,
      logins: this.#logins.outcomes(),
      accessLogDropped: accessLog?.dropped ?? 0,
    });
    return this.#counters.snapshot(this.#streams, this.#connections, usage);
  }

  /** Closes all event streams and reports `stopping` in `/readyz`. Other requests are still served. */
  stop(): void {
    this.#isStopping = true;
    this.#options.context.problems.stop();
    this.#streams.closeAll();
  }

  handle(request: Request, connection: ConnectionInfo): SerializedResponse | Response | Promise<Response> {
    request.handlerState = undefined;
    const response = this.#dispatch(request, connection);
    if (response instanceof SerializedResponse && !this.#recorder.recordsAll) return response;
    return response instanceof Promise
      ? response.then((resolved) => this.#recorder.record(request, connection, resolved))
      : this.#recorder.record(request, connection, response);
  }

  #dispatch(request: Request, connection: ConnectionInfo): SerializedResponse | Response | Promise<Response> {
    const { authenticator, context } = this.#options;
    const repeat = request.handlerCache;
    if (
      repeat instanceof RepeatHit &&
      repeat.generation === authenticator.generation &&
      this.#isCacheUsable
    ) {
      const response = repeat.cachedResponse.serialize(repeat.ifNoneMatch, context.view.revision);
      if (response) return response;
    }
    const misdirected = this.#hosts.isAny ? undefined : this.#hosts.check(request, connection);
    if (misdirected) {
      this.#begin(request);
      return this.#problems.respondTo(request, misdirected, "misdirected");
    }
    if (isPublic(request)) {
      this.#begin(request);
      return this.#public.respond(request, connection);
    }
    const credential = this.#credentials.cached(request, connection);
    if (credential) connection.markAuthenticated();
    if (credential && credential.role === "reader" && this.#isCacheUsable && isPlainGet(request)) {
      const response = this.#findCachedResponse(request);
      if (response) return response;
    }
    this.#begin(request);
    const path = pathOf(request.target);
    if (path === "/readyz")
      return this.#public.readiness(request, connection, credential?.user, this.#isStopping);
    return credential
      ? this.#serve(request, connection, path, credential)
      : this.#authenticateAndServe(request, connection, path);
  }

  #begin(request: Request): void {
    request.handlerState = new RequestState(this.#options.clock.monotonic());
  }

  onParseError({ code, detail }: ParseError): Response {
    return this.#problems.respond(new Problem(code, detail), "unreadable");
  }

  onError(error: unknown): Response {
    return this.#problems.respond(error, "other");
  }

  onUnsent(request: Request, _connection: ConnectionInfo, bytes: number, shared?: SharedMemory) {
    const user = this.#credentials.userOf(request);
    return user === undefined ? undefined : this.#memory.holdFor(user, shared ?? { heldBytes: bytes });
  }

  /** Call it after a change of the limits: cached responses were made with the old ones. */
  onLimitsChanged(): void {
    this.#responseCache.clear();
  }

  /** CORS and rate limit headers differ between requests for the same target, so such responses cannot be cached. */
  get #hasPerRequestHeaders(): boolean {
    const { origins, limits } = this.#options;
    return origins.length > 0 || limits.requestsPerSecond > 0;
  }

  get #isCacheUsable(): boolean {
    return !this.#hasPerRequestHeaders && !this.#loadShedder.shedding && !this.#isStopping;
  }

  #findCachedResponse(request: Request): SerializedResponse | undefined {
    const { authenticator, context } = this.#options;
    const cachedResponse = this.#responseCache.get(request, context.view.revision);
    if (!cachedResponse) return undefined;
    const ifNoneMatch = request.header("if-none-match");
    request.handlerCache = new RepeatHit(authenticator.generation, cachedResponse, ifNoneMatch);
    return cachedResponse.serialize(ifNoneMatch, context.view.revision);
  }

  async #authenticateAndServe(request: Request, connection: ConnectionInfo, path: string): Promise<Response> {
    const result = await this.#credentials.check(request, connection);
    if (result.outcome !== "ok") return this.#problems.respondTo(request, authProblem(result), "auth");
    return this.#serve(request, connection, path, result);
  }

  /** Serves a request whose credential is valid. */
  #serve(
    request: Request,
    connection: ConnectionInfo,
    path: string,
    credential: Credential,
  ): Response | Promise<Response> {
    const response = this.#serveUser(request, connection, path, credential);
    return response instanceof Promise
      ? response.then((resolved) => this.#withLog(resolved))
      : this.#withLog(response);
  }

  /** Most reads have the header already. */
  #withLog(response: Response): Response {
    return LOG_HEADER in response.headers ? response : addHeaders(response, this.#logHeader);
  }

  #serveUser(
    request: Request,
    connection: ConnectionInfo,
    path: string,
    credential: Credential,
  ): Response | Promise<Response> {
    if (credential.user === INTERNAL_USER && path === LOGIN_CHECK_PATH)
      return this.#logins.checkForReader(request, connection);
    const served: ServedRead = {
      request,
      connection,
      path,
      credential,
      readName: "other",
      rateLimitHeaders: NO_HEADERS,
    };
    try {
      this.#logins.requireRole(request, connection, credential, path);
      served.rateLimitHeaders = this.#admission.admit(request, connection, credential.user, this.#overloaded);
    } catch (error) {
      return this.#respondToFailure(served, error);
    }
    return this.#serveAdmitted(served);
  }

  #serveAdmitted(served: ServedRead): Response | Promise<Response> {
    const { request, connection, path, credential, rateLimitHeaders } = served;
    const relay = this.#relay;
    try {
      const forward = this.#forwarding?.find(path);
      if (forward) {
        served.readName = "forwarded";
        if (this.#loadShedder.shedding) throw this.#overloaded();
        return this.#respondLater(served, forward(request, connection, credential.user));
      }
      const route = findRoute(path, this.#prefixes);
      if (!route)
        return relay
          ? relay(request, connection, {
              user: credential.user,
              headers: rateLimitHeaders,
              // It may be forwarded there.
              waitsForOthers: parseForwardPath(path) !== undefined,
            })
          : this.#serveService(request, connection, path, credential.user, rateLimitHeaders);
      served.readName = route.endpoint.endpoint.readName;
      // Reads only: the page retries a rejected read, but it cannot load without its script and style.
      if (this.#loadShedder.shedding) throw this.#overloaded();
      const { user } = credential;
      const read = readRequestOf(request, path, user, this.#owner.of(user), dialectOf(path, this.#prefixes));
      const outcome = this.#reads.run(route, read, connection);
      return outcome instanceof Promise
        ? this.#respondLater(served, outcome)
        : this.#respond(served, outcome);
    } catch (error) {
      return this.#respondToFailure(served, error);
    }
  }

  /** The read needs more than one slice of the scheduler, or waits for its body to be compressed, or is forwarded. */
  async #respondLater(served: ServedRead, outcome: Promise<ReadOutcome>): Promise<Response> {
    try {
      return this.#respond(served, await outcome);
    } catch (error) {
      return this.#respondToFailure(served, error);
    }
  }

  #respond(
    { request, readName: read, rateLimitHeaders }: ServedRead,
    { prepared, response }: ReadOutcome,
  ): Response {
    const { status, headers, body, shared } = response;
    if (prepared) this.#cacheResponse(request, read, prepared, response);
    this.#counters.responses(read, status).count++;
    const recorded: RecordedResponse = { status, headers, body, shared, read };
    if (!this.#hasPerRequestHeaders) return recorded;
    return addHeaders(recorded, this.#perRequestHeaders(request, rateLimitHeaders));
  }

  #respondToFailure(served: ServedRead, error: unknown): Response | Promise<Response> {
    const { request, connection, path, readName, rateLimitHeaders: headers } = served;
    const { user } = served.credential;
    const relay = this.#relay;
    if (error instanceof Cancelled) return NOT_SENT;
    if (relay && isForMainProcess(error))
      return relay(request, connection, { user, headers, waitsForOthers: true });
    const dialect = dialectOf(path, this.#prefixes);
    return this.#problems.respondTo(request, error, readName, headers, dialect);
  }

  #cacheResponse(request: Request, readName: string, prepared: PreparedResponse, response: Response): void {
    if (this.#hasPerRequestHeaders || request.method !== "GET") return;
    if (!this.#responseCache.shouldStore(request, prepared.info.version)) return;
    this.#responseCache.store(request, prepared, response, {
      ok: this.#counters.responses(readName, 200),
      notModified: this.#counters.responses(readName, 304),
    });
  }

  async #serveService(
    request: Request,
    connection: ConnectionInfo,
    path: string,
    user: string,
    rateLimitHeaders: Readonly<Record<string, string>>,
  ): Promise<Response> {
    try {
      const headers = this.#perRequestHeaders(request, rateLimitHeaders);
      return await this.#service.respond(request, path, headers, this.#owner.of(user), connection);
    } catch (error) {
      if (error instanceof Cancelled) return NOT_SENT;
      const dialect = dialectOf(path, this.#prefixes);
      return this.#problems.respondTo(request, error, "page", rateLimitHeaders, dialect);
    }
  }

  #perRequestHeaders(
    request: Request,
    rateLimitHeaders: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> {
    return { ...rateLimitHeaders, ...this.#cors.headers(request.header("origin")) };
  }

  readonly #overloaded = (): Problem => {
    this.#counters.countShed();
    return new Problem("overloaded", "The service is overloaded; try again in a moment.", {
      "Retry-After": "2",
    });
  };
}
