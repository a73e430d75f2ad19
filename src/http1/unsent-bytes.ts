/** Reports to the handler the bytes of a complete response that the socket did not accept, and when they are released. */
import type { SharedMemory } from "../lib/memory-budget.ts";
import type { ConnectionInfo, Handler } from "./handler.ts";
import type { Request } from "./request.ts";

const NOTHING = (): void => {};

export class UnsentBytes {
  #onGone = NOTHING;

  /** Reports unsent bytes. `shared` is the memory that they belong to if other responses share it. */
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

  /** Called when the bytes are sent or the client is gone. */
  forget(): void {
    const onGone = this.#onGone;
    this.#onGone = NOTHING;
    onGone();
  }
}
