/**
 * In a reader process: relays requests that it cannot serve, for the client and the user that it has found. It has checked
 * the credentials, so the main process does not check them again, and never gets those that a client has sent.
 */
import type { ConnectionInfo } from "../../http1/handler.ts";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import { HistoryNotInReplica } from "../../view/replica.ts";
import type { Logins } from "../auth/logins.ts";
import { NOT_SENT } from "../read-request.ts";
import { addHeaders } from "../response/add-headers.ts";
import type { ProblemResponder } from "../response/problem-response.ts";
import type { Relay } from "./relay.ts";

export interface RelayOptions {
  /** The user that this process has authenticated. Undefined without one: then only what is public is served. */
  readonly user?: string | undefined;
  /** Added to the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The main process may wait for another node or a controller, so a client that goes away ends the request there too.
   * Otherwise the response is there at once.
   */
  readonly waitsForOthers?: boolean;
}

export type RelayRequest = (
  request: Request,
  connection: ConnectionInfo,
  options: RelayOptions,
) => Promise<Response>;

/** Whether the main process has what this one lacks: the history, or the claims. */
export const isForMainProcess = (error: unknown): boolean => error instanceof HistoryNotInReplica;

export function createReaderRelay(
  relay: Relay | undefined,
  logins: Logins,
  problems: ProblemResponder,
): RelayRequest | undefined {
  if (!relay) return undefined;
  return async (request, connection, { user, headers = {}, waitsForOthers = false }) => {
    const gone = new AbortController();
    if (waitsForOthers) connection.gone.listener = () => gone.abort();
    try {
      const { address } = logins.clientOf(request, connection);
      return addHeaders(await relay(request, address, user, gone.signal), headers);
    } catch (error) {
      return gone.signal.aborted ? NOT_SENT : problems.respondTo(request, error, "relayed");
    } finally {
      // From here on the body notices it.
      if (waitsForOthers) connection.gone.listener = undefined;
    }
  };
}
