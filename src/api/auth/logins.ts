/**
 * Logins of requests: finds the client behind a request, and authenticates it. It counts the failures of each connection,
 * and checks the logins of reader processes in the main process.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Authenticator, AuthResult } from "./authenticate.ts";
import { type Client, ClientAddresses } from "./client-address.ts";
import { loginCheckResponse } from "./login-relay.ts";

export class Logins {
  readonly #authenticator: Authenticator;
  readonly #addresses: ClientAddresses;
  readonly #failuresByConnection = new WeakMap<ConnectionInfo, number>();

  constructor(authenticator: Authenticator, trustedProxies: readonly string[]) {
    this.#authenticator = authenticator;
    this.#addresses = new ClientAddresses(trustedProxies);
  }

  clientOf(request: Request, connection: ConnectionInfo): Client {
    return this.#addresses.clientOf(request, connection.remoteAddress);
  }

  async authenticate(request: Request, connection: ConnectionInfo): Promise<AuthResult> {
    const { address, isPeer } = this.clientOf(request, connection);
    const connectionFailures = (isPeer ? this.#failuresByConnection.get(connection) : undefined) ?? 0;
    const isGone = () => connection.isEnded;
    const client = { address, connectionFailures, isGone };
    const result = await this.#authenticator.authenticate(request.header("authorization"), client);
    if (result.outcome === "ok") connection.markAuthenticated();
    if (isPeer && result.outcome !== "ok") this.#failuresByConnection.set(connection, connectionFailures + 1);
    return result;
  }

  /** For a reader process: checks the login of one of its clients. */
  checkForReader(request: Request, connection: ConnectionInfo): Promise<Response> {
    const { address } = this.clientOf(request, connection);
    const isGone = () => connection.isEnded;
    return loginCheckResponse(request, this.#authenticator, { address, isGone });
  }
}
