/**
 * The order in which a request is dealt with. Credentials come before anything else about it is looked at; then its
 * path, its method, its query. Whatever goes wrong becomes a problem here and nowhere else.
 */

import type { Connection, Handler } from "../http1/connection.ts";
import type { ParseError, Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { SerializedResponse } from "../http1/serialized-response.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { HistoryNotHere } from "../view/replica.ts";
import { authProblem } from "./auth/auth-problem.ts";
import { type Authenticator, type Credential, INTERNAL_USER } from "./auth/authenticate.ts";
import type { Users } from "./auth/users.ts";
import { BodyRenderer, respondWith } from "./body-renderer.ts";
import { createCors } from "./cors.ts";
import { healthz, readyz, type SourceReport } from "./health.ts";
import { createRateLimiter, LoadShedder } from "./load-shedder.ts";
import { Metrics, type MetricsInput, type ProcessCounters } from "./metrics.ts";
import { openapiText } from "./openapi.ts";
import { Problem, quoted } from "./problem.ts";
import type { ReadContext } from "./reads/read-context.ts";
import type { Relay } from "./relay.ts";
import { type CachedResponse, ResponseCache } from "./response-cache.ts";
import { parseRoute, type Route } from "./route.ts";
import { type Routes, readRoute } from "./router.ts";
import type { StaticSite } from "./static-site.ts";
import { SseHub } from "./stream/sse-hub.ts";

export interface RequestHandlerOptions {
  readonly aliases: readonly string[];
  readonly origins: readonly string[];
  readonly limits: ServerLimits;
  readonly version: string;
  readonly context: ReadContext;
  readonly authenticator: Authenticator;
  readonly users: Users;
  readonly sources: () => readonly SourceReport[];
  readonly refusedRecords: () => Readonly<Record<string, number>>;
  readonly page: StaticSite | undefined;
  readonly readers?: MetricsInput["readers"];
  /** Of a process that follows another: to that one goes what it cannot answer. */
  readonly relay?: Relay;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ServerLimits {
  readonly urlBytes: number;
  readonly headerBytes: number;
  readonly connections: number;
  readonly streamsPerUser: number;
  readonly pageLimit: number;
  readonly requestsPerSecond: number;
  readonly idleTimeoutSeconds: number;
}

const HEARTBEAT_MS = 15_000;
const ALLOW = "GET, HEAD, OPTIONS";
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Whose the header lines are that a connection repeats, until any user changes. */
class CachedAuth {
  readonly generation: number;
  readonly credential: Credential;

  constructor(generation: number, credential: Credential) {
    this.generation = generation;
    this.credential = credential;
  }
}

/** What is known of a request that comes again word for word: that its credentials are good, and its answer. */
class RepeatHit {
  readonly generation: number;
  readonly hot: CachedResponse;
  readonly ifNoneMatch: string | null;

  constructor(generation: number, hot: CachedResponse, ifNoneMatch: string | null) {
    this.generation = generation;
    this.hot = hot;
    this.ifNoneMatch = ifNoneMatch;
  }
}

export class RequestHandler implements Handler {
  readonly #options: RequestHandlerOptions;
  readonly #routes: Routes;
  readonly #streams: SseHub;
  readonly #metrics = new Metrics();
  readonly #loadShedder = new LoadShedder();
  readonly #cors: ReturnType<typeof createCors>;
  readonly #rate: ReturnType<typeof createRateLimiter>;
  readonly #prefixes: readonly string[];
  readonly #responseCache = new ResponseCache();
  readonly #sameForAll: boolean;
  #openapi: string | undefined;
  #stopping = false;

  constructor(options: RequestHandlerOptions) {
    const { context, limits } = options;
    this.#options = options;
    this.#streams = new SseHub(context.history, {
      streamsPerUser: limits.streamsPerUser,
      heartbeatMs: HEARTBEAT_MS,
    });
    this.#routes = {
      context,
      streams: this.#streams,
      representer: new BodyRenderer(context.log.epoch, options.version),
      pageLimit: limits.pageLimit,
    };
    this.#cors = createCors(options.origins);
    this.#rate = createRateLimiter(limits.requestsPerSecond, options.clock);
    this.#sameForAll = options.origins.length === 0 && limits.requestsPerSecond === 0;
    this.#prefixes = ["controller", ...options.aliases];
    options.users.onChange((names) => this.#streams.endOf(names));
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#streams.beat(this.#options.clock, signal),
      this.#loadShedder.watch(this.#options.clock, signal),
    ]);
  }

  tally(): ProcessCounters {
    return this.#metrics.tally(this.#streams);
  }

  stop(): void {
    this.#stopping = true;
    this.#streams.endAll();
  }

  /** Synchronous for a known credential, and short for a known question: this runs a hundred thousand times a second. */
  handle(request: Request, connection: Connection): SerializedResponse | Response | Promise<Response> {
    const { authenticator, context, relay } = this.#options;
    const { memo } = request;
    if (memo instanceof RepeatHit && memo.generation === authenticator.generation && this.#cacheUsable) {
      const message = memo.hot.answer(memo.ifNoneMatch, context.view.revision);
      if (message) return message;
    }
    const known = this.#credentialOf(request);
    if (known && this.#cacheUsable && isPlain(request)) {
      const message = this.#known(request);
      if (message) return message;
    }
    if (request.method === "OPTIONS") return this.#options204(request);
    const path = pathOf(request.target);
    if (path === "/readyz" && relay) return this.#relayed(relay, request);
    if (path === "/healthz" || path === "/readyz") return this.#probe(request, path);
    return known ? this.#serve(request, connection, path, known) : this.#admit(request, connection, path);
  }

  #credentialOf(request: Request): Credential | undefined {
    const { authenticator } = this.#options;
    const { headers } = request;
    const { generation } = authenticator;
    if (headers.memo instanceof CachedAuth && headers.memo.generation === generation)
      return headers.memo.credential;
    const known = authenticator.known(request.header("authorization"));
    if (known) headers.memo = new CachedAuth(generation, known);
    return known;
  }

  /** Whether requests are answered alike, whoever sends them and however many there are. */
  get #cacheUsable(): boolean {
    return this.#sameForAll && !this.#loadShedder.shut && !this.#stopping;
  }

  #known(request: Request): SerializedResponse | undefined {
    const { authenticator, context } = this.#options;
    const hot = this.#responseCache.find(request);
    if (!hot) return undefined;
    const again = new RepeatHit(authenticator.generation, hot, request.header("if-none-match"));
    request.memo = again;
    return hot.answer(again.ifNoneMatch, context.view.revision);
  }

  /** Open to everybody, so that whoever watches over the service needs no password. */
  #probe(request: Request, path: "/healthz" | "/readyz"): Response {
    if (!isRead(request.method)) return this.#problem(notAllowed(request.method), request, "health");
    const { context, sources } = this.#options;
    return path === "/healthz" ? healthz() : readyz(context.view, sources(), this.#stopping);
  }

  async #admit(request: Request, connection: Connection, path: string): Promise<Response> {
    const result = await this.#options.authenticator.authenticate(
      request.header("authorization"),
      connection.remoteAddress,
    );
    if (result.outcome === "ok") return this.#serve(request, connection, path, result);
    return this.#problem(authProblem(result), request, "auth");
  }

  #serve(
    request: Request,
    connection: Connection,
    path: string,
    credential: Credential,
  ): Response | Promise<Response> {
    const { relay, limits } = this.#options;
    const { length } = request.target;
    let read = "other";
    let rate = NO_HEADERS;
    try {
      if (connection.inFlight >= limits.connections) throw this.#shed();
      if (length > limits.urlBytes) {
        throw new Problem(
          "uri-too-long",
          `The address is ${length} bytes long; at most ${limits.urlBytes} are taken.`,
        );
      }
      if (credential.user !== INTERNAL_USER) rate = this.#rate.take(credential.user);
      const target = parseRoute(path, this.#prefixes);
      if (!target) return relay ? this.#relayed(relay, request) : this.#elsewhere(request, path, rate);
      read = target.read === "list" ? target.kind : target.read;
      // Only here: a page without its script would be a blank page, and it asks again by itself for what is refused.
      if (this.#loadShedder.shut) throw this.#shed();
      const answer = this.#read(request, path, target, read, credential);
      this.#metrics.requests(read, answer.status).count++;
      if (this.#sameForAll) return answer;
      return withMore(answer, { ...rate, ...this.#cors.headers(request.header("origin")) });
    } catch (error) {
      if (relay && error instanceof HistoryNotHere) return this.#relayed(relay, request);
      return this.#problem(error, request, read, rate);
    }
  }

  #shed(): Problem {
    this.#metrics.countShed();
    const detail = "The service has more to do than it can; try again in a moment.";
    return new Problem("overloaded", detail, { "Retry-After": "2" });
  }

  async #relayed(relay: Relay, request: Request): Promise<Response> {
    try {
      return await relay(request);
    } catch (error) {
      return this.#problem(error, request, "relayed");
    }
  }

  #read(request: Request, path: string, target: Route, name: string, credential: Credential): Response {
    const { method, target: address } = request;
    if (!isRead(method)) throw notAllowed(method);
    const read = readRoute(this.#routes, target, {
      method,
      address,
      queryText: address.slice(path.length + 1),
      user: credential.user,
      accept: request.header("accept"),
      acceptEncoding: request.header("accept-encoding"),
      lastEventId: request.header("last-event-id"),
    });
    if ("stream" in read) return read.stream;
    const answer = respondWith(read.prepared, request.header("if-none-match"));
    // Headers that differ from request to request cannot be kept with an answer.
    if (this.#sameForAll && method === "GET" && this.#responseCache.wants(request)) {
      const counters = {
        served: this.#metrics.requests(name, 200),
        notModified: this.#metrics.requests(name, 304),
      };
      this.#responseCache.keep(request, read.prepared, answer, counters);
    }
    return answer;
  }

  /** What is not the interface: figures, its description, the page. */
  async #elsewhere(
    request: Request,
    path: string,
    rate: Readonly<Record<string, string>>,
  ): Promise<Response> {
    try {
      const answer = this.#ownPage(path);
      if ((answer || path === "/") && !isRead(request.method)) throw notAllowed(request.method);
      if (answer) return withMore(answer, { ...rate, ...this.#cors.headers(request.header("origin")) });
      const page = isRead(request.method) && (await this.#options.page?.respond(path, request));
      if (page) return page;
      throw new Problem(
        "not-found",
        `There is nothing at ${quoted(path)}; the interface begins at /controller/v1.`,
      );
    } catch (error) {
      return this.#problem(error, request, "page", rate);
    }
  }

  #ownPage(path: string): Response | undefined {
    const { context, version } = this.#options;
    if (path === "/metrics") {
      return this.#metrics.answer({
        context,
        version,
        streams: this.#streams,
        sources: this.#options.sources(),
        refusedRecords: this.#options.refusedRecords(),
        readers: this.#options.readers,
      });
    }
    if (path !== "/openapi.json") return undefined;
    this.#openapi ??= openapiText(version);
    const headers = { "Content-Type": "application/json", "Cache-Control": "private, no-cache" };
    return { status: 200, headers, body: this.#openapi };
  }

  #options204(request: Request): Response {
    const headers = { Allow: ALLOW, ...this.#cors.preflight(request.header("origin")) };
    return { status: 204, headers, body: null };
  }

  #problem(
    error: unknown,
    request: Request,
    read: string,
    more: Readonly<Record<string, string>> = {},
  ): Response {
    const cors = this.#cors.headers(request.header("origin"));
    return this.#problemResponse(error, read, { ...cors, ...more });
  }

  #problemResponse(error: unknown, read: string, more: Readonly<Record<string, string>>): Response {
    const instance = `urn:uuid:${crypto.randomUUID()}`;
    const problem = error instanceof Problem ? error : this.#unexpected(error, instance);
    this.#metrics.requests(read, problem.status).count++;
    const headers = {
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      ...more,
      ...problem.headers,
    };
    return { status: problem.status, headers, body: problem.body(instance) };
  }

  #unexpected(error: unknown, instance: string): Problem {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.logger.error("request failed", { instance, why });
    return new Problem(
      "internal",
      "Something went wrong in the service; its log has more under this instance.",
    );
  }

  /** To a request that could not be read. */
  onParseError({ code, detail }: ParseError): Response {
    return this.#problemResponse(new Problem(code, detail), "unreadable", {});
  }

  onError(error: unknown): Response {
    return this.#problemResponse(error, "other", {});
  }
}

const isRead = (method: string): method is "GET" | "HEAD" => method === "GET" || method === "HEAD";

const notAllowed = (method: string): Problem =>
  new Problem("method-not-allowed", `${method} does not exist here: this interface only reads. Use GET.`, {
    Allow: ALLOW,
  });

/** A GET like most: its answer may be sent as it was to another. */
const isPlain = ({ method, keepAlive, isHttp10, bodyLength }: Request): boolean =>
  method === "GET" && keepAlive && !isHttp10 && bodyLength === 0;

function pathOf(address: string): string {
  const question = address.indexOf("?");
  return question < 0 ? address : address.slice(0, question);
}

function withMore(answer: Response, more: Readonly<Record<string, string>>): Response {
  const { headers } = answer;
  const vary = headers.Vary && more.Vary ? { Vary: `${headers.Vary}, ${more.Vary}` } : {};
  return { ...answer, headers: { ...headers, ...more, ...vary } };
}
