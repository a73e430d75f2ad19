/**
 * Every request passes these stages, in this order. A stage returns a response, or undefined to pass the request on.
 *
 * Before anything is allocated for the request:
 *  1. A request that repeats the previous one on its connection gets the same response from the response cache.
 *  2. A request for a host that is not one of the service is refused.
 *  3. The credential is looked up in the cache, except for OPTIONS, `/healthz` and writes to `/readyz`. A wrong credential
 *     does not count as a failed login there, so their response must not depend on it.
 *  4. A user of the role reader gets a response from the response cache.
 *
 * Then an `Exchange` begins:
 *  5. OPTIONS and the health endpoints need no credentials.
 *  6. Credentials that are not cached are checked. From here on every response, also a problem, names the log, so that a
 *     client that waits for a revision can see in a 503 that the revision belongs to another log.
 *  7. The role of the user is checked.
 *  8. Admission applies the limits of requests.
 *  9. Paths of a controller are forwarded to it.
 * 10. The endpoint reads. A read runs on the scheduler for its user. Most reads complete within the call; the others return
 *     a promise. A read is cancelled when its client is gone.
 * 11. The pages and documents of the service are served.
 *
 * A reader process has no stages 9 and 11. After stages 5 and 10 it relays to the main process what only that can serve.
 * The service's own requests come over the Unix socket and have their own list of stages. Those that a reader process
 * relays skip stages 6 to 8 and run as the user that the reader process has authenticated.
 *
 * Around the stages, responses are recorded and exceptions are turned into problem responses. `handle` runs up to 100,000
 * times a second, so it does little more than two look-ups for a cached response and is synchronous then.
 */
import type { CommonHeaders } from "../http1/common-headers.ts";
import { ConnectionCounters, type ConnectionInfo, type Handler } from "../http1/handler.ts";
import type { ParseError, Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { SerializedResponse } from "../http1/serialized-response.ts";
import type { HandshakeCounts } from "../http1/tls.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { MemoryBudget, type SharedMemory } from "../lib/memory-budget.ts";
import { Cancelled } from "../lib/scheduler.ts";
import { HistoryNotInReplica } from "../view/replica.ts";
import { authProblem } from "./auth/auth-problem.ts";
import { type Authenticator, INTERNAL_CREDENTIAL } from "./auth/authenticate.ts";
import { KnownHosts } from "./auth/known-hosts.ts";
import { LOGIN_CHECK_PATH } from "./auth/login-relay.ts";
import { AuditLog, Logins } from "./auth/logins.ts";
import { RequestCredentials } from "./auth/request-credentials.ts";
import type { Users } from "./auth/users.ts";
import type { ClusterView } from "./cluster-status.ts";
import { getHealth, getReadiness } from "./endpoints/health.ts";
import { ReadHandler } from "./endpoints/read-handler.ts";
import { findRoute } from "./endpoints/routing.ts";
import type { ServiceEndpointOptions } from "./endpoints/service-endpoint.ts";
import { ServiceHandler } from "./endpoints/service-handler.ts";
import { Exchange, NOT_SENT, pathOf, UserOwner } from "./exchange.ts";
import { parseForwardPath } from "./forwarding/forward-path.ts";
import { createForwarding, type Forwarder, type Forwarding } from "./forwarding/forwarding.ts";
import type { Relay } from "./forwarding/relay.ts";
import { Admission, LoadShedder, type ServerLimits } from "./limits/admission.ts";
import type { AccessLog } from "./metrics/access-log.ts";
import { measureProcess, type ProcessMetrics, RequestCounters } from "./metrics/process-metrics.ts";
import { RequestRecorder } from "./metrics/request-recorder.ts";
import { createPrefixes, isInterfacePath, type OnosOptions, type Prefixes } from "./onos/onos-dialect.ts";
import { BodyRenderer } from "./response/body-renderer.ts";
import { addHeaders, createCommonHeaders, LOG_HEADER } from "./response/common-headers.ts";
import { type Cors, createCors } from "./response/cors.ts";
import {
  ALLOWED_METHODS,
  isReadMethod,
  methodNotAllowed,
  ProblemDetails,
  UnknownResourceProblem,
} from "./response/problem.ts";
import { ProblemResponder } from "./response/problem-response.ts";
import type { ReadResponse } from "./response/representation.ts";
import { type CachedResponse, ResponseCache } from "./response/response-cache.ts";
import { SseHub } from "./stream/sse-hub.ts";

const HEARTBEAT_MS = 15_000;
const LIVENESS = "/healthz";
const READINESS = "/readyz";
/** The target of `OPTIONS *`, which is about the service as a whole (RFC 9112, 3.2.4). */
const SERVER_WIDE = "*";

type Result = Response | Promise<Response>;

/** Returns the response or a promise of it, or undefined to pass the request on. Throws a `ProblemDetails` to refuse it. */
type Stage = (exchange: Exchange) => Response | Promise<Response | undefined> | undefined;

/** Whether the response does not depend on credentials. A GET of `/readyz` is not public: users get more details. */
function isPublic({ method, target }: Request): boolean {
  if (method === "OPTIONS") return true;
  if (target.startsWith(LIVENESS)) return pathOf(target) === LIVENESS;
  return !isReadMethod(method) && pathOf(target) === READINESS;
}

/** The `handlerCache` of a request: the generation in which its credential was valid, and its cached response. */
class RepeatHit {
  readonly generation: number;
  readonly cachedResponse: CachedResponse;
  readonly ifNoneMatch: string | null;

  constructor(generation: number, cachedResponse: CachedResponse, ifNoneMatch: string | null) {
    this.generation = generation;
    this.cachedResponse = cachedResponse;
    this.ifNoneMatch = ifNoneMatch;
  }
}

/** The dependencies and settings of the stages of a process. */
export interface RequestHandlerOptions extends ServiceEndpointOptions {
  /** Options of the alias `onos`. */
  readonly onos?: OnosOptions | undefined;
  /** Origins that may read across origins (CORS). */
  readonly origins: readonly string[];
  /** Addresses and CIDR blocks of the proxies whose headers with the client's address are trusted. */
  readonly trustedProxies: readonly string[];
  /** The header in which these proxies name the user whom they have signed in; undefined if they sign nobody in. */
  readonly userHeader?: string | undefined;
  /** The host names of the service; empty to accept any. */
  readonly hosts: readonly string[];
  readonly limits: ServerLimits;
  readonly authenticator: Authenticator;
  readonly users: Users;
  /** Relays requests to the main process. Set only in a reader process. */
  readonly relay?: Relay;
  /** Forwards requests to controllers. Set only in the main process. */
  readonly forwarder?: Forwarder | undefined;
  /** The status of the cluster. Set only on a node of a cluster. */
  readonly cluster?: ClusterView | undefined;
  readonly accessLog?: AccessLog | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RequestHandler implements Handler {
  readonly #options: RequestHandlerOptions;
  readonly #credentials: RequestCredentials;
  readonly #streams: SseHub;
  readonly #memory: MemoryBudget;
  readonly #reads: ReadHandler;
  readonly #service: ServiceHandler;
  readonly #problems: ProblemResponder;
  readonly #connections: ConnectionCounters;
  readonly #counters = new RequestCounters();
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
  readonly #forwarding: Forwarding | undefined;
  readonly #prefixes: Prefixes;
  readonly #stages: readonly Stage[];
  /** Handles the service's own requests, which come over the Unix socket. */
  readonly ownRequests: Handler;
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
    this.#streams = new SseHub(context.history, context.scheduler, limits, options.clock, HEARTBEAT_MS);
    this.#memory = new MemoryBudget(limits);
    this.commonHeaders = createCommonHeaders(origins, options.cluster);
    this.#reads = new ReadHandler({
      context,
      streams: this.#streams,
      renderer: new BodyRenderer(
        { logId, signingKey, serviceVersion: version, isClustered },
        this.commonHeaders,
      ),
      memory: this.#memory,
      limits,
      isClustered,
      clock: options.clock,
    });
    this.#prefixes = createPrefixes(options.aliases, options.onos);
    this.#forwarding = createForwarding(options, this.#memory);
    const forwards = this.#forwarding?.counters;
    this.#service = new ServiceHandler(options, this.#prefixes, () => this.metrics(), forwards);
    this.#responseCache = new ResponseCache(this.commonHeaders);
    this.#cors = createCors(origins);
    this.#hosts = new KnownHosts(options.hosts);
    this.#recorder = new RequestRecorder(this.#counters, options.accessLog, this.#logins, options.clock);
    this.#problems = new ProblemResponder(this.#cors, this.#counters, options.logger);
    this.#admission = new Admission(limits, options.clock);
    const publicly = this.#withoutCredentials;
    const admitted = [this.#checkCredentials, this.#requireRole, this.#admit];
    const served = [this.#forward, this.#read, this.#servePage];
    this.#stages = options.relay
      ? [publicly, this.#relay, ...admitted, this.#read, this.#relay]
      : [publicly, ...admitted, ...served];
    const ownStages = [publicly, this.#requireOwnCredentials, this.#checkLogin, ...served];
    this.ownRequests = {
      commonHeaders: this.commonHeaders,
      handle: (request, connection) => this.#handleOwn(request, connection, ownStages),
      onParseError: (error) => this.onParseError(error),
      onError: (error) => this.onError(error),
      onUnsent: (...unsent) => this.onUnsent(...unsent),
    };
    users.onChange((names) => this.#streams.closeStreamsOf(names));
  }

  /** Runs the background work until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, accessLog } = this.#options;
    const shedding = this.#loadShedder.run(clock, signal);
    await Promise.all([this.#streams.runHeartbeat(signal), shedding, accessLog?.run(signal)]);
  }

  /** The counts to which the listener adds its handshakes. */
  get tlsHandshakes(): HandshakeCounts {
    return this.#counters.tlsHandshakes;
  }

  metrics(): ProcessMetrics {
    return measureProcess({
      requests: this.#counters,
      streams: this.#streams,
      connections: this.#connections,
      loadShedder: this.#loadShedder,
      scheduler: this.#options.context.scheduler,
      logins: this.#logins,
      memory: this.#memory,
      accessLog: this.#options.accessLog,
    });
  }

  /** Closes all event streams and reports `stopping` in `/readyz`. Other requests are still served. */
  stop(): void {
    this.#isStopping = true;
    this.#options.context.problems.stop();
    this.#streams.closeAll();
  }

  handle(request: Request, connection: ConnectionInfo): SerializedResponse | Result {
    const repeated = this.#findRepeated(request);
    if (repeated) return this.#recordCached(request, connection, repeated);
    const misdirected = this.#hosts.isAny ? undefined : this.#hosts.check(request);
    const credential =
      misdirected || isPublic(request) ? undefined : this.#credentials.cached(request, connection);
    if (credential) {
      connection.markAuthenticated();
      const cached = credential.role === "reader" ? this.#findCached(request) : undefined;
      if (cached) return this.#recordCached(request, connection, cached);
    }
    const { clock } = this.#options;
    const exchange = new Exchange(request, connection, credential, this.#prefixes, clock.monotonic());
    if (!misdirected) return this.#respond(exchange, this.#stages);
    exchange.readName = "misdirected";
    return this.#complete(exchange, this.#problems.respondTo(exchange, misdirected));
  }

  #handleOwn(
    request: Request,
    connection: ConnectionInfo,
    stages: readonly Stage[],
  ): SerializedResponse | Result {
    const credential = this.#credentials.ofOwnProcess(request);
    if (credential) connection.markAuthenticated();
    const cached = credential?.role === "reader" ? this.#findCached(request) : undefined;
    if (cached) return this.#recordCached(request, connection, cached);
    const { clock } = this.#options;
    return this.#respond(
      new Exchange(request, connection, credential, this.#prefixes, clock.monotonic()),
      stages,
    );
  }

  #respond(exchange: Exchange, stages: readonly Stage[]): Result {
    try {
      const response = this.#pass(exchange, stages, 0);
      if (!(response instanceof Promise)) return this.#complete(exchange, response);
      return response.then(
        (resolved) => this.#complete(exchange, resolved),
        (error) => this.#complete(exchange, this.#refuse(exchange, error)),
      );
    } catch (error) {
      return this.#complete(exchange, this.#refuse(exchange, error));
    }
  }

  /** Passes the exchange through the stages, starting with the one at `index`. The last stage responds or throws. */
  #pass(exchange: Exchange, stages: readonly Stage[], index: number): Result {
    for (let i = index; ; i++) {
      const stage = stages[i];
      if (!stage) throw new Error("no stage responds");
      const response = stage(exchange);
      if (response instanceof Promise)
        return response.then((resolved) => resolved ?? this.#pass(exchange, stages, i + 1));
      if (response) return response;
    }
  }

  #refuse(exchange: Exchange, error: unknown): Response {
    return error instanceof Cancelled ? NOT_SENT : this.#problems.respondTo(exchange, error);
  }

  /** Adds the log header to a response to valid credentials unless it has it, as representations do. Then records the exchange. */
  #complete(exchange: Exchange, response: Response): Response {
    const namesLog = exchange.credential !== undefined && exchange.path !== READINESS;
    const isComplete = !namesLog || "info" in response || LOG_HEADER in response.headers;
    return this.#recorder.record(exchange, isComplete ? response : addHeaders(response, this.#logHeader));
  }

  #recordCached(
    request: Request,
    connection: ConnectionInfo,
    response: SerializedResponse,
  ): SerializedResponse {
    if (this.#recorder.recordsAll)
      this.#recorder.recordCached(
        request,
        this.#logins.externalAddress(request, connection),
        this.#credentials.userOf(request),
        response,
      );
    return response;
  }

  onParseError({ code, detail }: ParseError): Response {
    return this.#problems.respond(new ProblemDetails(code, detail), "unreadable");
  }

  onError(error: unknown): Response {
    return this.#problems.respond(error, "other");
  }

  onUnsent(request: Request, _connection: ConnectionInfo, bytes: number, shared?: SharedMemory) {
    const user = this.#credentials.userOf(request);
    return user === undefined ? undefined : this.#memory.holdFor(user, shared ?? { heldBytes: bytes });
  }

  /** Must be called after a change of the limits, because cached responses were made with the old ones. */
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

  #findRepeated(request: Request): SerializedResponse | undefined {
    const repeat = request.handlerCache;
    if (!(repeat instanceof RepeatHit) || !this.#isCacheUsable) return undefined;
    const { authenticator, context } = this.#options;
    if (repeat.generation !== authenticator.generation) return undefined;
    return repeat.cachedResponse.serialize(repeat.ifNoneMatch, context.view.revision);
  }

  #findCached(request: Request): SerializedResponse | undefined {
    if (!this.#isCacheUsable || !request.isPlainGet) return undefined;
    const { authenticator, context } = this.#options;
    const cachedResponse = this.#responseCache.get(request, context.view.revision);
    if (!cachedResponse) return undefined;
    const ifNoneMatch = request.header("if-none-match");
    request.handlerCache = new RepeatHit(authenticator.generation, cachedResponse, ifNoneMatch);
    return cachedResponse.serialize(ifNoneMatch, context.view.revision);
  }

  readonly #withoutCredentials = (exchange: Exchange): ReturnType<Stage> => {
    const { path, request } = exchange;
    if (request.method === "OPTIONS") return this.#preflight(exchange);
    if (path !== LIVENESS && path !== READINESS) return undefined;
    if (!isReadMethod(request.method)) {
      exchange.readName = "health";
      throw methodNotAllowed(request.method);
    }
    return path === LIVENESS
      ? getHealth.respond({ service: this.#service.service, isStopping: false, isUser: false })
      : this.#readiness(exchange);
  };

  /** Needs no credentials, because it reveals only which paths exist, and those are public. Does not look up entities. */
  async #preflight(exchange: Exchange): Promise<Response | undefined> {
    const { path, request } = exchange;
    const preflightHeaders = () => this.#cors.preflightHeaders(request.header("origin"));
    exchange.readName = "options";
    try {
      if (path !== SERVER_WIDE && !this.#forwarding?.find(path) && !findRoute(path, this.#prefixes)) {
        if (this.#options.relay) {
          exchange.isForMainProcess = true;
          return undefined;
        }
        await this.#service.requirePath(path, request.method);
      }
      return { status: 204, headers: { Allow: ALLOWED_METHODS, ...preflightHeaders() }, body: null };
    } catch (error) {
      if (error instanceof UnknownResourceProblem && error.headers.Allow !== undefined)
        return { status: 204, headers: { ...error.headers, ...preflightHeaders() }, body: null };
      throw error;
    }
  }

  /**
   * Shows the state of the sources to users only. Wrong credentials count as a failed login, as everywhere, but the response
   * is the same as without credentials, because a probe must not fail because of them.
   */
  #readiness(exchange: Exchange): ReturnType<Stage> {
    const { credential, connection, request } = exchange;
    // A reader process has checked the credentials of what it relays.
    if (credential || connection.isOwnProcess || request.header("authorization") === null)
      return this.#respondToProbe(exchange);
    return this.#credentials.check(exchange).then((result) => {
      if (result.outcome === "ok") exchange.credential = result;
      return this.#respondToProbe(exchange);
    });
  }

  #respondToProbe(exchange: Exchange): Response | undefined {
    if (!this.#options.relay)
      return getReadiness.respond({
        service: this.#service.service,
        isStopping: this.#isStopping,
        isUser: exchange.credential !== undefined,
      });
    exchange.isForMainProcess = true;
    return undefined;
  }

  readonly #checkCredentials = (exchange: Exchange): ReturnType<Stage> => {
    if (exchange.credential) return undefined;
    return this.#credentials.check(exchange).then((result) => {
      if (result.outcome === "ok") {
        exchange.credential = result;
        return undefined;
      }
      exchange.readName = "auth";
      throw authProblem(result, exchange.request);
    });
  };

  readonly #requireOwnCredentials = (exchange: Exchange): ReturnType<Stage> => {
    if (exchange.credential) return undefined;
    exchange.readName = "auth";
    throw authProblem({ outcome: "wrong" }, exchange.request);
  };

  /** Checks the login of a client of a reader process. */
  readonly #checkLogin = ({ path, credential, request, connection }: Exchange): ReturnType<Stage> =>
    credential === INTERNAL_CREDENTIAL && path === LOGIN_CHECK_PATH
      ? this.#logins.checkForReader(request, connection)
      : undefined;

  readonly #requireRole = (exchange: Exchange): ReturnType<Stage> => {
    this.#logins.requireRole(exchange);
    return undefined;
  };

  readonly #admit = (exchange: Exchange): ReturnType<Stage> => {
    const { request, connection, user } = exchange;
    exchange.rateLimitHeaders = this.#admission.admit(request, connection, user, this.#overloaded);
    return undefined;
  };

  readonly #forward = (exchange: Exchange): ReturnType<Stage> => {
    const { path, request, connection, user } = exchange;
    const forward = this.#forwarding?.find(path);
    if (!forward) return undefined;
    exchange.readName = "forwarded";
    if (this.#loadShedder.shedding) throw this.#overloaded();
    return forward(request, connection, user).then((response) => this.#completeRead(exchange, response));
  };

  /** Passes on a path without an endpoint, and in a reader process also a read that needs the history or the claims. */
  readonly #read = (exchange: Exchange): ReturnType<Stage> => {
    const { path, request, connection, dialect } = exchange;
    const route = findRoute(path, this.#prefixes);
    if (!route) {
      exchange.isForMainProcess = true;
      // The main process may forward the request to a controller.
      exchange.waitsForOthers = parseForwardPath(path) !== undefined;
      return undefined;
    }
    exchange.readName = route.endpoint.endpoint.readName;
    // Only reads are shed, because the page retries a rejected read but cannot load without its script and style.
    if (this.#loadShedder.shedding) throw this.#overloaded();
    if (!isReadMethod(request.method)) throw methodNotAllowed(request.method, dialect.writeAdvice);
    exchange.owner = this.#owner.of(exchange.user);
    try {
      const response = this.#reads.run(route, exchange, connection);
      if (!(response instanceof Promise)) return this.#completeRead(exchange, response);
      return response.then(
        (resolved) => this.#completeRead(exchange, resolved),
        (error) => passOnHistory(exchange, error),
      );
    } catch (error) {
      return passOnHistory(exchange, error);
    }
  };

  readonly #servePage = async (exchange: Exchange): Promise<Response> => {
    const { path, request, connection, user } = exchange;
    exchange.readName = isInterfacePath(path, this.#prefixes) ? "other" : "page";
    const headers = this.#perRequestHeaders(exchange);
    return this.#service.respond(request, path, headers, this.#owner.of(user), connection);
  };

  /**
   * Relays a request that a reader process cannot serve, with the address of its client and its authenticated user. The
   * main process does not check the credentials again, and never receives those that a client has sent.
   */
  readonly #relay = (exchange: Exchange): ReturnType<Stage> => {
    const { relay } = this.#options;
    return relay && exchange.isForMainProcess ? this.#relayNow(relay, exchange) : undefined;
  };

  async #relayNow(relay: Relay, exchange: Exchange): Promise<Response> {
    const { request, connection, credential, waitsForOthers, rateLimitHeaders } = exchange;
    exchange.readName = "relayed";
    const gone = new AbortController();
    if (waitsForOthers) connection.gone.listener = () => gone.abort();
    try {
      const { address } = this.#logins.clientOf(request, connection);
      return addHeaders(await relay(request, address, credential?.user, gone.signal), rateLimitHeaders);
    } catch (error) {
      throw gone.signal.aborted ? new Cancelled() : error;
    } finally {
      // From here on, closing the body source cancels the request.
      if (waitsForOthers) connection.gone.listener = undefined;
    }
  }

  #completeRead(exchange: Exchange, response: ReadResponse): Response {
    const { request, readName } = exchange;
    if (response.info && !this.#hasPerRequestHeaders && request.method === "GET") {
      if (this.#responseCache.shouldStore(request, response.info.version))
        this.#responseCache.store(request, response, {
          ok: this.#counters.responses(readName, 200),
          notModified: this.#counters.responses(readName, 304),
        });
    }
    exchange.isCounted = true;
    this.#counters.responses(readName, response.status).count++;
    return this.#hasPerRequestHeaders ? addHeaders(response, this.#perRequestHeaders(exchange)) : response;
  }

  #perRequestHeaders({ request, rateLimitHeaders }: Exchange): Readonly<Record<string, string>> {
    return { ...rateLimitHeaders, ...this.#cors.headers(request.header("origin")) };
  }

  readonly #overloaded = (): ProblemDetails => {
    this.#counters.shed++;
    return new ProblemDetails("overloaded", "The service is overloaded; try again in a moment.", {
      "Retry-After": "2",
    });
  };
}

/** Passes on a read that needs the history or the claims, which only the main process has. Throws any other error. */
function passOnHistory(exchange: Exchange, error: unknown): undefined {
  if (!(error instanceof HistoryNotInReplica)) throw error;
  exchange.isForMainProcess = true;
  exchange.waitsForOthers = true;
  return undefined;
}
