/** A response as a handler returns it. The connection adds `Date`, `Connection` and the framing of the body. */
import type { SharedMemory } from "../lib/memory-budget.ts";
import type { BodySource } from "./body-source.ts";

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, complete bytes, or a source that produces bytes while they are sent. */
  readonly body: string | Uint8Array | BodySource | null;
  /** The memory of a complete body if other responses share it. */
  readonly shared?: SharedMemory | undefined;
}

/**
 * Headers whose lines exist already, each with its line end, so that they are not built from names and values. Lines that are
 * joined piece by piece take longer to write than all other parts of a small response. A copy of these headers (`{...headers}`)
 * has no lines and is serialized as any other, so that the two cannot differ.
 */
export class SerializedHeaders {
  [name: string]: string;
  readonly #lines: string;

  /** The subclass sets the same headers as properties. None of them may be one of the common headers of the server. */
  constructor(lines: string) {
    this.#lines = lines;
  }

  static linesOf(headers: Readonly<Record<string, string>>): string | undefined {
    return #lines in headers ? headers.#lines : undefined;
  }
}
