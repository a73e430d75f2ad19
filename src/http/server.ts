/**
 * The server: sockets, and the order in which a request is dealt with. Credentials come before anything else about it
 * is looked at; then its path, its method, its query. Whatever goes wrong becomes a problem here and nowhere else.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { PastElsewhere } from "../view/replica.ts";
import type { Answer } from "./answer.ts";
import { type Authenticator, type Credential, OURSELVES } from "./auth/authenticate.ts";
import { refusal } from "./auth/refusal.ts";
import type { Users } from "./auth/users.ts";
import { createCors } from "./cors.ts";
import { healthz, readyz, type SourceReport } from "./health.ts";
import { HotAnswers } from "./hot.ts";
import { createRateLimiter, Valve } from "./limits.ts";
import { type Figures, Metrics, type Tally } from "./metrics.ts";
import { openapiText } from "./openapi.ts";
import { type Target, targetOf } from "./path.ts";
import { Problem, quoted } from "./problem.ts";
import type { ReadContext } from "./reads/context.ts";
import type { Relay } from "./relay.ts";
import { answerPrepared, Representer } from "./represent.ts";
import { type Routes, readTarget } from "./routes.ts";
import { Streams } from "./stream/streams.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly aliases: readonly string[];
  readonly origins: readonly string[];
  readonly limits: ServerLimits;
  readonly version: string;
  readonly context: ReadContext;
  readonly authenticator: Authenticator;
  readonly users: Users;
  readonly sources: () => readonly SourceReport[];
  readonly refusedRecords: () => Readonly<Record<string, number>>;
  readonly page: Page | undefined;
  /** Whether other processes listen on the same port. */
  readonly sharedPort?: boolean;
  /** A socket in the file system on which the same is served: where those processes ask. */
  readonly socket?: string | undefined;
  readonly readers?: Figures["readers"];
  /** Of a process that follows another: to that one goes what it cannot answer. */
  readonly relay?: Relay;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ServerLimits {
  readonly urlBytes: number;
  readonly connections: number;
  readonly streamsPerUser: number;
  readonly pageLimit: number;
  readonly requestsPerSecond: number;
  readonly idleTimeoutSeconds: number;
}

/** The web page: answers what is its own, undefined for the rest. */
export interface Page {
  respond(path: string, request: Request): Promise<Response | undefined>;
}

export interface Server {
  readonly hostname: string;
  readonly port: number;
  tally(): Tally;
  /** Ends streams, lets requests under way finish, but no longer than `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

const HEARTBEAT_MS = 15_000;
const ALLOW = "GET, HEAD, OPTIONS";
const SAFE = { "X-Content-Type-Options": "nosniff" };

/** Throws what Bun throws when the address cannot be had; the caller knows what to tell the operator. */
export function openServer(options: ServerOptions): Server {
  const service = new Service(options);
  const { host: hostname, port, sharedPort: reusePort = false, socket: unix } = options;
  const { idleTimeoutSeconds: idleTimeout } = options.limits;
  const fetch = (request: Request, bun: Socket) => service.respond(request, bun);
  const error = (thrown: Error) => service.failed(thrown);
  const server = Bun.serve({ hostname, port, reusePort, idleTimeout, development: false, fetch, error });
  const servers: Socket[] = [server];
  if (unix !== undefined) {
    // Here the time-out cannot be set for all.
    const within = (request: Request, bun: Socket) => {
      bun.timeout(request, idleTimeout);
      return fetch(request, bun);
    };
    servers.push(Bun.serve({ unix, development: false, fetch: within, error }));
  }
  const ended = new AbortController();
  const background = service.run(ended.signal);
  return {
    hostname: server.hostname ?? options.host,
    port: server.port ?? options.port,
    tally: () => service.tally(),
    async stop(drainMs) {
      service.stop();
      await Promise.race([Promise.all(servers.map((one) => one.stop(false))), options.clock.sleep(drainMs)]);
      await Promise.all(servers.map((one) => one.stop(true)));
      ended.abort();
      await background;
    },
  };
}

type Socket = Bun.Server<undefined>;

class Service {
  readonly #options: ServerOptions;
  readonly #routes: Routes;
  readonly #streams: Streams;
  readonly #metrics = new Metrics();
  readonly #valve = new Valve();
  readonly #cors: ReturnType<typeof createCors>;
  readonly #rate: ReturnType<typeof createRateLimiter>;
  readonly #prefixes: readonly string[];
  readonly #hot = new HotAnswers();
  readonly #sameForAll: boolean;
  #openapi: string | undefined;
  #stopping = false;

  constructor(options: ServerOptions) {
    const { context, limits } = options;
    this.#options = options;
    this.#streams = new Streams(context.history, {
      streamsPerUser: limits.streamsPerUser,
      heartbeatMs: HEARTBEAT_MS,
    });
    this.#routes = {
      context,
      streams: this.#streams,
      representer: new Representer(context.log.epoch, options.version),
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
      this.#valve.watch(this.#options.clock, signal),
    ]);
  }

  tally(): Tally {
    return this.#metrics.tally(this.#streams);
  }

  stop(): void {
    this.#stopping = true;
    this.#streams.endAll();
  }

  /** Synchronous for a known credential, and short for a known question: this runs tens of thousands of times a second. */
  respond(request: Request, bun: Socket): Response | Promise<Response> {
    const { url, headers } = request;
    const known = this.#options.authenticator.known(headers.get("authorization"));
    if (known !== undefined && this.#sameForAll && !this.#valve.shut && request.method === "GET") {
      const hot = this.#hot.find(url, headers, this.#options.context.view.revision);
      if (hot !== undefined) return hot;
    }
    if (request.method === "OPTIONS") return this.#options204(request);
    const address = addressOf(url);
    const path = pathOf(address);
    if (path === "/readyz" && this.#options.relay) return this.#relayed(this.#options.relay, request, bun);
    if (path === "/healthz" || path === "/readyz") return this.#probe(request, path);
    return known ? this.#serve(request, bun, address, path, known) : this.#admit(request, bun, address, path);
  }

  /** Open to everybody, so that whoever watches over the service needs no password. */
  #probe(request: Request, path: "/healthz" | "/readyz"): Response {
    if (!isRead(request.method)) return this.#problem(notAllowed(request.method), request, "health");
    const { context, sources } = this.#options;
    return responseOf(path === "/healthz" ? healthz() : readyz(context.view, sources(), this.#stopping));
  }

  async #admit(request: Request, bun: Socket, address: string, path: string): Promise<Response> {
    const client = bun.requestIP(request)?.address ?? "";
    const result = await this.#options.authenticator.authenticate(
      request.headers.get("authorization"),
      client,
    );
    if (result.outcome === "ok") return this.#serve(request, bun, address, path, result);
    return this.#problem(refusal(result), request, "auth");
  }

  #serve(
    request: Request,
    bun: Socket,
    address: string,
    path: string,
    credential: Credential,
  ): Response | Promise<Response> {
    const { relay } = this.#options;
    let read = "other";
    let rate: Readonly<Record<string, string>> = {};
    try {
      if (bun.pendingRequests > this.#options.limits.connections) throw this.#shed();
      if (address.length > this.#options.limits.urlBytes) {
        throw new Problem(
          "uri-too-long",
          `The address is ${address.length} bytes long; at most ${this.#options.limits.urlBytes} are taken.`,
        );
      }
      if (credential.user !== OURSELVES) rate = this.#rate.take(credential.user);
      const target = targetOf(path, this.#prefixes);
      if (!target) return relay ? this.#relayed(relay, request, bun) : this.#elsewhere(request, path, rate);
      read = target.read === "list" ? target.kind : target.read;
      // Only here: a page without its script would be a blank page, and it asks again by itself for what is refused.
      if (this.#valve.shut) throw this.#shed();
      const cors = this.#cors.headers(request.headers.get("origin"));
      const common = { ...SAFE, ...rate, ...cors, ...(request.method === "HEAD" && dated()) };
      const answer = this.#read(request, address, path, target, read, credential, common);
      // A stream may well be silent; a list that nobody takes must not be held for ever.
      if (answer.headers["Content-Type"] === "text/event-stream") bun.timeout(request, 0);
      this.#metrics.requests(read, answer.status).count++;
      return responseOf(answer, common);
    } catch (error) {
      if (relay && error instanceof PastElsewhere) return this.#relayed(relay, request, bun);
      return this.#problem(error, request, read, rate);
    }
  }

  #shed(): Problem {
    this.#metrics.countShed();
    const detail = "The service has more to do than it can; try again in a moment.";
    return new Problem("overloaded", detail, { "Retry-After": "2" });
  }

  async #relayed(relay: Relay, request: Request, bun: Socket): Promise<Response> {
    try {
      const answer = await relay(request, addressOf(request.url));
      if (answer.headers.get("content-type") === "text/event-stream") bun.timeout(request, 0);
      return answer;
    } catch (error) {
      return this.#problem(error, request, "relayed");
    }
  }

  #read(
    request: Request,
    address: string,
    path: string,
    target: Target,
    name: string,
    credential: Credential,
    common: Readonly<Record<string, string>>,
  ): Answer {
    const { method, headers } = request;
    if (!isRead(method)) throw notAllowed(method);
    const read = readTarget(this.#routes, target, {
      method,
      address,
      queryText: address.slice(path.length + 1),
      user: credential.user,
      accept: headers.get("accept"),
      acceptEncoding: headers.get("accept-encoding"),
      lastEventId: headers.get("last-event-id"),
    });
    if ("stream" in read) return read.stream;
    const answer = answerPrepared(read.prepared, headers.get("if-none-match"));
    // Headers that differ from request to request cannot be kept with an answer.
    if (this.#sameForAll && method === "GET") {
      const counters = {
        served: this.#metrics.requests(name, 200),
        notModified: this.#metrics.requests(name, 304),
      };
      this.#hot.keep(request, read.prepared, answer.status, common, counters);
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
      if (answer)
        return responseOf(answer, { ...rate, ...this.#cors.headers(request.headers.get("origin")) });
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

  #ownPage(path: string): Answer | undefined {
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
    const headers = { Allow: ALLOW, ...this.#cors.preflight(request.headers.get("origin")) };
    return new Response(null, { status: 204, headers });
  }

  #problem(
    error: unknown,
    request: Request,
    read: string,
    more: Readonly<Record<string, string>> = {},
  ): Response {
    const instance = `urn:uuid:${crypto.randomUUID()}`;
    const problem = error instanceof Problem ? error : this.#unexpected(error, instance);
    this.#metrics.requests(read, problem.status).count++;
    const headers = {
      ...SAFE,
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      ...this.#cors.headers(request.headers.get("origin")),
      ...more,
      ...problem.headers,
    };
    return new Response(problem.body(instance), { status: problem.status, headers });
  }

  #unexpected(error: unknown, instance: string): Problem {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.logger.error("request failed", { instance, why });
    return new Problem(
      "internal",
      "Something went wrong in the service; its log has more under this instance.",
    );
  }

  /** What Bun caught outside of `respond`. */
  failed(error: Error): Response {
    const instance = `urn:uuid:${crypto.randomUUID()}`;
    const headers = { ...SAFE, "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
    return new Response(this.#unexpected(error, instance).body(instance), { status: 500, headers });
  }
}

/** Bun dates every answer but that to a HEAD. */
const dated = () => ({ Date: new Date().toUTCString() });

const isRead = (method: string): method is "GET" | "HEAD" => method === "GET" || method === "HEAD";

const notAllowed = (method: string): Problem =>
  new Problem("method-not-allowed", `${method} does not exist here: this interface only reads. Use GET.`, {
    Allow: ALLOW,
  });

/**
 * Path and query, without scheme and host: cut from the text, since parsing an address costs more than a small read.
 * A client of HTTP/1.0 that names no host leaves us without scheme and host to cut.
 */
function addressOf(url: string): string {
  if (url.startsWith("/")) return url;
  const slash = url.indexOf("/", url.indexOf("//") + 2);
  return slash < 0 ? "/" : url.slice(slash);
}

function pathOf(address: string): string {
  const question = address.indexOf("?");
  return question < 0 ? address : address.slice(0, question);
}

function responseOf(
  { status, headers, body }: Answer,
  more: Readonly<Record<string, string>> = {},
): Response {
  const vary = headers.Vary && more.Vary ? { Vary: `${headers.Vary}, ${more.Vary}` } : {};
  return new Response(body, { status, headers: { ...SAFE, ...headers, ...more, ...vary } });
}
