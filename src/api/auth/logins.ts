/**
 * Logins of requests: finds the client of a request and authenticates it, counts the failures of each connection, writes
 * the audit lines, and checks the logins of reader processes in the main process.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import type { LogFields, Logger } from "../../lib/logger.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";
import type { Exchange } from "../exchange.ts";
import { roleProblem } from "./auth-problem.ts";
import type { Authenticator } from "./authenticate.ts";
import { parseBasicAuthorization } from "./basic.ts";
import { authenticateWithCertificate, type CertificateAuthResult } from "./certificate.ts";
import { ClientAddresses, type RequestClient } from "./client-address.ts";
import { loginCheckResponse } from "./login-relay.ts";
import type { Users } from "./users.ts";

const MAX_REFUSALS_AT_ONCE = 1000;
const REFUSAL_INTERVAL_MS = 10;
const KEY = "refusals";

export class AuditLog {
  readonly #logger: Logger;
  readonly #bucket: TokenBuckets;
  #leftOut = 0;

  constructor(logger: Logger, clock: Pick<Clock, "monotonic">) {
    this.#logger = logger;
    this.#bucket = new TokenBuckets(clock, {
      burst: MAX_REFUSALS_AT_ONCE,
      refillMs: REFUSAL_INTERVAL_MS,
      maxKeys: 1,
    });
  }

  login(user: string, fields: LogFields): void {
    this.#logger.audit("login", { user, ...fields });
  }

  /** Logs a refusal. `reason` is why the request was refused: `wrong`, `malformed`, `throttled`, `forbidden`. */
  refused(reason: string, fields: LogFields): void {
    if (this.#bucket.take(KEY) > 0) {
      this.#leftOut++;
      return;
    }
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    this.#logger.audit("login-refused", { reason, ...fields, leftOut });
  }
}

const MAX_LOGGED_NAME_LENGTH = 255;

/** The user name that the request claims, which may be any text. */
const claimedUser = (request: Request): string | undefined =>
  parseBasicAuthorization(request.header("authorization") ?? "")[0]?.name.slice(0, MAX_LOGGED_NAME_LENGTH);

/**
 * Whether a waiting login is dropped without a check, because most clients that have closed their sending side are gone. A
 * client that still reads is checked if it need not wait, and otherwise gets the response that it should try again.
 */
const isGone = (connection: ConnectionInfo): boolean => connection.gone.reported;

export interface LoginsOptions {
  readonly authenticator: Authenticator;
  readonly users: Users;
  readonly trustedProxies: readonly string[];
}

export class Logins {
  readonly #authenticator: Authenticator;
  readonly #addresses: ClientAddresses;
  readonly #users: Users;
  readonly #audit: AuditLog;
  readonly #failuresByConnection = new WeakMap<ConnectionInfo, number>();
  /** Number of first logins by outcome. */
  readonly outcomes = new Map<string, number>();

  constructor({ authenticator, users, trustedProxies }: LoginsOptions, audit: AuditLog) {
    this.#authenticator = authenticator;
    this.#users = users;
    this.#audit = audit;
    this.#addresses = new ClientAddresses(trustedProxies);
  }

  clientOf(request: Request, connection: ConnectionInfo): RequestClient {
    return this.#addresses.clientOf(request, connection);
  }

  /** The address of the client; undefined for a request of the service's own processes, which record it themselves. */
  externalAddress(request: Request, connection: ConnectionInfo): string | undefined {
    return connection.isOwnProcess ? undefined : this.clientOf(request, connection).address;
  }

  async authenticate(exchange: Exchange): Promise<CertificateAuthResult> {
    const { request, connection } = exchange;
    const { address, isPeer } = this.clientOf(request, connection);
    const connectionFailures = (isPeer ? this.#failuresByConnection.get(connection) : undefined) ?? 0;
    const client = { address, connectionFailures, isGone: () => isGone(connection) };
    const result = await authenticateWithCertificate(this.#users, connection.clientCertificate, () =>
      this.#authenticator.authenticate(request.header("authorization"), client),
    );
    if (result.outcome === "ok") connection.markAuthenticated();
    if (isPeer && result.outcome !== "ok") this.#failuresByConnection.set(connection, connectionFailures + 1);
    this.#record(exchange, address, result);
    return result;
  }

  /** Throws a `ProblemDetails` if the user may not read this path. */
  requireRole(exchange: Exchange): void {
    const { request, connection, credential, path } = exchange;
    // Without this check, an exchange without credentials would count as one of the service itself, whose user has no name.
    if (!credential) throw new Error("the role is required before the credentials are checked");
    const problem = roleProblem(credential, path);
    if (!problem) return;
    const { address } = this.clientOf(request, connection);
    this.#audit.refused("forbidden", {
      user: credential.user,
      address,
      id: exchange.id,
      target: request.target,
    });
    throw problem;
  }

  /** Does not record a request without credentials, because browsers send one before each login. */
  #record(exchange: Exchange, address: string, result: CertificateAuthResult): void {
    if (result.outcome === "missing") return;
    this.outcomes.set(result.outcome, (this.outcomes.get(result.outcome) ?? 0) + 1);
    if (result.outcome === "ok") this.#audit.login(result.user, { address, id: exchange.id });
    else
      this.#audit.refused(result.outcome, { user: claimedUser(exchange.request), address, id: exchange.id });
  }

  /** Checks the login of a client of a reader process. */
  checkForReader(request: Request, connection: ConnectionInfo): Promise<Response> {
    const { address } = this.clientOf(request, connection);
    return loginCheckResponse(request, this.#authenticator, {
      address,
      isGone: () => isGone(connection),
    });
  }
}
