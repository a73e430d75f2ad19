/**
 * The body of a forwarded response: chunks of the controller, read no faster than the client reads. It ends with an error,
 * which closes the client's connection, when the controller fails, sends more than allowed, or another number of bytes
 * than its head says: the client must not take a part for the whole, nor the rest for another response.
 */
import { AsyncBodySource } from "../../http1/body-source.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { Problem } from "../response/problem.ts";

export interface ForwardedBodyOptions {
  readonly chunks: AsyncGenerator<Uint8Array, void, void>;
  readonly maxBytes: number;
  /** As the head says; undefined when it does not. */
  readonly length: number | undefined;
  readonly onBytes: (bytes: number) => void;
  readonly onComplete: () => void;
  /** For the operator. */
  readonly onFailure: (reason: string) => void;
  /** Called once, whatever ends the body. */
  readonly onClose: () => void;
}

export function createForwardedBody(options: ForwardedBodyOptions): AsyncBodySource {
  const { chunks, maxBytes, length, onBytes, onComplete, onFailure, onClose } = options;
  const limit = Math.min(maxBytes, length ?? maxBytes);
  let received = 0;
  const fail = (reason: string): never => {
    onFailure(reason);
    throw new Problem("upstream-failed", "The controller's response did not come to its end.");
  };
  const readChunk = async () => {
    const { value, done } = await chunks.next().catch((error: unknown) => fail(errorMessage(error)));
    if (done) {
      if (length !== undefined && received < length) fail("the body is shorter than Content-Length");
      onComplete();
      return { done };
    }
    received += value.length;
    if (received > limit) fail(received > maxBytes ? `more than ${maxBytes} bytes` : "the body is too long");
    onBytes(value.length);
    return { value };
  };
  return new AsyncBodySource(readChunk, onClose);
}
