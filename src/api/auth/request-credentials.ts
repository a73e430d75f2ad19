/**
 * The credential of a request: from the header lines that the connection repeats, from the client certificate, or from the
 * cache of the authenticator; otherwise its password is checked. Also finds the user of a request that a reader process has
 * forwarded.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import { RELAYED_USER_HEADER } from "../forwarding/relay.ts";
import { type Authenticator, type Credential, INTERNAL_USER } from "./authenticate.ts";
import { type CertificateAuthResult, cachedWithCertificate, credentialOf } from "./certificate.ts";
import type { Logins } from "./logins.ts";
import type { Users } from "./users.ts";

/** The `handlerCache` of header lines: whose they are. Valid until any user changes. */
class CachedAuth {
  readonly generation: number;
  readonly credential: Credential;

  constructor(generation: number, credential: Credential) {
    this.generation = generation;
    this.credential = credential;
  }
}

/** A reader process has forwarded a request of a user who was removed since. */
const REMOVED_USER: CertificateAuthResult = { outcome: "unknown-certificate" };

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

  /** Undefined when there is none, or when it must be checked. */
  cached(request: Request, connection: ConnectionInfo): Credential | undefined {
    const { headers } = request;
    const { generation, cachedCredential } = this.#authenticator;
    if (headers.handlerCache instanceof CachedAuth && headers.handlerCache.generation === generation)
      return headers.handlerCache.credential;
    headers.handlerCache = undefined;
    const header = request.header("authorization");
    const found = cachedWithCertificate(this.#users, connection.clientCertificate, header, cachedCredential);
    if (!found || (header && this.#hasFailed(request, connection, found.user))) return undefined;
    const credential = this.#ofUser(request, found);
    if (credential) headers.handlerCache = new CachedAuth(generation, credential);
    return credential;
  }

  /** Checks the credential. Where it is right, it counts from now on for the same header lines on this connection. */
  async check(request: Request, connection: ConnectionInfo): Promise<CertificateAuthResult> {
    // Read before the check: a user may change while it runs.
    const { generation } = this.#authenticator;
    const result = await this.#logins.authenticate(request, connection);
    if (result.outcome !== "ok") return result;
    const credential = this.#ofUser(request, result);
    if (!credential) return REMOVED_USER;
    request.headers.handlerCache = new CachedAuth(generation, credential);
    return credential;
  }

  /** The user of a request that `cached` or `check` has found. Looks up nothing: that would be a guess that nobody counts. */
  userOf({ headers }: Request): string | undefined {
    return headers.handlerCache instanceof CachedAuth ? headers.handlerCache.credential.user : undefined;
  }

  /** Whether the pair of the client's address and the user had a failed login in the last minute. */
  #hasFailed(request: Request, connection: ConnectionInfo, user: string): boolean {
    const { failedPairs } = this.#authenticator;
    return failedPairs.any && failedPairs.has(this.#logins.clientOf(request, connection).address, user);
  }

  /**
   * A reader process forwards a request with the credentials of the service and the name of the user that it has
   * authenticated: then the credential is that user's. Undefined when there is no such user any more.
   */
  #ofUser(request: Request, credential: Credential): Credential | undefined {
    if (credential.user !== INTERNAL_USER) return credential;
    const user = request.header(RELAYED_USER_HEADER);
    return user === null ? credential : credentialOf(this.#users, decodeURIComponent(user));
  }
}
