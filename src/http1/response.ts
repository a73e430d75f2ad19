/** What a read answers, before the server adds what every answer has. */
import type { BodySource } from "./body-source.ts";

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, bytes that are ready, or what is made while it is sent. */
  readonly body: string | Uint8Array | BodySource | null;
}

export const JSON_TYPE = "application/json";
