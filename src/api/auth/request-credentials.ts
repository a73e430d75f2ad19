/**
 * Finds the credential of a request without checking a password: from the header lines that the connection repeats, from
 * the client certificate, or from the cache of the authenticator. Also finds the user of a request that a reader process
 * has forwarded.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import { RELAYED_USER_HEADER } from "../relay.ts";
import { type Authenticator, type Credential, INTERNAL_USER } from "./authenticate.ts";
import { cachedWithCertificate, credentialOf } from "./certificate.ts";
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

export class RequestCredentials {
  readonly #authenticator: Authenticator;
  readonly #users: Users;

  constructor(authenticator: Authenticator, users: Users) {
    this.#authenticator = authenticator;
    this.#users = users;
  }

  /** Undefined when there is none, or when its password must be checked. */
  cached(request: Request, { clientCertificate }: ConnectionInfo): Credential | undefined {
    const { headers } = request;
    const { generation, cachedCredential } = this.#authenticator;
    if (headers.handlerCache instanceof CachedAuth && headers.handlerCache.generation === generation)
      return headers.handlerCache.credential;
    const authorization = request.header("authorization");
    const found = cachedWithCertificate(this.#users, clientCertificate, authorization, cachedCredential);
    const credential = found && this.ofUser(request, found);
    if (credential) headers.handlerCache = new CachedAuth(generation, credential);
    return credential;
  }

  /**
   * A reader process forwards a request of a certificate user with the credentials of the service and the name of the
   * user: then the credential is that user's. Undefined when there is no such user any more.
   */
  ofUser(request: Request, credential: Credential): Credential | undefined {
    if (credential.user !== INTERNAL_USER) return credential;
    const user = request.header(RELAYED_USER_HEADER);
    return user === null ? credential : credentialOf(this.#users, decodeURIComponent(user));
  }

  /** Undefined where the Authorization header, which is forwarded, says who the user is. */
  certificateUser(request: Request, connection: ConnectionInfo): string | undefined {
    return connection.clientCertificate && this.cached(request, connection)?.user;
  }
}
