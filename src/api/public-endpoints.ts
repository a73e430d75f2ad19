/** What is served without credentials: OPTIONS, and the health endpoints. */
import type { ConnectionInfo } from "../http1/handler.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import type { Credential } from "./auth/authenticate.ts";
import type { Logins } from "./auth/logins.ts";
import type { AuxiliaryEndpoints, HealthPath } from "./auxiliary-endpoints.ts";
import type { Cors } from "./cors.ts";
import { dialectOf, type Prefixes } from "./dialect/prefixes.ts";
import type { Forwarding } from "./forwarding/forwarding.ts";
import { ALLOWED_METHODS, isReadMethod, methodNotAllowed } from "./methods.ts";
import type { ProblemResponder } from "./problem-response.ts";
import { isForMainProcess, type RelayRequest } from "./reader-relay.ts";
import { parseRoute } from "./route.ts";

/** The target of `OPTIONS *`, which is about the service as a whole (RFC 9112, 3.2.4). */
const SERVER_WIDE = "*";

export interface PublicEndpointsOptions {
  readonly auxiliary: AuxiliaryEndpoints;
  readonly problems: ProblemResponder;
  readonly cors: Cors;
  readonly prefixes: Prefixes;
  readonly logins: Logins;
  /** In a reader process: relays a request to the main process. */
  readonly relay: RelayRequest | undefined;
  readonly forwarding: Forwarding | undefined;
}

export class PublicEndpoints {
  readonly #options: PublicEndpointsOptions;

  constructor(options: PublicEndpointsOptions) {
    this.#options = options;
  }

  /** The paths that exist are public, so a preflight needs no credentials. Items are not looked up. */
  async options(request: Request, connection: ConnectionInfo, path: string): Promise<Response> {
    const { auxiliary, cors, forwarding, prefixes, problems, relay } = this.#options;
    try {
      if (path !== SERVER_WIDE && !forwarding?.find(path) && !parseRoute(path, prefixes)) {
        if (relay) return await relay(request, connection);
        await auxiliary.requirePath(path);
      }
      const corsHeaders = cors.preflightHeaders(request.header("origin"));
      return { status: 204, headers: { Allow: ALLOWED_METHODS, ...corsHeaders }, body: null };
    } catch (error) {
      if (relay && isForMainProcess(error, path)) return relay(request, connection);
      return problems.respondTo(request, error, "options", {}, dialectOf(path, prefixes));
    }
  }

  /**
   * The state of the sources is for users only. Wrong credentials count as a failed login, as everywhere, but the response
   * is the same as without: a probe must not fail because of them.
   */
  health(
    request: Request,
    connection: ConnectionInfo,
    path: HealthPath,
    credential: Credential | undefined,
    isStopping: boolean,
  ): Response | Promise<Response> {
    const { auxiliary, logins, problems, relay } = this.#options;
    if (path === "/readyz" && relay) return relay(request, connection);
    if (!isReadMethod(request.method))
      return problems.respondTo(request, methodNotAllowed(request.method), "health");
    const respond = (isUser: boolean) => auxiliary.health(path, isStopping, isUser);
    if (path === "/healthz" || credential || request.header("authorization") === null)
      return respond(credential !== undefined);
    return logins.authenticate(request, connection).then(({ outcome }) => respond(outcome === "ok"));
  }
}
