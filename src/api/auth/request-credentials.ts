/**
 * The credential of a request. It is found by the header lines that the connection repeats, by what a client certificate or a
 * trusted proxy says, or in the cache of the authenticator; otherwise the password or token is checked. A request relayed by a
 * reader process names its user.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Exchange } from "../exchange.ts";
import { RELAYED_USER_HEADER } from "../forwarding/relay.ts";
import { type Authenticator, type Credential, INTERNAL_CREDENTIAL } from "./authenticate.ts";
import type { Logins } from "./logins.ts";
import type { Users } from "./users.ts";
import { cachedWithVoucher, credentialOf, type RequestAuthResult } from "./vouched-user.ts";

/** The `handlerCache` of header lines: the credential that they contain. It is valid until any user changes. */
class CachedAuth {
  readonly generation: number;
  readonly credential: Credential;

  constructor(generation: number, credential: Credential) {
    this.generation = generation;
    this.credential = credential;
  }
}

export interface RequestCredentialsOptions {
  readonly authenticator: Authenticator;
  readonly users: Users;
}

export class RequestCredentials {
  readonly #authenticator: Authenticator;
  readonly #users: Users;
  readonly #logins: Logins;

  constructor({ authenticator, users }: RequestCredentialsOptions, logins: Logins) {
    this.#authenticator = authenticator;
    this.#users = users;
    this.#logins = logins;
  }

  /** The credential if it is known without a check; undefined if there is none or it must be checked. */
  cached(request: Request, connection: ConnectionInfo): Credential | undefined {
    const { headers } = request;
    const { generation, cachedCredential } = this.#authenticator;
    if (headers.handlerCache instanceof CachedAuth && headers.handlerCache.generation === generation)
      return headers.handlerCache.credential;
    headers.handlerCache = undefined;
    const header = request.header("authorization");
    const voucher = this.#logins.voucherOf(request, connection);
    const found = cachedWithVoucher(this.#users, voucher, header, cachedCredential);
    if (!found || (header && this.#hasFailed(request, connection, found.user))) return undefined;
    headers.handlerCache = new CachedAuth(generation, found);
    return found;
  }

  /** Checks the credential. A right one is accepted from now on for the same header lines on this connection. */
  async check(exchange: Exchange): Promise<RequestAuthResult> {
    // The generation is read before the check, because a user may change while it runs.
    const { generation } = this.#authenticator;
    const result = await this.#logins.authenticate(exchange);
    if (result.outcome === "ok") exchange.request.headers.handlerCache = new CachedAuth(generation, result);
    return result;
  }

  /** The user that `cached` or `check` has found. It does not look up the header, because that would be an uncounted login. */
  userOf({ headers }: Request): string | undefined {
    return headers.handlerCache instanceof CachedAuth ? headers.handlerCache.credential.user : undefined;
  }

  /** Whether the pair of the client's address and the user had a failed login in the last minute. */
  #hasFailed(request: Request, connection: ConnectionInfo, user: string): boolean {
    const { failedPairs } = this.#authenticator;
    return failedPairs.any && failedPairs.has(this.#logins.clientOf(request, connection).address, user);
  }

  /**
   * The credential of a request on the Unix socket: the service's own, or that of the user whom a reader process has
   * authenticated and names. Undefined without the service's own credentials, or if the user no longer exists.
   */
  ofOwnProcess(request: Request): Credential | undefined {
    const { generation } = this.#authenticator;
    if (!this.#authenticator.isOwnProcess(request.header("authorization"))) return undefined;
    const user = request.header(RELAYED_USER_HEADER);
    const credential =
      user === null ? INTERNAL_CREDENTIAL : credentialOf(this.#users, decodeURIComponent(user));
    if (credential) request.headers.handlerCache = new CachedAuth(generation, credential);
    return credential;
  }
}
