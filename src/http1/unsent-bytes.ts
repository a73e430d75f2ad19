/** Reports the bytes of a whole response that its socket did not accept, and when they are gone. */
import type { ConnectionInfo, Handler } from "./handler.ts";
import type { Request } from "./request.ts";
import type { SerializedResponse } from "./serialized-response.ts";

const NOTHING = (): void => {};

export class UnsentBytes {
  #onGone = NOTHING;

  count(
    handler: Handler,
    request: Request,
    connection: ConnectionInfo,
    bytes: number,
    response?: SerializedResponse,
  ): void {
    this.forget();
    const shared = response?.isCopied ? undefined : response;
    this.#onGone = handler.onUnsent?.(request, connection, bytes, shared) ?? NOTHING;
  }

  /** They are sent, or the client is gone. */
  forget(): void {
    const onGone = this.#onGone;
    this.#onGone = NOTHING;
    onGone();
  }
}
