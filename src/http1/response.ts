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
  /**
   * Writes the head of a response that keeps its connection open and whose body has `length` bytes, with `headers` and without
   * building them. Returns its length.
   */
  writeHead?(into: Buffer, length: number, nowMs: number): number;
}
