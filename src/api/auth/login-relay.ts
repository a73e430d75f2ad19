/**
 * First logins in reader processes. A reader process sends the credential to the main process over the private Unix socket.
 * The main process checks the password and counts failures, so that the throttle applies to the whole service. The reader
 * process caches right credentials.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { Clock } from "../../lib/clock.ts";
import { JSON_TYPE } from "../response/representation.ts";
import type { Authenticator, AuthResult, LoginClient, RemoteCheck } from "./authenticate.ts";
import { forwardedHeader } from "./forwarded.ts";
import { ROLES } from "./users-file.ts";

/** The path of the check in the main process, which serves it only to the service's own processes. */
export const LOGIN_CHECK_PATH = "/-/login";
const AUTHORIZATION = "gazetteer-login";
const CONNECTION_FAILURES = "gazetteer-login-failures";
/** Interval at which a reader process checks whether the client still waits. */
const GONE_CHECK_INTERVAL_MS = 250;

const Result = Compile(
  Type.Union([
    Type.Object({
      outcome: Type.Literal("ok"),
      user: Type.String(),
      credentialId: Type.String(),
      role: Type.Enum([...ROLES]),
    }),
    Type.Object({ outcome: Type.Enum(["missing", "malformed", "wrong"]) }),
    Type.Object({ outcome: Type.Literal("throttled"), retryAfterSeconds: Type.Number() }),
  ]),
);
/** The result if the main process does not respond, so that it is unknown whether the credential is right. */
const NO_RESULT: AuthResult = { outcome: "throttled", retryAfterSeconds: 2 };

export function createLoginRelay(
  socketPath: string,
  internalAuthorization: string,
  clock: Clock,
): RemoteCheck {
  return async (header, client) => {
    const done = new AbortController();
    void abortWhenGone(client, clock, done);
    try {
      const response = await fetch(`http://localhost${LOGIN_CHECK_PATH}`, {
        unix: socketPath,
        signal: done.signal,
        headers: {
          authorization: internalAuthorization,
          forwarded: forwardedHeader(client.address),
          [AUTHORIZATION]: header,
          [CONNECTION_FAILURES]: String(client.connectionFailures),
        },
      });
      const result: unknown = await response.json();
      return Result.Check(result) ? result : NO_RESULT;
    } catch {
      return NO_RESULT;
    } finally {
      done.abort();
    }
  };
}

async function abortWhenGone(client: LoginClient, clock: Clock, done: AbortController): Promise<void> {
  while (!done.signal.aborted) {
    await clock.sleep(GONE_CHECK_INTERVAL_MS, done.signal);
    if (client.isGone()) done.abort();
  }
}

/** The response of the main process to a reader process. */
export async function loginCheckResponse(
  request: Request,
  authenticator: Authenticator,
  client: Omit<LoginClient, "connectionFailures">,
): Promise<Response> {
  const connectionFailures = Number(request.header(CONNECTION_FAILURES) ?? 0);
  const result = await authenticator.authenticate(request.header(AUTHORIZATION), {
    ...client,
    connectionFailures,
  });
  return { status: 200, headers: { "Content-Type": JSON_TYPE }, body: JSON.stringify(result) };
}
