/** Reports the bytes of a whole response that its socket did not accept, and when they are gone. */
import type { SharedMemory } from "../lib/memory-budget.ts";
import type { ConnectionInfo, Handler } from "./handler.ts";
import type { Request } from "./request.ts";

const NOTHING = (): void => {};

export class UnsentBytes {
  #onGone = NOTHING;

  /** `shared` is what the bytes are a part of, where other responses share it. */
  count(
    handler: Handler,
    request: Request,
    connection: ConnectionInfo,
    bytes: number,
    shared?: SharedMemory,
  ): void {
    this.forget();
    this.#onGone = handler.onUnsent?.(request, connection, bytes, shared) ?? NOTHING;
  }

  /** They are sent, or the client is gone. */
  forget(): void {
    const onGone = this.#onGone;
    this.#onGone = NOTHING;
    onGone();
  }
}
