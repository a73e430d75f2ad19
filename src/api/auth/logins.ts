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
import { parseAuthorization } from "./authorization.ts";
import { ClientAddresses, type RequestClient } from "./client-address.ts";
import { loginCheckResponse } from "./login-relay.ts";
import type { Users } from "./users.ts";
import { authenticateWithVoucher, type RequestAuthResult, type Voucher } from "./vouched-user.ts";

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

/** The text of a header, which has one character for each byte. */
const utf8Of = (header: string): string => Buffer.from(header, "latin1").toString("utf8");

/**
 * Whether a waiting login is dropped without a check, because most clients that have closed their sending side are gone. A
 * client that still reads is checked if it need not wait, and otherwise gets the response that it should try again.
 */
const isGone = (connection: ConnectionInfo): boolean => connection.gone.reported;

export interface LoginsOptions {
  readonly authenticator: Authenticator;
  readonly users: Users;
  readonly trustedProxies: readonly string[];
  /** The header in which trusted proxies name the user whom they have signed in; undefined if they sign nobody in. */
  readonly userHeader?: string | undefined;
}

export class Logins {
  readonly #authenticator: Authenticator;
  readonly #addresses: ClientAddresses;
  readonly #users: Users;
  /** The name of the header in lower case. */
  readonly #userHeader: string | undefined;
  readonly #audit: AuditLog;
  readonly #failuresByConnection = new WeakMap<ConnectionInfo, number>();
  /** Number of first logins by outcome. */
  readonly outcomes = new Map<string, number>();

  constructor({ authenticator, users, trustedProxies, userHeader }: LoginsOptions, audit: AuditLog) {
    this.#authenticator = authenticator;
    this.#users = users;
    this.#audit = audit;
    this.#addresses = new ClientAddresses(trustedProxies);
    this.#userHeader = userHeader?.toLowerCase();
  }

  clientOf(request: Request, connection: ConnectionInfo): RequestClient {
    return this.#addresses.clientOf(request, connection);
  }

  /** The address of the client; undefined for a request of the service's own processes, which record it themselves. */
  externalAddress(request: Request, connection: ConnectionInfo): string | undefined {
    return connection.isOwnProcess ? undefined : this.clientOf(request, connection).address;
  }

  /** The party that has authenticated the user; undefined if the request must prove itself who its user is. */
  voucherOf(request: Request, connection: ConnectionInfo): Voucher | undefined {
    const named = this.#userHeader === undefined ? null : request.header(this.#userHeader);
    // An empty value is what some proxies send for a client that is not signed in.
    if (named && this.#addresses.isTrustedProxy(connection)) return { by: "proxy", name: utf8Of(named) };
    const { clientCertificate } = connection;
    return clientCertificate && { by: "certificate", name: clientCertificate.commonName };
  }

  async authenticate(exchange: Exchange): Promise<RequestAuthResult> {
    const { request, connection } = exchange;
    const { address, isPeer } = this.clientOf(request, connection);
    const connectionFailures = (isPeer ? this.#failuresByConnection.get(connection) : undefined) ?? 0;
    const client = { address, connectionFailures, isGone: () => isGone(connection) };
    const voucher = this.voucherOf(request, connection);
    const result = await authenticateWithVoucher(this.#users, voucher, () =>
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
  #record(exchange: Exchange, address: string, result: RequestAuthResult): void {
    if (result.outcome === "missing") return;
    this.outcomes.set(result.outcome, (this.outcomes.get(result.outcome) ?? 0) + 1);
    if (result.outcome === "ok") this.#audit.login(result.user, { address, id: exchange.id });
    else this.#audit.refused(result.outcome, { user: this.#claimedUser(exchange), address, id: exchange.id });
  }

  /** The user name that the request claims, which may be any text. */
  #claimedUser({ request, connection }: Exchange): string | undefined {
    const [login] = parseAuthorization(request.header("authorization") ?? "");
    return (login ?? this.voucherOf(request, connection))?.name?.slice(0, MAX_LOGGED_NAME_LENGTH);
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
