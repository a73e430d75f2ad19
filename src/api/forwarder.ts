/** In a reader process: forwards requests that it cannot serve, for the client and the user that it has found. */
import type { ConnectionInfo } from "../http1/handler.ts";
import type { Request } from "../http1/request.ts";
import type { Response } from "../http1/response.ts";
import { addHeaders } from "./add-headers.ts";
import type { Logins } from "./auth/logins.ts";
import type { RequestCredentials } from "./auth/request-credentials.ts";
import type { ProblemResponder } from "./problem-response.ts";
import type { Relay } from "./relay.ts";

export interface ForwarderOptions {
  readonly relay: Relay;
  readonly logins: Logins;
  readonly credentials: RequestCredentials;
  readonly problems: ProblemResponder;
}

/** `headers` are added to the response. */
export type Forward = (
  request: Request,
  connection: ConnectionInfo,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

export const createForwarder =
  ({ relay, logins, credentials, problems }: ForwarderOptions): Forward =>
  async (request, connection, headers = {}) => {
    try {
      const { address } = logins.clientOf(request, connection);
      const response = await relay(request, address, credentials.certificateUser(request, connection));
      return addHeaders(response, headers);
    } catch (error) {
      return problems.respondTo(request, error, "relayed");
    }
  };
