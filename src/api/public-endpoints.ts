/** What is served without credentials: OPTIONS, and the health endpoints. */
import type { ConnectionInfo } from "../http1/handler.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { RequestCredentials } from "./auth/request-credentials.ts";
import { getHealth, getReadiness } from "./endpoints/health.ts";
import { findRoute } from "./endpoints/routing.ts";
import type { ServiceHandler } from "./endpoints/service-handler.ts";
import type { Forwarding } from "./forwarding/forwarding.ts";
import type { RelayRequest } from "./forwarding/reader-relay.ts";
import { ALLOWED_METHODS, isReadMethod, methodNotAllowed } from "./methods.ts";
import { dialectOf, type Prefixes } from "./onos/prefixes.ts";
import { pathOf } from "./read-request.ts";
import type { Cors } from "./response/cors.ts";
import { UnknownResourceProblem } from "./response/problem.ts";
import type { ProblemResponder } from "./response/problem-response.ts";

/** The target of `OPTIONS *`, which is about the service as a whole (RFC 9112, 3.2.4). */
const SERVER_WIDE = "*";

const LIVENESS = "/healthz";
const READINESS = "/readyz";

/** Whether the credentials of the request play no part. Those of `/readyz` decide how much it says. */
export function isPublic({ method, target }: Request): boolean {
  if (method === "OPTIONS") return true;
  if (target.startsWith(LIVENESS)) return pathOf(target) === LIVENESS;
  return !isReadMethod(method) && pathOf(target) === READINESS;
}

export interface PublicEndpointsOptions {
  readonly service: ServiceHandler;
  readonly problems: ProblemResponder;
  readonly cors: Cors;
  readonly prefixes: Prefixes;
  readonly credentials: RequestCredentials;
  /** In a reader process: relays a request to the main process. */
  readonly relay: RelayRequest | undefined;
  readonly forwarding: Forwarding | undefined;
}

export class PublicEndpoints {
  readonly #options: PublicEndpointsOptions;

  constructor(options: PublicEndpointsOptions) {
    this.#options = options;
  }

  /** The response to a request that `isPublic`. */
  respond(request: Request, connection: ConnectionInfo): Response | Promise<Response> {
    const { method, target } = request;
    const { service, problems } = this.#options;
    if (method === "OPTIONS") return this.#preflight(request, connection, pathOf(target));
    return isReadMethod(method)
      ? getHealth.respond({ service: service.service, isStopping: false, isUser: false })
      : problems.respondTo(request, methodNotAllowed(method), "health");
  }

  /** The paths that exist are public, so a preflight needs no credentials. Items are not looked up. */
  async #preflight(request: Request, connection: ConnectionInfo, path: string): Promise<Response> {
    const { service, cors, forwarding, prefixes, problems, relay } = this.#options;
    const preflightHeaders = () => cors.preflightHeaders(request.header("origin"));
    try {
      if (path !== SERVER_WIDE && !forwarding?.find(path) && !findRoute(path, prefixes)) {
        if (relay) return await relay(request, connection, {});
        await service.requirePath(path, request.method);
      }
      return { status: 204, headers: { Allow: ALLOWED_METHODS, ...preflightHeaders() }, body: null };
    } catch (error) {
      if (error instanceof UnknownResourceProblem && error.headers.Allow !== undefined)
        return { status: 204, headers: { ...error.headers, ...preflightHeaders() }, body: null };
      return problems.respondTo(request, error, "options", {}, dialectOf(path, prefixes));
    }
  }

  /**
   * The state of the sources is for users only. Wrong credentials count as a failed login, as everywhere, but the response
   * is the same as without: a probe must not fail because of them. `cachedUser` is the user whose credential needs no check.
   */
  readiness(
    request: Request,
    connection: ConnectionInfo,
    cachedUser: string | undefined,
    isStopping: boolean,
  ): Response | Promise<Response> {
    const { service, credentials, relay } = this.#options;
    const respond = (user: string | undefined) =>
      relay
        ? relay(request, connection, { user })
        : getReadiness.respond({ service: service.service, isStopping, isUser: user !== undefined });
    if (cachedUser !== undefined || request.header("authorization") === null) return respond(cachedUser);
    return credentials
      .check(request, connection)
      .then((result) => respond(result.outcome === "ok" ? result.user : undefined));
  }
}
