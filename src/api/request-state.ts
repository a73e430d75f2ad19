/** What the handler knows of a request while it handles it. It is attached to the request, which a connection may reuse. */
import type { Request } from "../http1/request.ts";

export class RequestState {
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  #id: string | undefined;

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** Identifies the request in its problem, the audit lines and the access log. */
  get id(): string {
    this.#id ??= crypto.randomUUID();
    return this.#id;
  }
}

/** Undefined for a request that is not handled yet. */
export function stateOf(request: Request): RequestState | undefined {
  return request.handlerState instanceof RequestState ? request.handlerState : undefined;
}

export const requestId = (request: Request): string => stateOf(request)?.id ?? crypto.randomUUID();
